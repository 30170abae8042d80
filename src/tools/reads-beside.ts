/**
 * Runs reads of a reply while the model still writes it. Knows nothing of Temporal: the model activity
 * and the memory host use it.
 *
 * I1  A call begins as soon as its arguments are whole, if the order of the model call allows it and
 *     it would begin at once in its turn: no call before it must run alone or cannot be read.
 * I2  All reads of a reply share `READ_BOUNDS`. A read that the bounds end is run again by its turn.
 * I3  Whatever began is returned, also when its reply is thrown away.
 */
import { defined } from '../core/base/defined.ts';
import { byteSize, type Json } from '../core/base/json.ts';
import type { ToolCall } from '../core/base/message.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { NativeCall, Reply } from '../core/contract/model.ts';
import {
  type ToolOrder,
  READ_BOUNDS,
  type BesideRead,
  type ReadsOrder,
} from '../core/contract/outcome.ts';
import type { TranscriptHead } from '../core/contract/transcript.ts';
import { LISP_TOOL } from '../core/program-text/system-text.ts';
import { isAlone } from '../core/toolchain/batch.ts';
import { canceledCallText, toolErrorText } from '../core/toolchain/call-texts.ts';
import { readNativeCalls } from '../core/toolchain/native-calls.ts';
import type { RegisteredAgent } from '../define/definition/definitions.ts';
import type { ToolRun } from './tool-call.ts';
import type { ToolFigures } from './tool-figures.ts';

/** A tool that usually takes longer does not run beside a reply, in ms. */
const SLOW_MS: number = READ_BOUNDS.ms * 0.75;

/** Bytes of JSON of the arguments of a read: they are recorded with its result. */
const MAX_ARGS_BYTES = 16_384;

/** What reads beside a reply are made of. */
export interface ReadsParts {
  readonly order: ModelOrder;
  readonly head: TranscriptHead;
  readonly agent: RegisteredAgent;
  readonly figures: Pick<ToolFigures, 'usualMs'>;
  /** Runs one attempt; never rejects. */
  readonly run: (order: ToolOrder, signal: AbortSignal) => Promise<ToolRun>;
  /** Ends all reads when the call of the model is stopped. */
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** Calls `due` in so many milliseconds; the returned function cancels that. */
  readonly schedule: (ms: number, due: () => void) => () => void;
}

/** The reads beside one reply. */
export interface ReadsBeside {
  /** The call at `index`, from 0, is whole. */
  readonly offer: (call: NativeCall, index: number) => void;
  readonly isOpen: () => boolean;
  /** What has ended so far. */
  readonly ended: () => readonly BesideRead[];
  /** Waits until none is open: those of `reply`, and those that are no calls of it. */
  readonly settle: (reply: Reply) => Promise<SettledReads>;
  /** Ends all: what began beside a reply that is thrown away. */
  readonly stop: () => readonly BesideRead[];
}

/** How the reads beside a reply ended; absent: none. */
export interface SettledReads {
  readonly reads?: readonly BesideRead[];
  readonly lostReads?: readonly BesideRead[];
}

const NO_READS: ReadsBeside = {
  offer: () => undefined,
  isOpen: () => false,
  ended: () => [],
  settle: () => Promise.resolve({}),
  stop: () => [],
};

/** The reads of a model call; none if its order or the agent on this worker does not allow any. */
export function createReadsBeside(parts: ReadsParts | null): ReadsBeside {
  const reads = parts?.order.reads;
  if (parts === null || reads === undefined) return NO_READS;
  const { tool = [], model = [] } = parts.agent.definition.middleware ?? {};
  return tool.length + model.length > 0 ? NO_READS : openReads(parts, reads);
}

/** One read that began. */
interface OpenRead {
  readonly native: NativeCall;
  readonly call: ToolCall;
  readonly index: number;
  readonly startedAt: number;
  readonly controller: AbortController;
}

