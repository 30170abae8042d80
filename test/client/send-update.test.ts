import { ServiceError, type Client } from '@temporalio/client';
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import { describe, expect, it } from 'vitest';
import { acrossHandover, sendOrLeave } from '../../src/client/sending/send-update.ts';

const UPDATE = defineUpdate<string, [string]>('say');

/** A client whose service answers each try of an update with the next of `answers`. */
function clientOf(answers: readonly (string | number)[]): {
  readonly client: Client;
  readonly ids: string[];
  /** What was left as signals. */
  readonly left: unknown[];
} {
  const ids: string[] = [];
  const left: unknown[] = [];
  const handle = {
    signal: async (_signal: unknown, arg: unknown) => void left.push(arg),
    executeUpdate: async (_name: unknown, { updateId }: { readonly updateId: string }) => {
      const answer = answers[ids.length];
      ids.push(updateId);
      if (typeof answer === 'string') return answer;
      const cause = Object.assign(new Error('refused'), {
        code: answer,
        details: '',
        metadata: {},
      });
      throw new ServiceError('Workflow Update failed', { cause });
    },
    describe: async () => ({
      type: 'agent',
      memo: { agent: 'clerk' },
      status: { name: 'RUNNING' },
    }),
  };
  const client = {
    workflow: { getHandle: () => handle },
    withDeadline: (_deadline: number, send: () => Promise<unknown>) => send(),
    withAbortSignal: (_signal: AbortSignal, send: () => Promise<unknown>) => send(),
  };
  return { client: client as unknown as Client, ids, left };
}

describe('an update', () => {
  it.each([
    [5, 'the execution has handed over'],
    [9, 'the workflow task that carried it failed'],
    [10, 'the execution is handing over'],
    [14, 'the service is away'],
  ])('is sent again under its id after gRPC status %i: %s', async (code) => {
    const { client, ids } = clientOf([code, code, 'done']);

    const answer = await acrossHandover('run', client, UPDATE, { arg: 'x', updateId: 'u' });

    expect(answer).toBe('done');
    expect(ids).toEqual(['u', 'u', 'u']);
  });

  it('is not sent again when the service refuses it', async () => {
    const { client, ids } = clientOf([7, 'done']);

    const sent = acrossHandover('run', client, UPDATE, { arg: 'x', updateId: 'u' });

    await expect(sent).rejects.toThrow('Workflow Update failed');
    expect(ids).toEqual(['u']);
  });
});

describe('a message that need not be taken as an update', () => {
  const message = { update: UPDATE, signal: defineSignal<[string]>('say') };

  it.each([
    [8, 'the service has no room for one more update', 1],
    [14, 'the service is away, and comes back', 2],
    [4, 'no worker takes it', 2],
  ])('is left as a signal, status %i: %s', { timeout: 30_000 }, async (code, _why, least) => {
    const { client, ids, left } = clientOf(Array.from({ length: 100 }, () => code));

    const answer = await sendOrLeave('run', client, message, { arg: 'x', updateId: 'u' });

    expect(answer).toBeNull();
    expect(left).toEqual(['x']);
    expect(ids.length).toBeGreaterThanOrEqual(least);
    expect(new Set(ids)).toEqual(new Set(['u']));
  });

  it('is left alone where a worker takes it', async () => {
    const { client, left } = clientOf(['done']);

    const answer = await sendOrLeave('run', client, message, { arg: 'x', updateId: 'u' });

    expect([answer, left]).toEqual(['done', []]);
  });
});
