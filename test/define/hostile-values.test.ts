import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { HOSTILE_CASES, HOSTILE_NAMES } from './hostile-values.ts';

/**
 * Each case ends in less than a second. With a keyword that is quadratic or worse it takes minutes
 * or for ever, so this bound for all of them says only that they end.
 */
const MAX_MS = 240_000;

/** A thread that can be ended, unlike a check that does not end. */
const CODE = `
const { workerData } = require('node:worker_threads');
import('tsx/esm/api').then(({ register }) => { register(); return import(workerData); });
`;

interface Played {
  readonly name: string;
  readonly fit: string;
}

describe('each keyword on 1 MB', () => {
  test('ends, with a verdict or in words', { timeout: MAX_MS + 60_000 }, async () => {
    const file = new URL('hostile-values.ts', import.meta.url).href;
    const argv = ['--play-hostile-values'];
    const limits = { maxOldGenerationSizeMb: 700 };
    const thread = new Worker(CODE, { eval: true, workerData: file, argv, resourceLimits: limits });
    const played: Played[] = [];
    thread.on('message', (one: Played) => played.push(one));
    const ended = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => resolve('no end'), MAX_MS);
      thread.once('error', reject);
      thread.once('exit', () => {
        clearTimeout(timer);
        resolve('end');
      });
    });
    await thread.terminate();

    expect([ended, ...played.map(({ name }) => name)]).toEqual(['end', ...HOSTILE_NAMES]);
    expect(played.slice(0, HOSTILE_CASES.length)).toEqual(
      HOSTILE_CASES.map(([name, , , fit]) => ({ name, fit })),
    );
    expect(new Set(played.map(({ fit }) => fit))).toEqual(new Set(['fits', 'unfit', 'work']));
  });
});
