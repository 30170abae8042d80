/** docs/testing.md: its code is that of examples which run here. */
import { expect, test } from 'vitest';
import {
  asksPeople,
  callsAlone,
  callsItsTool,
  handsOver,
  keepsItsLaws,
  livesWithFailures,
  readsTheInstructions,
  staysWithinLimits,
  waitsADay,
} from '../../examples/docs/testing.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';

test('docs/testing.md quotes its examples', () => {
  expect(blocksOf('testing').size).toBe(10);
  expect(blocksOf('testing')).toEqual(regionsOf('testing'));
});

test.each([
  ['a script of replies', callsItsTool],
  ['what the model was asked', readsTheInstructions],
  ['failures and usage', livesWithFailures],
  ['questions and approvals', asksPeople],
  ['time', waitsADay],
  ['events and limits', staysWithinLimits],
  ['hand-overs', handsOver],
  ['a tool alone', callsAlone],
])('the example of %s', async (_name, example) => {
  await expect(example()).resolves.toBeUndefined();
});

test('the example of laws', () => {
  const names: string[] = [];
  keepsItsLaws((name, run) => {
    run();
    names.push(name);
  });

  expect(names).toContain('reads texts that are cut off at any place');
});
