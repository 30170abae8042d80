import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { asCaller } from '../../src/tools/caller.ts';
import { logUncaught, type UncaughtSource } from '../../src/worker/serve/uncaught.ts';

test.each([
  {
    caller: { name: 'tool refund', runId: 'r1', callId: 'c1' },
    whose: 'in tool refund (call c1 of run r1)',
  },
  { caller: { name: 'validator polite', runId: 'r1' }, whose: 'in validator polite (run r1)' },
  { caller: undefined, whose: 'in code that no call of a run started' },
])('[R2] an uncaught error is logged with whose it is: $whose', ({ caller, whose }) => {
  const source = new EventEmitter();
  const lines: string[] = [];
  const release = logUncaught((line) => lines.push(line), source as unknown as UncaughtSource);
  const leave = (): void => {
    source.emit('unhandledRejection', new Error('aside'));
    source.emit('uncaughtException', 'a text');
  };

  if (caller === undefined) leave();
  else asCaller(caller, leave);
  release();

  expect(lines).toEqual([
    expect.stringMatching(/^Unhandled rejection .*The worker goes on\. Error: aside\n/),
    `Uncaught exception ${whose}. The worker goes on. a text`,
  ]);
  expect(lines[0]).toContain(whose);
  expect(source.eventNames()).toEqual([]);
});
