import { getMaxListeners } from 'node:events';
import { QueryNotRegisteredError, ServiceError, type Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { querying } from '../../src/client/connection/service-calls.ts';

/** What the client library throws for a call that the service ended with a gRPC status. */
function refusal(code: number, details = 'said so'): ServiceError {
  const cause = Object.assign(new Error(`${code}`), { code, details, metadata: {} });
  return new ServiceError('Failed to query Workflow', { cause });
}

interface Asked {
  readonly client: Client;
  readonly query: () => Promise<string>;
  /** How many queries were made. */
  readonly tries: () => number;
  /** What all of them have in common. */
  readonly given: { deadline?: number; signal?: AbortSignal };
}

/** A client, and a query that fails with one of `codes` after another before it answers. */
function asked(codes: readonly number[], tookMs = 0, details?: string): Asked {
  const given: Asked['given'] = {};
  const client = {
    withDeadline: (deadline: number, ask: () => unknown) => {
      given.deadline ??= deadline;
      return ask();
    },
    withAbortSignal: (signal: AbortSignal, ask: () => unknown) => {
      given.signal ??= signal;
      return ask();
    },
  } as unknown as Client;
  let tries = 0;
  const query = async (): Promise<string> => {
    const code = codes[tries];
    tries += 1;
    if (tookMs > 0) await new Promise((resolve) => setTimeout(resolve, tookMs));
    if (code !== undefined) throw refusal(code, details);
    return 'answered';
  };
  return { client, query, tries: () => tries, given };
}

describe('a query', () => {
  it.each([
    ['that is answered at once', [], 'answered', 1],
    ['whose worker went away is asked again', [1], 'answered', 2],
    ['that a busy worker did not take up in time is asked again', [4], 'answered', 2],
    ['whose second try is dropped is asked once more', [4, 4], 'answered', 3],
    ['that is cut off three times has no worker', [1, 4, 1], 'no_worker', 3],
    ['on whose queue nobody has been for minutes has no worker, at once', [9], 'no_worker', 1],
  ])('%s', async (_name, codes, expected, made) => {
    const { client, query, tries } = asked(codes);

    const answer = await querying('r', client, query).catch(({ code }: { code: string }) => code);

    expect(answer).toBe(expected);
    expect(tries()).toBe(made);
  });

  it.each([
    ['answered', []],
    ['refused', [5]],
  ])('that was %s leaves nothing open, and had one deadline', async (_name, codes) => {
    const { client, query, given } = asked(codes);
    const at = Date.now();

    await querying('r', client, query, 20_000).catch(() => undefined);

    expect(given.signal?.aborted).toBe(true);
    expect(Math.round(((given.deadline ?? 0) - at) / 1_000)).toBe(20);
  });

  it('that is refused because another one waits is made again soon', async () => {
    const full = 'consistent query buffer is full, this may be caused by too many queries';
    const { client, query, tries } = asked([8, 8, 8], 0, full);
    const at = performance.now();

    expect(await querying('r', client, query)).toBe('answered');
    expect(tries()).toBe(4);
    expect(performance.now() - at).toBeLessThan(3_000);
  });

  it('that is refused many times warns of no leak of listeners', async () => {
    const full = 'consistent query buffer is full, this may be caused by too many queries';
    const { client, query, given } = asked([8, 8], 0, full);
    expect(await querying('r', client, query)).toBe('answered');

    expect(given.signal && getMaxListeners(given.signal)).toBe(Infinity);
  });

  it('that is refused so until its time is over has no worker', async () => {
    const full = 'consistent query buffer is full, this may be caused by too many queries';
    const { client, query } = asked(Array<number>(100).fill(8), 0, full);

    await expect(querying('r', client, query, 100)).rejects.toMatchObject({ code: 'no_worker' });
  });

  it('is not asked again when its time is over', async () => {
    const { client, query, tries } = asked([4, 4], 5);

    await expect(querying('r', client, query, 1)).rejects.toMatchObject({ code: 'no_worker' });
    expect(tries()).toBe(1);
  });

  it.each([
    [
      'no_such_query',
      'Workflow did not register a handler for status. Registered queries: [total]',
      'not_an_agent',
    ],
    ['of another SDK', 'unknown queryType status. KnownQueryTypes=[total]', 'not_an_agent'],
    ['bad request', "Cannot read properties of undefined (reading 'from')", 'query_failed'],
    ['broken code', 'Workflow task failed: nondeterminism', 'query_failed'],
  ])('that is refused (%s) is another workflow only if it says so', async (_name, text, code) => {
    const { client } = asked([]);
    const query = (): Promise<string> => Promise.reject(new QueryNotRegisteredError(text, 3));

    await expect(querying('r', client, query)).rejects.toMatchObject({ code });
  });

  it('that a worker refuses says why, and how to end the run', async () => {
    const { client } = asked([]);
    const refused = 'Refused: this worker of task queue `q` lacks format own:toml of agent `a`.';
    const query = (): Promise<string> => Promise.reject(new QueryNotRegisteredError(refused, 3));

    await expect(querying('r', client, query)).rejects.toMatchObject({
      code: 'no_worker',
      message: `Expected a worker that goes on with run \`r\`, got a workflow task that fails: ${refused} The run waits meanwhile and loses nothing; \`everloop cancel r --force\` ends it without a Step.`,
    });
  });

  it.each([
    { attempt: 3, message: 'got a workflow task that fails: Refused: lacks a part.' },
    { attempt: 1, message: 'got silence.' },
  ])('that no worker answers looks why the task fails, try $attempt', async (task) => {
    const { client, query } = asked([9]);
    const failed = { failure: { message: 'Refused: lacks a part.' } };
    const failing = Object.assign(client, {
      options: { namespace: 'default' },
      workflow: {
        getHandle: () => ({ describe: async () => ({ raw: { pendingWorkflowTask: task } }) }),
      },
      workflowService: {
        getWorkflowExecutionHistoryReverse: async () => ({
          history: { events: [{}, { workflowTaskFailedEventAttributes: failed }] },
        }),
      },
    });

    await expect(querying('r', failing, query)).rejects.toMatchObject({
      code: 'no_worker',
      message: expect.stringContaining(task.message),
    });
  });

  it.each([
    // The first three have ten seconds, and each further one five more, then twice as much more.
    { attempt: 2, leastS: 0, withinS: 10 },
    { attempt: 3, leastS: 20, withinS: 20 },
    { attempt: 4, leastS: 10, withinS: 15 },
    { attempt: 10, leastS: 10, withinS: 330 },
    { attempt: 40, leastS: 10, withinS: 610 },
  ])('says until when the service waits for a lost worker, attempt $attempt', async (given) => {
    const { client, query } = asked([9]);
    const startedS = Math.floor(Date.now() / 1_000);
    const raw = {
      pendingWorkflowTask: { attempt: given.attempt, state: 2, startedTime: { seconds: startedS } },
      executionConfig: { defaultWorkflowTaskTimeout: { seconds: given.leastS } },
    };
    const lost = Object.assign(client, {
      options: { namespace: 'default' },
      workflow: { getHandle: () => ({ describe: async () => ({ raw }) }) },
      workflowService: {
        getWorkflowExecutionHistoryReverse: async () => ({
          history: {
            events: [
              {},
              { workflowTaskTimedOutEventAttributes: {} },
              { workflowTaskFailedEventAttributes: { failure: { message: 'Long ago.' } } },
            ],
          },
        }),
      },
    });

    const until = new Date((startedS + given.withinS) * 1_000).toISOString();
    await expect(querying('r', lost, query)).rejects.toMatchObject({
      code: 'no_worker',
      message: expect.stringContaining(`another worker at ${until} at the latest`),
    });
  });

  it('fails with what else the service says', async () => {
    const { client, query } = asked([7]);

    await expect(querying('r', client, query)).rejects.toThrow('Failed to query Workflow');
  });
});