function openReads(parts: ReadsParts, reads: ReadsOrder): ReadsBeside {
  const { order, signal, now, schedule } = parts;
  const offered: string[] = [];
  const open = new Set<OpenRead>();
  const ended: { readonly of: OpenRead; readonly read: BesideRead }[] = [];
  const callsOf = new Map<string, number>();
  let isBlocked = false;
  let bytes = 0;
  let spentMs = 0;
  let since = 0;
  let cancelTimer = (): void => undefined;
  let wake = (): void => undefined;

  const close = (one: OpenRead, read: Omit<BesideRead, keyof Known> | null): void => {
    if (!open.delete(one)) return;
    if (read !== null) ended.push({ of: one, read: { ...knownOf(one, now()), ...read } });
    if (open.size > 0) return;
    cancelTimer();
    spentMs += now() - since;
    wake();
  };
  const stopAll = (): void => {
    isBlocked = true;
    for (const one of open) {
      one.controller.abort();
      close(one, STOPPED);
    }
  };
  const onEnd = (one: OpenRead, run: ToolRun): void => {
    const read = readOf(run);
    if (read === null || !open.has(one)) return close(one, null);
    bytes += byteSize(read.result as unknown as Json);
    const fits = bytes <= READ_BOUNDS.bytes;
    close(one, fits ? read : STOPPED);
    if (!fits) stopAll();
  };
  const begin = (native: NativeCall, call: ToolCall, index: number): void => {
    const controller = new AbortController();
    const one: OpenRead = { native, call, index, startedAt: now(), controller };
    callsOf.set(call.tool, (callsOf.get(call.tool) ?? 0) + 1);
    if (open.size === 0) {
      since = now();
      cancelTimer = schedule(READ_BOUNDS.ms - spentMs, stopAll);
    }
    open.add(one);
    const isRead = mayReadContext(parts, call.tool);
    void parts
      .run(toolOrder(order, call, { reads, isRead }), controller.signal)
      .then((run) => onEnd(one, run));
  };
  const hasRoom = (tool: string): boolean => {
    const all = [...callsOf.values()].reduce((sum, calls) => sum + calls, 0);
    const most = Object.hasOwn(reads.tools, tool) ? (reads.tools[tool] ?? 0) : 0;
    return all < reads.calls && (callsOf.get(tool) ?? 0) < most && spentMs < READ_BOUNDS.ms;
  };
  signal.addEventListener('abort', stopAll, { once: true });

  return {
    offer: (native, index) => {
      const text = textOf(native);
      // A model that is asked again within one call writes its calls again.
      if (offered[index] === text) return;
      isBlocked ||= index !== offered.length || signal.aborted;
      offered.push(text);
      if (isBlocked) return;
      const call = nextCall(parts, native, index);
      if (call === null) {
        isBlocked = true;
        return;
      }
      if (hasRoom(call.tool) && isHere(parts, call)) begin(native, call, index);
    },
    isOpen: () => open.size > 0,
    ended: () => ended.map(({ read }) => read),
    settle: async ({ calls }) => {
      isBlocked = true;
      if (open.size > 0) await new Promise<void>((resolve) => (wake = resolve));
      const isCalled = ({ native, index }: OpenRead): boolean => {
        const written = calls[index];
        return written !== undefined && textOf(written) === textOf(native);
      };
      const part = (isOfReply: boolean): readonly BesideRead[] | undefined => {
        const found = ended.filter(({ of }) => isCalled(of) === isOfReply);
        return found.length === 0 ? undefined : inOrder(found.map(({ read }) => read));
      };
      return defined({ reads: part(true), lostReads: part(false) });
    },
    stop: () => {
      stopAll();
      return inOrder(ended.map(({ read }) => read));
    },
  };
}

/** A read that was stopped: its turn makes the call again, unless it must leave. */
const STOPPED: Pick<BesideRead, 'result' | 'again'> = {
  result: { outcome: 'canceled', error: canceledCallText, attempts: 1, started: true },
  again: 'stopped',
};

type Known = Pick<BesideRead, 'index' | 'tool' | 'args' | 'durationMs'>;

function knownOf({ call, index, startedAt }: OpenRead, endedAt: number): Known {
  const { tool, args } = call;
  return { index: index + 1, tool, args, durationMs: Math.max(0, Math.round(endedAt - startedAt)) };
}

/** How an attempt ended; null: the tool did not begin on this worker. */
function readOf(run: ToolRun): Pick<BesideRead, 'result' | 'again'> | null {
  switch (run.kind) {
    case 'result':
      return { result: run.result };
    case 'retry': {
      const error = toolErrorText(run.message);
      return { result: { outcome: 'error', error, attempts: 1, started: true }, again: 'failed' };
    }
    case 'not_here':
    case 'shutdown':
      return null;
  }
}

/** The call as its turn reads it; null: no later call may begin beside the reply. */
function nextCall(
  { order, head: { spec } }: ReadsParts,
  native: NativeCall,
  callsBefore: number,
): ToolCall | null {
  const { tools, maxCallsPerTurn } = spec;
  if (callsBefore >= maxCallsPerTurn) return null;
  const context = { iteration: order.iteration, tools, maxCallsPerTurn, callsBefore };
  const reading = readNativeCalls([native], context);
  const call = reading.kind === 'calls' ? reading.calls[0] : undefined;
  if (call === undefined || isAlone(spec, call.tool)) return null;
  return spec.program !== undefined && call.tool === LISP_TOOL ? null : call;
}

/** Whether this worker has the tool as the order means it, and expects it to be quick enough. */
function isHere({ agent, figures }: ReadsParts, { tool, args }: ToolCall): boolean {
  const found = agent.tools.get(tool);
  if (found === undefined || found.spec.effect !== 'read') return false;
  if (found.isolate !== undefined || found.spec.approval !== undefined) return false;
  if (figures.usualMs(agent.definition.name, tool) >= SLOW_MS) return false;
  return byteSize(args) <= MAX_ARGS_BYTES;
}

function mayReadContext({ head }: ReadsParts, tool: string): boolean {
  const spec = head.spec.tools.find(({ name }) => name === tool);
  return head.context !== undefined && spec?.readsContext === true;
}

/** The order of the call, as its turn would write it. */
function toolOrder(
  { agent, runId, rootRunId, traceparent, agentPath, blobs }: ModelOrder,
  { callId, tool, args }: ToolCall,
  { reads, isRead }: { readonly reads: ReadsOrder; readonly isRead: boolean },
): ToolOrder {
  const { conversation, gauges, isWithoutGauges } = reads;
  const readsContext = isRead ? (true as const) : undefined;
  return {
    agent,
    runId,
    ...defined({ rootRunId, traceparent }),
    agentPath,
    callId,
    tool,
    args,
    ...defined({ conversation, readsContext, gauges, isWithoutGauges, blobs }),
  };
}

function textOf({ tool, args }: NativeCall): string {
  return JSON.stringify([tool, args]);
}

function inOrder(reads: readonly BesideRead[]): readonly BesideRead[] {
  return reads.toSorted((left, right) => left.index - right.index);
}
