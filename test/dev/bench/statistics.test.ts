import { expect, test } from 'vitest';
import { median, percentile, slope, spreadOf } from '../../../src/dev/bench/statistics.js';

test('the median is the middle value, or the mean of the two in the middle', () => {
  expect(median([3, 1, 10])).toBe(3);
  expect(median([4, 1, 10, 2])).toBe(3);
  expect(median([])).toBeNaN();
});

test('a percentile is a value that was measured, by nearest rank', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentile(hundred, 99)).toBe(99);
  expect(percentile(hundred, 100)).toBe(100);
  expect(percentile([7, 5], 50)).toBe(5);
  expect(percentile([7], 99)).toBe(7);
  expect(percentile([], 99)).toBeNaN();
});

test('a spread has the lowest and the highest beside the median', () => {
  expect(spreadOf([5, 1, 9])).toEqual({ median: 5, min: 1, max: 9 });
});

test('the slope is that of the line with the least squared error', () => {
  expect(
    slope([
      [0, 1],
      [1, 3],
      [2, 5],
    ]),
  ).toBeCloseTo(2);
  expect(
    slope([
      [0, 0],
      [1, 1],
      [2, 0],
    ]),
  ).toBeCloseTo(0);
  expect(
    slope([
      [1, 5],
      [1, 9],
    ]),
  ).toBe(0);
});
