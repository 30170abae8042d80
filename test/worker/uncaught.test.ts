import { EventEmitter } from 'node:events';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { expect, test } from 'vitest';
import { asCaller, type Caller } from '../../src/tools/caller.ts';
import { watchUncaught, type UncaughtSource } from '../../src/worker/serve/uncaught.ts';

type Within = (work: () => void) => void;

const by = (caller: Caller): Within => asCaller.bind(null, caller) as Within;

const inActivity: Within = (work) => {
  const info = { activityType: 'callModel', workflowExecution: { workflowId: 'r1', runId: 'x' } };
  asyncLocalStorage.run({ info } as Context, work);
};

/** Leaves two errors behind, `within` a caller. */
function leave(within: Within) {
  const source = new EventEmitter();
  const lines: string[] = [];
  const stops: unknown[] = [];
  const release = watchUncaught({
    log: (line) => lines.push(line),
    stop: (error) => stops.push(error),
    source: source as unknown as UncaughtSource,
  });
  within(() => {
    source.emit('unhandledRejection', new Error('aside'));
    source.emit('uncaughtException', 'a text');
  });
  release();
  return { lines, stops, left: source.eventNames() };
}

test.each([
  {
    whose: 'tool refund (call c1 of run r1)',
    within: by({ name: 'tool refund', run: 'r1', callId: 'c1' }),
  },
  { whose: 'validator polite (run r1)', within: by({ name: 'validator polite', run: 'r1' }) },
  { whose: 'activity callModel (run r1)', within: inActivity },
])('[R2] an uncaught error of $whose is logged, and the worker goes on', ({ whose, within }) => {
  const { lines, stops, left } = leave(within);

  expect(lines).toEqual([
    expect.stringContaining(`Unhandled rejection in ${whose}. The worker goes on. Error: aside\n`),
    `Uncaught exception in ${whose}. The worker goes on. a text`,
  ]);
  expect(stops).toEqual([]);
  expect(left).toEqual([]);
});

test('[R2] any other uncaught error is logged, and stops the worker', () => {
  const { lines, stops } = leave((work) => work());

  const whose = 'in code that no call of a run started. The worker stops.';
  expect(lines).toEqual([
    expect.stringContaining(`Unhandled rejection ${whose} Error: aside\n`),
    `Uncaught exception ${whose} a text`,
  ]);
  expect(stops).toEqual([new Error('aside'), 'a text']);
});

test('[R2] output that nobody reads any more is no error', () => {
  const output = new EventEmitter();
  const lines: string[] = [];
  const release = watchUncaught({
    log: (line) => lines.push(line),
    stop: (error) => lines.push(String(error)),
    source: new EventEmitter() as unknown as UncaughtSource,
    outputs: [output as unknown as NodeJS.WriteStream],
  });

  // Without a listener this throws.
  output.emit('error', new Error('write EPIPE'));

  expect(lines).toEqual([]);
  release();
  expect(output.listenerCount('error')).toBe(0);
});
