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
import { callsOf } from '../core/contract/turn.ts';
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
  readonly figures: Pick<ToolFigures, 'usual'>;
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
  /** The reply is whole: calls that were not offered while it came are offered now. */
  readonly complete: (reply: Reply) => void;
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
  complete: () => undefined,
  isOpen: () => false,
  ended: () => [],
  settle: () => Promise.resolve({}),
  stop: () => [],
};

/** The reads of a model call; none if its order or the agent on this worker does not allow any. */
export function createReadsBeside(parts: ReadsParts | null): ReadsBeside {
  const reads = parts?.order.reads;
  if (parts === null || reads === undefined) return NO_READS;
  const { middleware, prepare, tools } = parts.agent.definition;
  const { tool = [], model = [] } = middleware ?? {};
  // What is offered is known with the reply.
  const isOpen = prepare !== undefined || tools.some((one) => one.enabled !== undefined);
  return isOpen || tool.length + model.length > 0 ? NO_READS : openReads(parts, reads);
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
  const { signal } = parts;
  const offered: string[] = [];
  const room = roomOf(reads);
  let isBlocked = false;
  const running = runReads(parts, reads, () => {
    isBlocked = true;
  });
  signal.addEventListener('abort', running.stop, { once: true });
  const offer = (native: NativeCall, index: number): void => {
    const text = textOf(native);
    // A model that is asked again within one call writes its calls again.
    if (offered[index] === text) return;
    isBlocked ||= index !== offered.length || signal.aborted;
    offered.push(text);
    const call = isBlocked ? null : nextCall(parts, native, index);
    isBlocked ||= call === null;
    if (call === null || !room.has(call.tool) || !isHere(parts, call)) return;
    if (running.begin(native, call, index)) room.take(call.tool);
  };
  return {
    offer,
    complete: (reply) => callsOf(reply).forEach(offer),
    isOpen: running.isOpen,
    ended: () => inOrder(running.ended),
    settle: async (reply) => {
      isBlocked = true;
      await running.settled();
      return settledFor(reply, running.ended);
    },
    stop: () => {
      running.stop();
      return inOrder(running.ended);
    },
  };
}

/** Reads that run, within the bounds of all. */
interface RunningReads {
  /** False: no time is left. */
  readonly begin: (native: NativeCall, call: ToolCall, index: number) => boolean;
  readonly isOpen: () => boolean;
  readonly ended: readonly EndedRead[];
  readonly settled: () => Promise<void>;
  /** Ends all that are open. */
  readonly stop: () => void;
}

/** No read yet; `onStop` is called when the bounds or a stop end them, after which none may begin. */
function runReads(parts: ReadsParts, reads: ReadsOrder, onStop: () => void): RunningReads {
  const { order, now } = parts;
  const open = new Set<OpenRead>();
  const ended: EndedRead[] = [];
  let bytes = 0;
  let wake = (): void => undefined;
  const close = (one: OpenRead, end: Pick<BesideRead, 'result' | 'again'> | null): void => {
    if (!open.delete(one)) return;
    if (end !== null) ended.push({ of: one, read: { ...knownOf(one, now()), ...end } });
    if (open.size > 0) return;
    time.pause();
    wake();
  };
  const stop = (): void => {
    onStop();
    for (const one of open) {
      one.controller.abort();
      close(one, STOPPED);
    }
  };
  const time = openTime(parts, stop);
  const onEnd = (one: OpenRead, run: ToolRun): void => {
    const read = readOf(run);
    if (read === null || !open.has(one)) return close(one, null);
    bytes += byteSize(read.result as unknown as Json);
    const fits = bytes <= READ_BOUNDS.bytes;
    close(one, fits ? read : STOPPED);
    if (!fits) stop();
  };
  return {
    begin: (native, call, index) => {
      if (time.isOver()) return false;
      const controller = new AbortController();
      const one: OpenRead = { native, call, index, startedAt: now(), controller };
      if (open.size === 0) time.go();
      open.add(one);
      const isRead = mayReadContext(parts, call.tool);
      const run = parts.run(toolOrder(order, call, { reads, isRead }), controller.signal);
      run.then(
        (end) => onEnd(one, end),
        () => close(one, STOPPED),
      );
      return true;
    },
    isOpen: () => open.size > 0,
    ended,
    settled: async () => {
      if (open.size > 0) await new Promise<void>((resolve) => (wake = resolve));
    },
    stop,
  };
}

