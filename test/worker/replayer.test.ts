import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import { afterEach, expect, it, vi } from 'vitest';
import type { RunState } from '../../src/core/run/run-state.ts';
import { NO_PROTECTION } from '../../src/protection/protection.ts';
import { createReplayer, type ReplayWatch } from '../../src/worker/states/replayer.ts';

afterEach(() => vi.restoreAllMocks());

/** The boundary that a replaying worker says that it has reached. */
type Boundary = (info: unknown, state: RunState) => void;

function boundaryOf({ sinks = {} }: ReplayWorkerOptions): Boundary {
  const { probe } = sinks as unknown as { readonly probe: { readonly boundary: { fn: Boundary } } };
  return probe.boundary.fn;
}

it('a replay that took too long shows nothing to who asks for the next one', async () => {
  const said: Boundary[] = [];
  vi.spyOn(Worker, 'runReplayHistories').mockImplementation(async function* (options) {
    said.push(boundaryOf(options));
    if (said.length === 1) await new Promise(() => undefined);
    said[0]?.({}, { seq: 1 } as RunState);
    said[1]?.({}, { seq: 2 } as RunState);
    yield { workflowId: 'b', runId: 'r', error: undefined } as never;
  });
  const replayer = createReplayer({} as never, NO_PROTECTION, 20);
  const seen: string[] = [];
  const watchOf = (run: string): ReplayWatch => ({
    boundary: ({ seq }) => void seen.push(`${run} ${seq}`),
    call: () => undefined,
    child: () => undefined,
  });
  await expect(replayer.replay({ workflowId: 'a', history: {} }, watchOf('a'))).rejects.toThrow(
    'Expected the history of run `a` to replay within 0.02 s, got no end.',
  );
  expect(await replayer.replay({ workflowId: 'b', history: {} }, watchOf('b'))).toBeUndefined();

  expect(seen).toEqual(['b 2']);
});
