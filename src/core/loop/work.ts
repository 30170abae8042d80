/**
 * What one iteration may do: ask the model, run calls, have answers checked. Each is counted, limited
 * and published by itself, and leaves the iteration when the run is to stop.
 */
import { byteSize, type Json } from '../base/json.ts';
import type { Breach } from '../contract/limit.ts';
import type { ToolCall } from '../base/message.ts';
import { UsageError } from '../base/usage-error.ts';
import type { Reply } from '../contract/model.ts';
import { askModels, leaveIfAsked, type Tries } from '../ask/ask-model.ts';
import { compactByForce } from '../ask/run-compaction.ts';
import { checkOwnCount, checkOwnGauge, checkOwnEvent } from '../stats/user-keys.ts';
import { judge, needsCheck } from '../termination/candidates.ts';
import type { Judgement } from '../contract/judgement.ts';
import type { JudgeResult } from '../contract/outcome.ts';
import type { Entry } from '../contract/entry.ts';
import { leaving, type PassedOn } from '../run/ending.ts';
import type { Host } from '../run/host.ts';
import type { OwnRequest } from '../contract/host-order.ts';
import type { CallResult } from '../modes/observation.ts';
import type { ProgramReport } from '../contract/report.ts';
import type { Run } from '../run/run.ts';
import { nothingOpen, type OpenCount } from '../run/open-count.ts';
import type { ProgramOrder } from '../programs/running-program.ts';
import { runProgram } from '../programs/run-program.ts';
import { runCalls, type CallTurn } from '../calls/run-calls.ts';
import type { RunState } from '../run/run-state.ts';
import {
  askOne,
  roomForChildren,
  spawn,
  spawnTogether,
  SIBLING_FAILED,
  type PersonQuestion,
  type PersonReply,
  type SpawnAllOptions,
  type SpawnInput,
  type SpawnResult,
  type SpawnWish,
} from '../children/spawn.ts';
import { judgementEvents, ownEvent } from '../run/turn-record.ts';

/** What `next` decided: another iteration, or the end with a value. */
export type TurnEnd =
  | { readonly kind: 'continue' }
  | {
      readonly kind: 'end';
      readonly value: Json;
      readonly entry?: NewEntry;
      /** Set when the value is that of another run, of which the Step keeps more than that. */
      readonly passedOn?: PassedOn;
      /** The value was no answer until no turn was left. */
      readonly fallbackUsed?: true;
    };

/** An entry before it has its place in the history. */
export type NewEntry = Pick<Entry, 'messages' | 'metadata'>;

/** What one iteration may do. All of it is counted, limited, published and durable by itself. */
export interface Work {
  readonly iteration: number;
  /** When the iteration began, maybe in an earlier link. */
  readonly startedAt: number;
  readonly run: Run;
  /** The newest state; `state.data` is the loop's own. Read it again after each wait. */
  readonly state: RunState;
  /**
   * Asks the model, then its fallbacks: with the agent's prompt and conversation, or with a request of
   * the loop's own. Leaves the iteration when the run is to stop.
   */
  ask(request?: OwnRequest): Promise<Reply>;
  /** Runs calls within the limits; the results are in request order, one for each call. */
  call(calls: readonly ToolCall[], turn?: CallTurn): Promise<readonly CallResult[]>;
  /**
   * Runs a program within the limits. What is wrong with it, or goes wrong in it, stands in the report.
   * Leaves the iteration when its memory is too large and that ends the run.
   */
  program(order: ProgramOrder): Promise<ProgramReport>;
  /** Checks answers and structured sections on the worker. */
  check(values: CheckedValues): Promise<JudgeResult>;
  /** What schema and validators of the agent say of one answer, recorded. */
  judge(answer: Json): Promise<Judgement>;
  /**
   * Runs an agent of the worker as a child, under the limits of this run, and waits for its value.
   * Leaves the iteration when the run is to stop.
   */
  spawn(agent: string, input?: SpawnInput): Promise<SpawnResult>;
  /**
   * Runs several children at once, which share what limits leave; the results are in the order of
   * `wishes`. The first that gives no value ends the others, unless `onFailure` is `continue`.
   */
  spawnAll(
    wishes: readonly SpawnWish[],
    options?: SpawnAllOptions,
  ): Promise<readonly SpawnResult[]>;
  /**
   * Sees to room for `count` more children, and for theirs, in the limits on `children` of this run and
   * those above, before the first of them costs anything. Gives the limit that has none, else null.
   */
  roomForChildren(count: number): Promise<Breach | null>;
  /**
   * Asks a person and waits for the answer, for as long as it takes. Asked before anything else of an
   * iteration, the question survives a hand-over: the iteration begins anew and finds it waiting.
   */
  askPerson(question: PersonQuestion): Promise<PersonReply>;
  /** Appends an entry to history and scratchpad. */
  append(entry: NewEntry): void;
  /** Replaces the scratchpad: what the next model call sees. An entry is known by its `index`. */
  setScratchpad(entries: readonly Entry[]): void;
  /** Replaces the loop's own data; it is handed over with the run, so keep it small. */
  setData(data: Json): void;
  /** Adds to a counter of the loop's own, such as `review:rounds`. @throws UsageError for other keys. */
  count(key: string, by?: number): void;
  /** Sets a gauge of the loop's own; keys as for `count`. */
  gauge(key: string, value: number): void;
  /** Publishes an event of the loop's own with at most 16 KB of JSON; names as keys of `count`. */
  emit(name: string, data: Json): void;
  /** Leaves the iteration when a cancel, a breach or an interrupting input waits. */
  leaveIfAsked(): void;
}

