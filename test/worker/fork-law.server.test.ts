/**
 * The law of forks over recorded histories: a fork without edits, from any boundary, under the same
 * replies repeats the rest of its source byte for byte, but for ids and times.
 */
import fc from 'fast-check';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sizesOf } from '../../src/core/base/size-limits.ts';
import { readRecorded } from '../../src/core/base/recorded.ts';
import { PROBE_WORKFLOW } from '../../src/core/contract/messages.ts';
import { stateView } from '../../src/core/fork/state-view.ts';
import { createTape, type Tape } from '../../src/core/fork/tape.ts';
import type { RunState } from '../../src/core/run/run-state.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineValidator } from '../../src/define/tool/define-validator.ts';
import { NO_PROTECTION } from '../../src/protection/protection.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import type { MemoryRun } from '../../src/testing/memory-run.ts';
import { startMemoryRun } from '../../src/testing/start-memory-run.ts';
import { loadWorkflowBundle } from '../../src/worker/bundle/bundle.ts';
import { installRuntime } from '../../src/worker/serve/install-runtime.ts';
import { createReplayer, type Replayer } from '../../src/worker/states/replayer.ts';
import { bundleFolder } from '../support/bundles.ts';
import { extent } from '../support/extent.ts';
import { RECORDINGS } from '../support/recordings.ts';

/**
 * Their rest is told by runs that their loops start, and not by replies and results of calls: a fork
 * starts those anew, and their histories are no part of the recording. test/e2e/deep-forks.test.ts has
 * the law for pipelines and fan-outs, with live runs whose replies follow from what they are asked.
 */
const STARTERS: readonly string[] = ['pipeline', 'fan-out', 'fan-out-part'];

/** Its parent ends it by refusing more of a budget; a fork of a child is a root, whom nobody refuses. */
const ENDED_FROM_ABOVE: readonly string[] = ['tree-child'];

const lawful = RECORDINGS.filter(
  ({ name, workflowsPath, isOther }) =>
    workflowsPath === undefined &&
    isOther !== true &&
    ![...STARTERS, ...ENDED_FROM_ABOVE].includes(name),
);

interface RecordedEvent {
  readonly eventId: string;
  readonly activityTaskScheduledEventAttributes?: {
    readonly activityType: { readonly name: string };
    readonly input?: RecordedPayloads;
  };
  readonly activityTaskCompletedEventAttributes?: {
    readonly scheduledEventId: string;
    readonly result?: RecordedPayloads;
  };
  readonly activityTaskTimedOutEventAttributes?: {
    readonly scheduledEventId: string;
    readonly failure?: {
      readonly timeoutFailureInfo?: { readonly lastHeartbeatDetails?: RecordedPayloads };
    };
  };
  readonly workflowExecutionCompletedEventAttributes?: { readonly result: RecordedPayloads };
  readonly workflowExecutionStartedEventAttributes?: {
    readonly workflowId: string;
    workflowType: { name: string };
  };
}

interface RecordedPayloads {
  readonly payloads: readonly { readonly data: string }[];
}

function valueOf(payloads: RecordedPayloads | undefined): unknown {
  return JSON.parse(Buffer.from(payloads?.payloads[0]?.data ?? '', 'base64').toString() || 'null');
}

/** Arguments as the loop reads them: a provider writes them as JSON. */
function valueIn(args: unknown): never {
  return (typeof args === 'string' ? JSON.parse(args) : args) as never;
}

/** What a model said, as the history has it. */
interface RecordedReply {
  readonly parts: readonly {
    readonly type: string;
    readonly text?: string;
    readonly tool?: string;
    readonly args?: unknown;
  }[];
}

/** A recorded run: its moments, what its model said in each iteration, and its Step. */
interface Source {
  readonly tape: Tape;
  readonly replies: ReadonlyMap<number, readonly RecordedReply[]>;
  readonly step: { readonly status: string; readonly value: unknown } | null;
}

let replayer: Replayer;
beforeAll(async () => {
  installRuntime({ logLevel: 'ERROR' });
  const bundle = await loadWorkflowBundle({ cacheDir: await bundleFolder() });
  replayer = createReplayer(bundle, NO_PROTECTION);
});
afterAll(() => replayer?.close());

async function sourceOf(name: string): Promise<Source> {
  const file = new URL(`../histories/${name}.json`, import.meta.url);
  const history = JSON.parse(await readFile(file, 'utf8')) as { readonly events: RecordedEvent[] };
  const started = history.events[0]?.workflowExecutionStartedEventAttributes;
  if (started === undefined) throw new Error('Expected a start.');
  started.workflowType.name = PROBE_WORKFLOW;
  const tape = createTape();
  const { workflowId } = started;
  expect(await replayer.replay({ workflowId, history }, tape.probe)).toBeUndefined();
  const ended = history.events.at(-1)?.workflowExecutionCompletedEventAttributes;
  return {
    tape,
    replies: repliesOf(history.events),
    step: ended === undefined ? null : (valueOf(ended.result) as Source['step']),
  };
}

