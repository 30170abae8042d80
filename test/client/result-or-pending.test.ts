import type { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { createRunHandle } from '../../src/client/create-run-handle.ts';
import type { PendingItem } from '../../src/core/contract/messages.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { STEP } from '../cli/cli-fixture.ts';
import { gate } from '../support/runs.ts';

/** A client of one run: `result` is how it ends, `pending` what it says each time it is asked. */
function clientOf(result: Promise<Step>, pending: () => Promise<readonly PendingItem[]>): Client {
  const describeIt = async (): Promise<object> => ({ type: 'agent', memo: { agent: 'clerk' } });
  const handle = { result: () => result, query: () => pending(), describe: describeIt };
  const client = {
    workflow: { getHandle: () => handle },
    withDeadline: (_at: number, work: () => Promise<unknown>) => work(),
    withAbortSignal: (_signal: AbortSignal, work: () => Promise<unknown>) => work(),
  };
  return client as unknown as Client;
}

const question = { id: 'q1', kind: 'question' } as unknown as PendingItem;

describe('resultOrPending [sub 17]', () => {
  it('gives what waits for a person as soon as something does, with the handle to answer it', async () => {
    const ended = gate<Step>();
    const answers = [[], [], [question]];
    const run = createRunHandle('r', {
      client: clientOf(ended.opened, async () => answers.shift() ?? []),
    });

    expect(await run.resultOrPending()).toEqual({ kind: 'pending', pending: [question], run });
    ended.open(STEP);
  });

  it('gives the Step of a run that ends before anything waits', async () => {
    const ended = gate<Step>();
    const run = createRunHandle('r', {
      client: clientOf(ended.opened, async () => {
        ended.open(STEP);
        return [];
      }),
    });

    expect(await run.resultOrPending()).toMatchObject({ kind: 'step', step: STEP });
  });

  it('waits for the end when nobody answers what waits', async () => {
    const ended = gate<Step>();
    const run = createRunHandle('r', {
      client: clientOf(ended.opened, () => {
        setImmediate(() => ended.open(STEP));
        return Promise.reject(new Error('No worker.'));
      }),
    });

    expect(await run.resultOrPending()).toMatchObject({ kind: 'step', step: STEP });
  });
});