/** The work of an iteration as `runLoop` holds it. */
export interface OpenWork extends Work {
  /** Whether something that began in this iteration has not ended. */
  isOpen(): boolean;
  /** Ends what a loop left in flight and waits for it; nothing happens when nothing is. */
  settle(): Promise<void>;
}

/** What one reply gives to be checked. */
export interface CheckedValues {
  readonly answers: readonly Json[];
  readonly sections: readonly { readonly name: string; readonly value: Json }[];
}

/** One iteration of a loop. */
export type Next = (work: Work) => Promise<TurnEnd>;

/** The work of the iteration that has just begun. */
export function createWork(run: Run, host: Host): OpenWork {
  // Only a loop that does not await its work leaves some open; the built-in ones never do.
  const begun: Promise<unknown>[] = [];
  let spawned = 0;
  let asked = 0;
  const firstSeq = run.state.seq;
  const open = nothingOpen();
  const tracked = <Result>(work: Promise<Result>): Promise<Result> => {
    begun.push(work);
    return work;
  };
  // Chunks of one iteration are told apart by the try, so tries count on over repeated questions.
  const tries: Tries = { count: 0, isForced: false };
  const nextChild = (): string => {
    spawned += 1;
    return `${run.state.iteration}.spawn-${spawned}`;
  };
  const check = (values: CheckedValues): Promise<JudgeResult> =>
    tracked(checkValues(run, host, open, values));

  return {
    iteration: run.state.iteration,
    startedAt: run.state.turn?.startedAt ?? host.now(),
    run,
    get state() {
      return run.state;
    },
    ask: (request) => tracked(ask(run, host, open, tries, request)),
    call: (calls, turn) => tracked(runCalls(run, host, open, calls, turn)),
    program: (order) => tracked(runProgram(run, host, open, order)),
    check,
    judge: (answer) => judgeOne(run, check, answer),
    spawn: (agent, input = {}) =>
      tracked(spawn(run, host, open, { callId: nextChild(), agent, input })),
    spawnAll: (wishes, { onFailure = 'end' } = {}) => {
      const starters = { children: wishes.length };
      const given = wishes.map(({ agent, input = {} }) => ({
        callId: nextChild(),
        agent,
        input,
        starters,
        onAbort: SIBLING_FAILED,
      }));
      return tracked(spawnTogether(run, host, open, given, onFailure));
    },
    roomForChildren: (count) => tracked(roomForChildren(run, host, open, count)),
    askPerson: (question) => {
      asked += 1;
      const callId = `${run.state.iteration}.ask-${asked}`;
      // Nothing was done before it that would be done again.
      const isFirst = run.state.seq === firstSeq;
      return tracked(askOne(run, host, open, { callId, question, isFirst }));
    },
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
    emit: (type, data) => {
      checkOwnEvent(type, data);
      run.record(ownEvent({ type, data }));
    },
    leaveIfAsked: () => leaveIfAsked(run, host),
    isOpen: () => open.count > 0,
    settle: async () => {
      // By what began, not by what is open: a host that broke its contract leaves that count wrong.
      open.isOver = true;
      for (let settled = 0; settled < begun.length;) {
        settled = begun.length;
        host.abort();
        host.waits.wake();
        await Promise.allSettled(begun);
      }
    },
  };
}

