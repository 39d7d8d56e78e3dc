import { expect, test } from 'vitest';
import { replaceBetweenMarkers } from '../../../src/dev/docs/markers.js';

test('only what stands between the markers is replaced', () => {
  const text = 'a\n<!-- begin t -->\nold\n<!-- end t -->\nb <!-- begin u --><!-- end u -->';
  expect(replaceBetweenMarkers(text, 't', '| new |')).toBe(
    'a\n<!-- begin t -->\n\n| new |\n\n<!-- end t -->\nb <!-- begin u --><!-- end u -->',
  );
});

test('replacing with what is there changes nothing', () => {
  const text = replaceBetweenMarkers('<!-- begin t --><!-- end t -->', 't', 'x');
  expect(replaceBetweenMarkers(text, 't', 'x')).toBe(text);
});

test('content with the characters of a replacement pattern is kept as it is', () => {
  expect(replaceBetweenMarkers('<!-- begin t --><!-- end t -->', 't', "$& $1 $'")).toContain("$& $1 $'");
});

test('missing, swapped or repeated markers are refused with the name of the part and of the file', () => {
  for (const text of [
    '',
    '<!-- begin t -->',
    '<!-- end t --><!-- begin t -->',
    '<!-- begin t --><!-- end t --><!-- begin t --><!-- end t -->',
  ]) {
    expect(() => replaceBetweenMarkers(text, 't', 'x', 'README.md')).toThrow(/README\.md.*begin t/);
  }
});
