/**
 * What one iteration may do: ask the model, run calls, have answers checked. Each is counted,
 * limited and published by itself, and leaves the iteration when the run must stop.
 */
import { byteSize, type Json } from '../base/json.ts';
import type { Breach } from '../contract/limit.ts';
import type { ToolCall } from '../base/message.ts';
import type { Reply } from '../contract/model.ts';
import type { Tries } from '../ask/asking.ts';
import { askForReply, type ReplyOptions } from '../ask/ask-reply.ts';
import { checkedPart, checkOwnCount, checkOwnGauge, checkOwnEvent } from '../stats/user-keys.ts';
import type { Judgement } from '../contract/judgement.ts';
import type { EventPart, JudgeResult } from '../contract/outcome.ts';
import type { Entry } from '../contract/entry.ts';
import type { OwnRequest } from '../contract/host-order.ts';
import type { PassedOn } from '../run/ending.ts';
import { CLOSED_GATE } from '../run/handover-gate.ts';
import { createHeldReads } from '../toolchain/held-reads.ts';
import { createIteration, type Iteration } from '../run/iteration.ts';
import type { CallResult } from '../modes/observation.ts';
import type { ProgramReport } from '../contract/report.ts';
import { leaveIfAsked, type Run } from '../run/run.ts';
import type { ProgramOrder } from '../programs/program-context.ts';
import { runProgram } from '../programs/run-program.ts';
import { recordLostRead } from '../calls/run-reads.ts';
import { runCalls, type CallTurn } from '../calls/run-calls.ts';
import type { RunState } from '../run/run-state.ts';
import {
  askOne,
  roomForChildren,
  spawn,
  spawnTogether,
  SIBLING_FAILED,
  type LoopChild,
  type PersonQuestion,
  type PersonReply,
  type SpawnAllOptions,
  type SpawnInput,
  type SpawnResult,
  type SpawnRequest,
} from '../children/spawn.ts';
import type { StartGroup } from '../children/run-child.ts';
import { ownEvent } from '../run/turn-record.ts';
import { askWithOperator } from './ask-operator.ts';
import { checkValues, judgeCandidates, type CheckedValues } from './judge.ts';

/** How `next` ended an iteration: with another one to come, or with the value of the run. */
export type TurnEnd =
  | { readonly kind: 'continue' }
  | {
      readonly kind: 'end';
      readonly value: Json;
      readonly entry?: NewEntry;
      /** Set when the value is that of another run, whose Step has more to keep. */
      readonly passedOn?: PassedOn;
      /** The value became the answer only because no turn was left. */
      readonly fallbackUsed?: true;
    };

/** An entry before it has its place in the history. */
export type NewEntry = Pick<Entry, 'messages' | 'metadata'>;

/** What one iteration may do. All of it is counted, limited, published and durable by itself. */
export interface Work {
  readonly iteration: number;
  /** When the iteration began, perhaps in an earlier link. */
  readonly startedAt: number;
  readonly run: Run;
  /** The newest state; `state.data` is the loop's own. Read it again after each wait. */
  readonly state: RunState;
  /**
   * Asks the model, then its fallbacks: with the agent's prompt and conversation, or with a request
   * of the loop's own. Leaves the iteration when the run must stop.
   */
  ask(request?: OwnRequest): Promise<Reply>;
  /**
   * Asks as `ask` without a request does; in mode `chat`, reads among the calls may run while the
   * model writes. For loops that give all calls of the reply to `call` as they are.
   */
  askAndRead(): Promise<Reply>;
  /** Runs calls within the limits; the results are in request order, one for each call. */
  call(calls: readonly ToolCall[], turn?: CallTurn): Promise<readonly CallResult[]>;
  /**
   * Runs a program within the limits. The report has what is wrong with it and what failed in it.
   * Leaves the iteration when its memory is too large and that ends the run.
   */
  program(order: ProgramOrder): Promise<ProgramReport>;
  /** Checks answers and structured sections on the worker. */
  check(values: CheckedValues): Promise<JudgeResult>;
  /** Checks one answer against schema and validators of the agent, and records the judgement. */
  judge(answer: Json): Promise<Judgement>;
  /**
   * Runs an agent of the worker as a child, under the limits of this run, and waits for its value.
   * Leaves the iteration when the run must stop.
   */
  spawn(agent: string, input?: SpawnInput): Promise<SpawnResult>;
  /**
   * Runs several children at once, which share the remaining limits; the results are in the order
   * of `children`. The first that fails ends the others, unless `onFailure` is `continue`. `onEnd`
   * is called as each ends.
   */
  spawnAll(
    children: readonly SpawnRequest[],
    options?: SpawnAllOptions,
  ): Promise<readonly SpawnResult[]>;
  /**
   * Gets the budget for `count` more children and theirs under the limits on `children` of this run
   * and its ancestors, before the first of them costs anything. Returns the limit that has no room,
   * or null.
   */
  roomForChildren(count: number): Promise<Breach | null>;
  /**
   * Asks a person and waits for the answer, however long it takes. When it is the first thing in an
   * iteration, the question survives a hand-over: the iteration starts again and finds it waiting.
   */
  askPerson(question: PersonQuestion): Promise<PersonReply>;
  /** Appends an entry to history and scratchpad. */
  append(entry: NewEntry): void;
  /** Replaces the scratchpad: what the next model call sees. An entry is known by its `index`. */
  setScratchpad(entries: readonly Entry[]): void;
  /** Replaces the loop's own data; it is handed over with the run, so keep it small. */
  setData(data: Json): void;
  /**
   * Adds to one of the loop's counters, such as `review:rounds`. @throws UsageError for other keys.
   */
  count(key: string, by?: number): void;
  /** Sets a gauge of the loop's own; keys as for `count`. */
  gauge(key: string, value: number): void;
  /** Publishes an event of the loop's own with at most 16 KB of JSON; names as keys of `count`. */
  emit(name: string, data: Json, part?: EventPart): void;
  /** Leaves the iteration when a cancel, a breach or an interrupting input waits. */
  leaveIfAsked(): void;
}

