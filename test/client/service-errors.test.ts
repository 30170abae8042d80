/** Whatever the service answers: what leaves the client has a code of ours. */
import { ServiceError, type Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { throughOutage } from '../../src/client/connection/through-outage.ts';
import { createEverloop } from '../../src/client/everloop-client.ts';
import { usageCodes } from '../../src/core/base/usage-codes.ts';
import { isUsageError } from '../../src/core/base/usage-error.ts';
import { withoutWaits } from '../support/no-waits.ts';

/** All statuses of gRPC but OK. */
const STATUSES = Array.from({ length: 16 }, (_, index) => index + 1);

function refusal(code: number): Error {
  return Object.assign(new Error(`${code} said so`), { code, details: 'said so', metadata: {} });
}

/** A client each of whose calls fails with the status, some of them in an error of the SDK. */
function failing(code: number): Client {
  const cause = refusal(code);
  const fail = (): Promise<never> =>
    Promise.reject(code % 2 === 0 ? new ServiceError('Failed', { cause }) : cause);
  const failingIterable = () => ({ [Symbol.asyncIterator]: () => ({ next: fail }) });
  const service = new Proxy({}, { get: () => fail });
  const updateHandle = { result: fail };
  const handle = new Proxy(
    { getUpdateHandle: () => updateHandle },
    {
      get: (target, name) =>
        name === 'then' ? undefined : ((Reflect.get(target, name) as unknown) ?? fail),
    },
  );
  return {
    options: { namespace: 'n', identity: 'i', loadedDataConverter: { payloadCodecs: [] } },
    connection: { workflowService: service, operatorService: service },
    workflowService: service,
    operatorService: service,
    workflow: {
      start: fail,
      signalWithStart: fail,
      executeUpdateWithStart: fail,
      count: fail,
      list: failingIterable,
      getHandle: () => handle,
    },
    schedule: { create: fail, list: failingIterable, getHandle: () => handle },
    withDeadline: (_at: unknown, call: () => Promise<unknown>) => call(),
    withAbortSignal: (_signal: unknown, call: () => Promise<unknown>) => call(),
  } as unknown as Client;
}

/** Calls each method of `api`, and gives what it fails with, by its name. */
async function failuresOf(
  api: object,
  argsOf: (name: string) => readonly unknown[],
): Promise<ReadonlyMap<string, unknown>> {
  const failures = new Map<string, unknown>();
  await Promise.all(
    Object.entries(api).map(async ([name, method]) => {
      if (typeof method !== 'function') return;
      try {
        const given = (method as (...args: readonly unknown[]) => unknown)(...argsOf(name));
        if (typeof given === 'object' && given !== null && Symbol.asyncIterator in given) {
          await (given as AsyncIterable<unknown>)[Symbol.asyncIterator]().next();
        } else await given;
      } catch (error) {
        failures.set(name, error);
      }
    }),
  );
  return failures;
}

const ARGS: Readonly<Record<string, readonly unknown[]>> = {
  start: ['a', { task: 't' }],
  fork: [{ run: 'r' }, { effects: 'run' }],
  evaluate: [{ moments: [{ run: 'r', at: { iteration: 1 } }], variants: [{ name: 'v' }] }],
  compileAgent: ['a', { task: 't' }],
  attach: ['r'],
  at: [{ iteration: 1 }],
  child: ['some/path'],
  answer: ['q1', 'x'],
  decide: ['1.1', { approve: true }],
  retry: ['1.1'],
  revoke: ['1.1'],
  conversation: ['a'],
  say: ['hi'],
  turn: ['m'],
  send: ['hi'],
  adjust: [{ turns: 3 }],
  // What waits through an outage does so until its owner stops.
  result: [{ deadlineMs: 1 }],
  resultOrPending: [{ deadlineMs: 1 }],
  follow: [{ signal: AbortSignal.abort() }],
  followEvents: [{ signal: AbortSignal.abort() }],
  set: ['t', { concurrency: 1 }],
  show: ['t'],
  create: ['s', { agent: 'a', task: 't', every: '1 hour' }],
  times: [{ from: 0, until: 1_000 }],
  backfill: [{ from: 0, until: 1_000 }],
  update: [{ every: '2 hours' }],
};

/** They wait for a service that is away, as long as their readers stay. */
const WAITING = new Set(['stream', 'pushedEvents', 'streamToken']);

function without(api: object): object {
  return Object.fromEntries(Object.entries(api).filter(([name]) => !WAITING.has(name)));
}

describe('an error that leaves the client', () => {
  it.each(STATUSES)('has a code of ours: status %i', { timeout: 120_000 }, async (code) => {
    await withoutWaits(async () => {
      const everloop = createEverloop({ client: failing(code), taskQueue: 'q' });
      const apis = {
        everloop: without(everloop),
        run: without(everloop.attach('r')),
        schedules: everloop.schedules,
        schedule: everloop.schedules.attach('s'),
        tenants: everloop.tenants,
        conversation: everloop.conversation('a', { id: 'c' }),
      };
      let failures = 0;
      for (const [of, api] of Object.entries(apis)) {
        for (const [name, error] of await failuresOf(api, (method) => ARGS[method] ?? [])) {
          failures += 1;
          const got = isUsageError(error) ? error.code : error;
          expect(Object.keys(usageCodes), `${of}.${name}`).toContain(got);
        }
      }
      expect(failures).toBeGreaterThan(25);
    });
  });
});

describe('what waits through an outage', () => {
  const client = {
    withAbortSignal: (_signal: AbortSignal, call: () => Promise<unknown>) => call(),
  } as unknown as Client;

  it.each([2, 4, 8, 10, 13, 14])('goes on when the service is back: status %i', async (code) => {
    let tries = 0;
    const answer = await withoutWaits(() =>
      throughOutage(client, {}, async () => {
        tries += 1;
        if (tries < 3) throw refusal(code);
        return 'done';
      }),
    );

    expect([answer, tries]).toEqual(['done', 3]);
  });

  it.each([5, 7, 12, 16])('does not wait for what stays: status %i', async (code) => {
    const waiting = throughOutage(client, {}, () => Promise.reject(refusal(code)));

    await expect(waiting).rejects.toMatchObject({ code });
  });

  it('ends with its owner', async () => {
    const left = new AbortController();
    const away = (): Promise<never> => Promise.reject(refusal(14));
    const waits = [
      throughOutage(client, { signal: left.signal }, away),
      throughOutage(client, { deadlineMs: 50 }, away),
    ];
    left.abort();

    for (const waiting of waits) await expect(waiting).rejects.toMatchObject({ code: 'wait_over' });
  });
});
