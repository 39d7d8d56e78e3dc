import { describe, expect, test } from 'vitest';
import { parseRoute, RouteError } from '../../../../src/dev/host/http/route-template.js';
import { Router } from '../../../../src/dev/host/http/router.js';

const match = (template: string, path: string) =>
  parseRoute(template).match(path === '' ? [] : path.split('/'));

describe('templates', () => {
  test.each([
    ['a/{id}', 'a/1', { id: '1' }],
    ['a/{id}', 'a', undefined],
    ['a/{id}', 'a/1/2', undefined],
    ['a/{id?}', 'a', {}],
    ['a/{id=7}', 'a', { id: '7' }],
    ['{*all}', '', {}],
    ['{*all}', 'a/b%20c/d', { all: 'a/b c/d' }],
    ['{**all}', 'a/b', { all: 'a/b' }],
    ['{a}-{b}', 'x-y', { a: 'x', b: 'y' }],
    ['{name}.{type?}', 'x', { name: 'x' }],
    ['{name}.{type?}', 'x.txt', { name: 'x', type: 'txt' }],
    ['{a:int:min(5)}', '4', undefined],
    ['{a:int:min(5)}', '5', { a: '5' }],
    ['', '', {}],
  ])('%s on /%s', (template, path, values) => {
    expect(match(template, path)).toEqual(values);
  });

  test.each([
    ['int', ['0', '-5', '2147483647'], ['', 'a', '2147483648', '1.5']],
    ['long', ['9223372036854775807'], ['9223372036854775808']],
    ['bool', ['true', 'FALSE'], ['1', 'yes']],
    ['guid', ['6F9619FF-8B86-D011-B42D-00C04FC964FF', '6f9619ff8b86d011b42d00c04fc964ff'], ['6f9619ff', 'x']],
    ['alpha', ['abC'], ['a1', 'ü']],
    ['decimal', ['1.5', '-1'], ['1e5', 'x']],
    ['double', ['1e5', '.5'], ['x']],
    ['datetime', ['2026-11-30', '2026-11-30T10:20:30'], ['yesterday']],
    ['length(2)', ['ab'], ['a', 'abc']],
    ['length(1,2)', ['a', 'ab'], ['abc']],
    ['minlength(2)', ['ab'], ['a']],
    ['maxlength(2)', ['ab'], ['abc']],
    ['max(5)', ['5'], ['6']],
    ['range(1,5)', ['1', '5'], ['0', '6']],
    ['regex(^\\d{{3}}$)', ['123'], ['1234', 'abc']],
  ])('the constraint %s', (constraint, good, bad) => {
    for (const value of good) expect(match(`{a:${constraint}}`, value)).toEqual({ a: value });
    for (const value of bad) expect([value, match(`{a:${constraint}}`, value)]).toEqual([value, undefined]);
  });

  test.each(['{a', 'a}', '{a}/{a}', '{*all}/x', '{a?}/x', 'a//b', '{a:wrong}', '{a:min(x)}', '{a}{b}', '{}'])(
    '%s is refused',
    (template) => {
      expect(() => parseRoute(template)).toThrow(RouteError);
    },
  );
});

test('the most specific template wins, whatever the order', () => {
  const templates = ['{*all}', 'a/{x}', 'a/{x:int}', 'a/b', '{y}/b', 'a'];
  const methods = new Set(['GET']);
  for (const order of [templates, [...templates].reverse()]) {
    const router = new Router(order.map((one) => ({ template: parseRoute(one), methods, target: one })));
    const found = (path: string) => router.match('GET', path)?.target;
    expect(found('/a/b')).toBe('a/b');
    expect(found('/a/5')).toBe('a/{x:int}');
    expect(found('/a/z/')).toBe('a/{x}');
    expect(found('/q/b')).toBe('{y}/b');
    expect(found('/a')).toBe('a');
    expect(found('/q/r/s')).toBe('{*all}');
    expect(router.match('POST', '/a')).toBeUndefined();
  }
});