/** The work of an iteration as `runLoop` holds it. */
export interface OpenWork extends Work {
  /** Counts the reads beside replies that no call has taken. */
  loseReads(): void;
  /** Whether something that began in this iteration has not ended. */
  isOpen(): boolean;
  /** Ends what a loop left in flight and waits for it; does nothing if nothing is in flight. */
  settle(): Promise<void>;
}

/** One iteration of a loop. */
export type Next = (work: Work) => Promise<TurnEnd>;

/** The work of the iteration that has just begun. */
export function createWork(run: Run): OpenWork {
  const reads = createHeldReads(run.state.iteration, (call, read) =>
    recordLostRead(run, call, read),
  );
  const iteration = createIteration(run, CLOSED_GATE, reads);
  const { open } = iteration;
  open.notOffered = run.state.turn?.reply?.notOffered;
  // Only a loop that does not await its work leaves some open; the built-in ones never do.
  const begun: Promise<unknown>[] = [];
  const tracked = <Result>(work: Promise<Result>): Promise<Result> => {
    begun.push(work);
    return work;
  };
  // Attempts distinguish the chunks of an iteration, so repeated questions continue the count.
  const tries: Tries = { count: 0, isForced: false, lostReads: 0 };
  const firstSeq = run.state.seq;
  const askFor = (options: ReplyOptions): Promise<Reply> => {
    const ask = (): Promise<Reply> => askForReply(iteration, tries, options);
    if (run.state.head.spec.onRefusal !== 'ask') return ask();
    // A request of the loop's own is not known after a restart.
    const isFirst = options.own === undefined && run.state.seq === firstSeq;
    return askWithOperator(iteration, { tries, isFirst }, ask);
  };
  const check = (values: CheckedValues): Promise<JudgeResult> =>
    tracked(checkValues(iteration, values));
  return {
    iteration: run.state.iteration,
    startedAt: run.state.turn?.startedAt ?? run.host.now(),
    run,
    get state() {
      return run.state;
    },
    ask: (own) => tracked(askFor({ own })),
    askAndRead: () => tracked(askFor({ reads: true })),
    call: (calls, turn) => tracked(runCalls(iteration, calls, turn)),
    program: (order) => tracked(runProgram(iteration, order)),
    check,
    judge: (answer) => {
      const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
      return judgeCandidates({ run, check }, [{ kind: 'value', value: answer }], text);
    },
    ...relativesOf(iteration, tracked),
    ...recordingOf(run),
    isOpen: () => open.count > 0,
    loseReads: () => reads.loseRest(),
    settle: async () => {
      // Decided by what began, not by `open`: a host that breaks its contract makes that count
      // wrong.
      open.isOver = true;
      for (let settled = 0; settled < begun.length;) {
        settled = begun.length;
        run.host.abort();
        run.host.waits.wake();
        await Promise.allSettled(begun);
      }
    },
  };
}

type Relatives = Pick<Work, 'spawn' | 'spawnAll' | 'roomForChildren' | 'askPerson'>;

/** The child runs of an iteration, and its questions to people. */
function relativesOf(
  iteration: Iteration,
  tracked: <Result>(work: Promise<Result>) => Promise<Result>,
): Relatives {
  const { run } = iteration;
  const firstSeq = run.state.seq;
  let spawned = 0;
  let asked = 0;
  const nextChild = (): string => {
    spawned += 1;
    return `${run.state.iteration}.spawn-${spawned}`;
  };
  return {
    spawn: (agent, input = {}) => tracked(spawn(iteration, { callId: nextChild(), agent, input })),
    spawnAll: (children, options = {}) => {
      const starting = { children: children.length };
      const childOf = ({ agent, input = {} }: SpawnRequest, group: StartGroup): LoopChild => ({
        callId: nextChild(),
        agent,
        input,
        starting: group,
        onAbort: SIBLING_FAILED,
      });
      const given = children.map((request) => childOf(request, starting));
      return tracked(spawnTogether(iteration, { children: given, options, followerOf: childOf }));
    },
    roomForChildren: (count) => tracked(roomForChildren(iteration, count)),
    askPerson: (question) => {
      asked += 1;
      const callId = `${run.state.iteration}.ask-${asked}`;
      // Nothing happened before it that would happen twice.
      const isFirst = run.state.seq === firstSeq;
      return tracked(askOne(iteration, { callId, question, isFirst }));
    },
  };
}

type Recording = Pick<
  Work,
  'append' | 'setScratchpad' | 'setData' | 'count' | 'gauge' | 'emit' | 'leaveIfAsked'
>;

function recordingOf(run: Run): Recording {
  return {
    append: (entry) => {
      run.append({ iteration: run.state.iteration, origin: 'original', ...entry }, 'both');
    },
    setScratchpad: (entries) => run.replaceScratchpad(entries),
    setData: (data) => {
      run.record({ type: 'agent:data:change', bytes: byteSize(data) }, { data });
    },
    count: (key, by = 1) => {
      checkOwnCount(key, by);
      run.record(ownEvent({ type: key, data: null }, { counts: { [key]: by } }));
    },
    gauge: (key, value) => {
      checkOwnGauge(key, value);
      run.record(ownEvent({ type: key, data: null }, { gauges: { [key]: value } }));
    },
    emit: (type, data, part) => {
      checkOwnEvent(type, data);
      run.record(ownEvent({ type, data, ...checkedPart(type, part) }));
    },
    leaveIfAsked: () => leaveIfAsked(run),
  };
}