function repliesOf(events: readonly RecordedEvent[]): Source['replies'] {
  const replies = new Map<number, RecordedReply[]>();
  const orders = new Map<string, number>();
  for (const { eventId, ...event } of events) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled?.activityType.name === 'callModel') {
      const { iteration } = valueOf(scheduled.input) as { readonly iteration: number };
      orders.set(eventId, iteration);
    }
    const { scheduledEventId, reply } = replyOf(event);
    const iteration = orders.get(scheduledEventId ?? '');
    if (reply === undefined || iteration === undefined) continue;
    replies.set(iteration, [...(replies.get(iteration) ?? []), reply]);
  }
  return replies;
}

/** The reply that a model call of the source ended with, or that its lost worker had kept. */
function replyOf(event: Omit<RecordedEvent, 'eventId'>): {
  readonly scheduledEventId?: string;
  readonly reply?: RecordedReply | undefined;
} {
  const completed = event.activityTaskCompletedEventAttributes;
  if (completed !== undefined) {
    const { scheduledEventId, result } = completed;
    const value = readRecorded(valueOf(result))?.value as { readonly reply?: RecordedReply };
    return { scheduledEventId, ...value };
  }
  const lost = event.activityTaskTimedOutEventAttributes;
  if (lost === undefined) return {};
  const details = valueOf(lost.failure?.timeoutFailureInfo?.lastHeartbeatDetails) as {
    readonly kept?: { readonly reply?: RecordedReply };
  } | null;
  return { scheduledEventId: lost.scheduledEventId, reply: details?.kept?.reply };
}

/**
 * Entries without ids: calls are numbered as they come, and the provider's own ids and names are left
 * out.
 */
function withoutIds(entries: unknown): unknown {
  const known = new Map<string, number>();
  const text = JSON.stringify(entries, (key, value: unknown) => {
    if (key === 'providerData' || key === 'by') return undefined;
    if (key !== 'callId' || typeof value !== 'string') return value;
    if (!known.has(value)) known.set(value, known.size);
    return known.get(value);
  });
  return JSON.parse(text) as unknown;
}

/** A fork of `source` at one of its boundaries, whose model says what the source's said. */
function forkOf({ tape, replies }: Source, place: number): MemoryRun {
  const found = tape.boundaries[place];
  if (found?.state == null) throw new Error('Expected a state.');
  const state = JSON.parse(JSON.stringify(found.state)) as RunState;
  const { spec } = state.head;
  const said = new Map<number, number>();
  const models = spec.models.map(({ id }) => ({
    id,
    price: { input: 0, output: 0 },
    model: async ({ iteration }: { readonly iteration: number }) => {
      const at = said.get(iteration) ?? 0;
      said.set(iteration, at + 1);
      const reply = replies.get(iteration)?.[at];
      if (reply === undefined) throw new Error(`Expected a reply in iteration ${iteration}.`);
      const content = reply.parts.map(({ text = '' }) => text).join('');
      const toolCalls = reply.parts.flatMap(({ type, tool, args }) =>
        type === 'call' ? [{ name: tool ?? '', args: valueIn(args) }] : [],
      );
      return toolCalls.length === 0 ? { content } : { content, toolCalls };
    },
  }));
  const [model] = models;
  const agent = defineAgent({
    name: spec.name,
    mode: 'react',
    model: model?.id ?? 'm',
    // Those of the recordings accept every answer.
    validators: spec.answer.validators.map((name) =>
      defineValidator({ name, validate: () => ({ accepted: true }) }),
    ),
  });
  return startMemoryRun(
    {
      registry: createRegistry({ agents: [agent], models }),
      clock: createFakeClock(),
      chunks: { publish: () => undefined },
      onEvent: () => undefined,
      carry: (_message, deliver) => deliver(),
      sizes: sizesOf({}),
      childHandoverDue: () => false,
    },
    {
      address: 'fork',
      input: {
        v: 1,
        agent: spec.name,
        task: { text: '' },
        ...(state.tenant === undefined ? {} : { tenant: state.tenant }),
        fork: {
          source: { workflowId: 'source' },
          at: { iteration: state.iteration + 1 },
          effects: 'reuse',
          stats: 'keep',
        },
      },
      source: {
        state,
        origin: { workflowId: 'source', runId: 'source', executionId: 'source' },
        calls: tape.calls.slice(found.calls),
        children: tape.children.slice(found.children),
      },
    },
  );
}

describe('a fork of a recorded run', () => {
  it.each(lawful)('$name repeats its rest from any boundary', async ({ name }) => {
    const source = await sourceOf(name);
    const { boundaries } = source.tape;
    expect(boundaries.length).toBeGreaterThan(0);
    const last = boundaries.at(-1);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: boundaries.length - 1 }), async (place) => {
        const fork = forkOf(source, place);
        const step = await fork.result;
        if (source.step !== null) {
          const { status, value } = source.step;
          expect(step).toMatchObject({ status, value });
        }
        const { state } = fork;
        const then = last?.state as RunState;
        // The source went on beyond its last boundary, and so did the fork.
        const rest = then.scratchpad.length;
        expect(withoutIds(state.scratchpad.slice(0, rest))).toEqual(withoutIds(then.scratchpad));
        expect(withoutIds(fork.at({ iteration: then.iteration + 1 }).entries)).toEqual(
          withoutIds(stateView(then, { run: 'r', executionId: 'e' }, []).entries),
        );
      }),
      { numRuns: Math.min(boundaries.length * 2, extent(8, 2)) },
    );
  });
});
