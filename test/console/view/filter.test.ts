import { expect, test } from 'vitest';
import { readFilter } from '../../../src/console/web/runs/filter.ts';

test.each([
  ['agent:clerk state:canceled refund', { agent: 'clerk', state: 'canceled', words: 'refund' }],
  ['state:success', { state: 'success', words: '' }],
  ['state:limit since:1d', { state: 'limit', since: '1d', words: '' }],
  ['schedule:a%20%2Fb x', { schedule: 'a /b', words: 'x' }],
  ['schedule:50%', { schedule: '50%', words: '' }],
  // Words that are not whole yet ask for nothing that the server would refuse.
  ['state:can', { words: '' }],
  ['state: since:1', { words: 'state: since:1' }],
])('the filter line %s', (line, filter) => {
  expect(readFilter(line)).toEqual(filter);
});