/** Asks for the reply; a request that is too long is made shorter once in an iteration. */
function ask(
  run: Run,
  host: Host,
  open: OpenCount,
  tries: Tries,
  own?: OwnRequest,
): Promise<Reply> {
  if (own !== undefined) checkRequest(own);
  const models = own?.models ?? run.state.head.spec.models.map(({ id }) => id);
  const asking = { purpose: 'reply', models, messages: messageCount(run, own), tries } as const;
  const asked = own === undefined ? asking : { ...asking, own };
  return askModels(run, host, open, asked).then((end) =>
    end.kind === 'reply' ? end.reply : askShorter(run, host, open, tries, end, own),
  );
}

/** How many messages of the conversation and of the request itself the model gets. */
function messageCount(run: Run, own: OwnRequest | undefined): number {
  const isAlone = own !== undefined && own.conversation !== true;
  return (isAlone ? 0 : run.state.mark.length) + (own?.messages.length ?? 0);
}

/** A request travels in the history of the run, whole. */
const MAX_REQUEST_BYTES = 1_000_000;

function checkRequest({ messages, models }: OwnRequest): void {
  const refuse = (expected: string, got: string): UsageError =>
    new UsageError('own_request', `Expected ${expected}, got ${got}. Change it.`);
  if (messages.length === 0) throw refuse('a request with messages', 'none');
  if (models?.length === 0)
    throw refuse('a request with models, or with those of the agent', 'none');
  const bytes = byteSize(messages as unknown as Json);
  if (bytes > MAX_REQUEST_BYTES) {
    throw refuse(`a request of at most ${MAX_REQUEST_BYTES} bytes`, `${bytes}`);
  }
}

/** Asks once more after a forced compaction, if the request was too long and that can be mended. */
async function askShorter(
  run: Run,
  host: Host,
  open: OpenCount,
  tries: Tries,
  { code, message }: { readonly code: string; readonly message: string },
  own: OwnRequest | undefined,
): Promise<Reply> {
  const isAlone = own !== undefined && own.conversation !== true;
  const mayCompact = code === 'context_too_long' && !isAlone && !tries.isForced;
  tries.isForced ||= mayCompact;
  if (!mayCompact || !(await compactByForce(run, host, open, tries))) {
    throw leaving({ kind: 'failed', code, cause: message });
  }
  return ask(run, host, open, tries, own);
}

async function checkValues(
  run: Run,
  host: Host,
  open: OpenCount,
  values: CheckedValues,
): Promise<JudgeResult> {
  // A breach lets an answer in hand be judged; a cancel does not.
  if (host.mailbox.peek().cancel !== null) throw leaving({ kind: 'stopped' });
  const { runId, agentPath, iteration, head } = run.state;
  const { name: agent, answer } = head.spec;
  const { validators } = answer;
  const order = { agent, runId, agentPath, iteration, validators, ...values };
  open.count += 1;
  const outcome = await host.judgeAnswer(order);
  open.count -= 1;
  switch (outcome.kind) {
    case 'judged':
      return outcome.result;
    case 'aborted':
      leaveIfAsked(run, host);
      throw leaving({ kind: 'failed', code: 'validator_failed', cause: 'the check was aborted' });
    case 'failed':
      throw leaving({ kind: 'failed', code: 'validator_failed', cause: outcome.message });
  }
}

async function judgeOne(run: Run, check: Work['check'], answer: Json): Promise<Judgement> {
  const isChecked = needsCheck(run.state.head.spec.answer);
  const checked = isChecked ? await check({ answers: [answer], sections: [] }) : null;
  const judgement = judge([{ kind: 'value', value: answer }], checked?.verdicts ?? null);
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  for (const event of judgementEvents(judgement, checked, text)) run.record(event);
  return judgement;
}
