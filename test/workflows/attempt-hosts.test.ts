/** The attempts of a call, as both hosts carry them out: they decide by the same table. */
import { ApplicationFailure, TimeoutFailure } from '@temporalio/common';
import { ActivityFailure, type CancellationScope } from '@temporalio/workflow';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AttemptFailure } from '../../src/core/attempt/failure.ts';
import { NOTHING_TRIED } from '../../src/core/attempt/table.ts';
import { afterToolFailure, toolEnd } from '../../src/core/attempt/tool-attempts.ts';
import type { ToolResult } from '../../src/core/contract/outcome.ts';
import type { ToolSpec } from '../../src/core/contract/spec.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { tryInMemory } from '../../src/testing/try-in-memory.ts';
import { failureOf } from '../../src/workflows/attempts/read-failure.ts';
import { createTryCall } from '../../src/workflows/attempts/try-again.ts';

const RESULT: ToolResult = { outcome: 'ok', output: 1, attempts: 1, started: true };

/** How an attempt ends: as the failure of an activity, and as an attempt in memory says it. */
const ENDS = {
  failed: said('tool_failed'),
  given_back: said('worker_shutdown'),
  lack: said('not_here', { what: 'tool pay', agent: 'clerk' }),
  lost: silent({ attempts: 1, began: true }),
  lost_unbegun: silent({ attempts: 1 }),
  broken: said('other'),
  unreadable: new Error('no result'),
} as const;

function said(type: string, details: object = {}): ActivityFailure {
  return failed(ApplicationFailure.create({ type, message: type, details: [details] }));
}

function silent(details: object): ActivityFailure {
  return failed(new TimeoutFailure('silent', details, 'HEARTBEAT'));
}

function failed(cause: Error): ActivityFailure {
  return new ActivityFailure('failed', 'callTool', '1', 'MAXIMUM_ATTEMPTS_REACHED', 'w', cause);
}

type Ending = keyof typeof ENDS | 'ok';

/** What a host does with a call whose attempts end so: its outcome, and when each attempt began. */
interface Seen {
  readonly outcome: ToolResult;
  readonly begun: readonly number[];
}

async function onServer(tool: ToolSpec, endings: readonly Ending[]): Promise<Seen> {
  const clock = createFakeClock();
  const begun: number[] = [];
  const scope = { run: (work: () => unknown) => work() } as unknown as CancellationScope;
  const tryCall = createTryCall({
    run: ({ schedule, onResult, onFailure }) =>
      schedule().then(onResult, (error: unknown) =>
        onFailure(error, { scope, relabel: () => undefined }),
      ),
    // No worker has what the call needs.
    elsewhere: { retry: () => null },
    rest: async (_scope, ms) => (await clock.sleep(ms), 'over'),
    operator: async () => 'retried',
    now: () => clock.now(),
  });
  const outcome = await tryCall<ToolResult, ToolResult, typeof NOTHING_TRIED>({
    label: 'tool pay',
    before: NOTHING_TRIED,
    schedule: async () => {
      const end = endings[begun.length] ?? 'ok';
      begun.push(clock.now());
      if (end === 'ok') return RESULT;
      throw ENDS[end];
    },
    onResult: toolEnd,
    onFailure: (failure, tried) => afterToolFailure(tool, tried, failure),
  });
  return { outcome, begun };
}

async function inMemory(tool: ToolSpec, endings: readonly Ending[]): Promise<Seen> {
  const clock = createFakeClock();
  const begun: number[] = [];
  const outcome = await tryInMemory<ToolResult, typeof NOTHING_TRIED>(
    clock,
    new AbortController().signal,
    {
      before: NOTHING_TRIED,
      attempt: async (tried) => {
        const end = endings[begun.length] ?? 'ok';
        begun.push(clock.now());
        return end === 'ok' ? toolEnd(RESULT, tried) : { failure: failureIn(end) };
      },
      onFailure: (failure, tried) => afterToolFailure(tool, tried, failure),
    },
  );
  return { outcome, begun };
}

/** In memory an attempt says itself what it is. */
function failureIn(kind: keyof typeof ENDS): AttemptFailure {
  const { message } = failureOf(ENDS[kind]);
  const lack = { what: 'tool pay', agent: 'clerk' };
  return { kind, message, ...(kind === 'lack' ? { lack } : {}) };
}

it.each(Object.keys(ENDS) as (keyof typeof ENDS)[])('a worker says %s as memory does', (kind) => {
  expect(failureOf(ENDS[kind])).toMatchObject(failureIn(kind));
});

it('a tool call has the same attempts at the same times, and the same end, on both hosts', async () => {
  const endings = fc.array(fc.constantFrom<Ending>('ok', ...(Object.keys(ENDS) as Ending[])), {
    maxLength: 8,
  });
  const effects = fc.constantFrom<ToolSpec['effect']>('read', 'idempotent', 'once');
  await fc.assert(
    fc.asyncProperty(
      effects,
      fc.integer({ min: 1, max: 4 }),
      endings,
      async (effect, attempts, ends) => {
        const retry = { attempts: effect === 'once' ? 1 : attempts, initialMs: 10, factor: 2 };
        const tool = { name: 'pay', effect, timeoutMs: 1_000, retry } as ToolSpec;
        expect(await inMemory(tool, ends)).toEqual(await onServer(tool, ends));
      },
    ),
  );
});
