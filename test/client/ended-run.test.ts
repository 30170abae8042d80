import { QueryRejectedError, type Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { defined } from '../../src/core/base/defined.ts';
import { askOpen } from '../../src/client/reading/ended-run.ts';

const COMPLETED = 2;
const CONTINUED_AS_NEW = 6;

/** A client of a service that refuses queries with these statuses, and then takes them. */
function clientOf(refusals: readonly number[]) {
  const rest = [...refusals];
  const query = async (): Promise<string> => {
    const status = rest.shift();
    if (status !== undefined) throw new QueryRejectedError(status);
    return 'running';
  };
  const client = {
    workflow: { getHandle: () => ({ query }) },
    withDeadline: <Result>(_deadline: unknown, call: () => Promise<Result>) => call(),
    withAbortSignal: <Result>(_signal: unknown, call: () => Promise<Result>) => call(),
  };
  return { client: client as unknown as Client, rest };
}

const ask = (client: Client, withinMs?: number): Promise<{ readonly answer: unknown } | null> =>
  askOpen(client, 'r', (run) => run.query('status'), defined({ withinMs }));

describe('a question to a run that may be open', () => {
  it('is asked of the next link when it meets the end of a link', async () => {
    const { client, rest } = clientOf([CONTINUED_AS_NEW, CONTINUED_AS_NEW]);

    expect(await ask(client)).toEqual({ answer: 'running' });
    expect(rest).toEqual([]);
  });

  it('has no answer from a run that has ended', async () => {
    expect(await ask(clientOf([COMPLETED]).client)).toBeNull();
    expect(await ask(clientOf([CONTINUED_AS_NEW, COMPLETED]).client)).toBeNull();
  });

  it('says that no worker answers when the next link does not begin in time', async () => {
    const { client } = clientOf(Array.from({ length: 100 }, () => CONTINUED_AS_NEW));

    await expect(ask(client, 120)).rejects.toMatchObject({ code: 'no_worker' });
  });
});