/** A read that has ended. */
interface EndedRead {
  readonly of: OpenRead;
  readonly read: BesideRead;
}

/** Which calls the order leaves. */
function roomOf({ calls, tools }: ReadsOrder): {
  readonly has: (tool: string) => boolean;
  readonly take: (tool: string) => void;
} {
  const taken = new Map<string, number>();
  let all = 0;
  return {
    has: (tool) => {
      const most = Object.hasOwn(tools, tool) ? (tools[tool] ?? 0) : 0;
      return all < calls && (taken.get(tool) ?? 0) < most;
    },
    take: (tool) => {
      all += 1;
      taken.set(tool, (taken.get(tool) ?? 0) + 1);
    },
  };
}

/** The time in which reads are open; `onOver` is called when it is used up. */
function openTime(
  { now, schedule }: Pick<ReadsParts, 'now' | 'schedule'>,
  onOver: () => void,
): { readonly go: () => void; readonly pause: () => void; readonly isOver: () => boolean } {
  let spentMs = 0;
  let since = 0;
  let cancel = (): void => undefined;
  return {
    go: () => {
      since = now();
      cancel = schedule(READ_BOUNDS.ms - spentMs, onOver);
    },
    pause: () => {
      cancel();
      spentMs += now() - since;
    },
    isOver: () => spentMs >= READ_BOUNDS.ms,
  };
}

/** What ended, by whether `reply` has the call. */
function settledFor(reply: Reply, ended: readonly EndedRead[]): SettledReads {
  const calls = callsOf(reply);
  const isCalled = ({ native, index }: OpenRead): boolean => {
    const written = calls[index];
    return written !== undefined && textOf(written) === textOf(native);
  };
  const part = (isOfReply: boolean): readonly BesideRead[] | undefined => {
    const found = ended.filter(({ of }) => isCalled(of) === isOfReply);
    return found.length === 0 ? undefined : inOrder(found);
  };
  return defined({ reads: part(true), lostReads: part(false) });
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
  // Nothing runs beside a reply whose arguments may be missing because it was cut.
  const context = { iteration: order.iteration, tools, maxCallsPerTurn, callsBefore, isCut: true };
  const reading = readNativeCalls([native], context);
  const call = reading.kind === 'calls' ? reading.calls[0] : undefined;
  if (call === undefined || isAlone(spec, call.tool)) return null;
  return spec.program !== undefined && call.tool === LISP_TOOL ? null : call;
}

/** Whether this worker has the tool as the order means it, and expects a call to keep the bounds. */
function isHere({ agent, figures }: ReadsParts, { tool, args }: ToolCall): boolean {
  const found = agent.tools.get(tool);
  if (found === undefined || found.spec.effect !== 'read') return false;
  if (found.isolate !== undefined || found.spec.approval !== undefined) return false;
  const usual = figures.usual(agent.definition.name, tool);
  if (usual.ms >= SLOW_MS || usual.bytes >= READ_BOUNDS.bytes) return false;
  return byteSize(args) <= MAX_ARGS_BYTES;
}

function mayReadContext({ head }: ReadsParts, tool: string): boolean {
  const spec = head.spec.tools.find(({ name }) => name === tool);
  return head.context !== undefined && spec?.readsContext === true;
}

/** The order of the call, as its turn would write it. */
function toolOrder(
  { agent, runId, rootRunId, traceparent, agentPath, tenant, by, blobs }: ModelOrder,
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
    ...defined({ conversation, tenant, by, readsContext, gauges, isWithoutGauges, blobs }),
  };
}

function textOf({ tool, args }: NativeCall): string {
  return JSON.stringify([tool, args]);
}

function inOrder(ended: readonly EndedRead[]): readonly BesideRead[] {
  return ended.map(({ read }) => read).toSorted((left, right) => left.index - right.index);
}
