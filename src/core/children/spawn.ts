/** The child runs of a loop, and its questions to people. */
import type { Json, JsonObject } from '../base/json.ts';
import type { Breach } from '../contract/limit.ts';
import type { Task } from '../base/message.ts';
import type { Question } from '../toolchain/ask-user.ts';
import { askPerson, awaitAnswer, type AskOutcome } from '../people/ask-person.ts';
import { leaving } from '../run/ending.ts';
import { ensureBudget } from '../run/ensure-budget.ts';
import { CLOSED_GATE, createGate, type HandoverGate } from '../run/handover-gate.ts';
import type { QuestionItem } from '../contract/pending.ts';
import type { Iteration } from '../run/iteration.ts';
import { leaveIfAsked, type Run } from '../run/run.ts';
import { runChild, type ChildFailure, type StartGroup } from './run-child.ts';
import type { ForkInput } from '../base/fork.ts';
import type { LimitsInput } from '../contract/input.ts';
import type { Step, StepMemory } from '../contract/step.ts';

/** What a loop starts a child with. */
export interface SpawnInput {
  /** May be left out if the template or the context says everything. */
  readonly task?: string | Task;
  readonly context?: JsonObject | Step;
  /** Descriptions of keys of the context. */
  readonly contextDescriptions?: { readonly [name: string]: string };
  /** Id of a model entry that replaces the agent's own. */
  readonly model?: string;
  /** What programs of an earlier run left: its Step's `memory`. */
  readonly memory?: StepMemory;
  /** Limits of its own, beside those of the runs above. */
  readonly limits?: LimitsInput;
  /** Set for a fork of another run, which is a child of this one. */
  readonly fork?: ForkInput;
}

/** One of several children that start together. */
export interface SpawnRequest {
  readonly agent: string;
  readonly input?: SpawnInput;
}

/** How several children that start together depend on each other. */
export interface SpawnAllOptions {
  /** What happens to the others when one fails. Default `end`: they are ended too. */
  readonly onFailure?: 'end' | 'continue';
  /** Called as each ends, while the others go on; `spawnAll` waits for it. */
  readonly onEnd?: (end: SpawnEnd) => Promise<void> | void;
}

/** One of several children that started together has ended. */
export interface SpawnEnd {
  /** Its place in the list. */
  readonly index: number;
  readonly result: SpawnResult;
  /** Runs another child after it, once; all such children share the remaining limits evenly. */
  readonly follow: (request: SpawnRequest) => Promise<SpawnResult>;
}

/** How a child ended; `text` says why there is no value. */
export type SpawnResult =
  | { readonly kind: 'value'; readonly value: Json; readonly step: Step }
  | { readonly kind: 'failed'; readonly text: string; readonly failure: ChildFailure }
  /** A limit with `onReach: 'refuse'` left no room. */
  | { readonly kind: 'refused'; readonly text: string; readonly breach: Breach };

/** A question of a loop; without `free` only its options are answers. */
export type PersonQuestion = Omit<Question, 'free'> & Partial<Pick<Question, 'free'>>;

/** How a question ended; `text` says why there is no value. */
export type PersonReply =
  | { readonly kind: 'answered'; readonly value: Json }
  /** No answer came in time, and there is no default. */
  | { readonly kind: 'unanswered'; readonly text: string }
  /** A limit with `onReach: 'refuse'` left no room. */
  | { readonly kind: 'refused'; readonly text: string; readonly breach: Breach };

/** The cancel message of children whose work is no longer needed. */
export const SIBLING_FAILED = 'another run that began with it gave no value';

/** A child that a loop starts. */
export interface LoopChild {
  /** Unique in the run. */
  readonly callId: string;
  readonly agent: string;
  readonly input: SpawnInput;
  readonly starting?: StartGroup;
  readonly onAbort?: string;
}

/** Runs one child; leaves the iteration when the run must stop. */
export async function spawn(
  { run, open }: Iteration,
  { input, ...child }: LoopChild,
): Promise<SpawnResult> {
  leaveIfAsked(run);
  const { task = '', ...given } = input;
  open.count += 1;
  const outcome = await runChild(run, {
    ...child,
    input: { ...given, task: typeof task === 'string' ? { text: task } : task },
  });
  open.count -= 1;
  switch (outcome.kind) {
    case 'value':
    case 'refused':
      return outcome;
    case 'failed':
      return { kind: 'failed', text: outcome.text, failure: outcome.failure };
    case 'stopped':
      return leaveStopped(run);
  }
}

/** Several children that a loop starts together. */
export interface LoopChildren {
  readonly children: readonly LoopChild[];
  readonly options: SpawnAllOptions;
  /** The child that follows another one; its id is the next of the iteration. */
  readonly followerOf: (request: SpawnRequest, starting: StartGroup) => LoopChild;
}

/** Runs several at once. All are awaited, even those that the first failure has ended. */
export async function spawnTogether(
  iteration: Iteration,
  { children, options, followerOf }: LoopChildren,
): Promise<readonly SpawnResult[]> {
  const { onFailure = 'end', onEnd } = options;
  let endsOthers = onFailure === 'end';
  const followers: StartGroup = { children: children.length };
  const results = await Promise.allSettled(
    children.map(async (child, index) => {
      let isFollowed = false;
      const follow = (request: SpawnRequest): Promise<SpawnResult> => {
        isFollowed = true;
        return spawn(iteration, followerOf(request, followers));
      };
      try {
        const result = await spawn(iteration, child);
        if (result.kind !== 'value' && endsOthers) {
          endsOthers = false;
          iteration.run.host.abort();
        }
        const ended = onEnd?.({ index, result, follow });
        if (ended !== undefined) await ended;
        return result;
      } finally {
        if (!isFollowed) followers.children -= 1;
      }
    }),
  );
  return results.map((result) => {
    if (result.status === 'fulfilled') return result.value;
    throw result.reason;
  });
}

/** Gets the budget for `count` more children; returns the limit that has no room for them. */
export async function roomForChildren(
  { run, open }: Iteration,
  count: number,
): Promise<Breach | null> {
  leaveIfAsked(run);
  if (count === 0) return null;
  open.count += 1;
  const budget = ensureBudget(run, { [CHILDREN]: count });
  // Do not await undefined: a recall could take the budget meanwhile, and no more would be
  // requested.
  if (budget !== undefined) await budget;
  open.count -= 1;
  leaveIfAsked(run);
  return run.wouldCross([CHILDREN], { [CHILDREN]: count - 1 });
}

const CHILDREN = 'agent:children';

/** A question that a loop asks. */
export interface LoopQuestion {
  /** Unique in the run. */
  readonly callId: string;
  readonly question: PersonQuestion;
  /** Whether it is the first thing in the iteration, so that another link can start it again. */
  readonly isFirst: boolean;
}

/** Asks a person, or waits for the answer to the question of an earlier link. */
export async function askOne(
  { run, open, reads }: Iteration,
  { callId, question, isFirst }: LoopQuestion,
): Promise<PersonReply> {
  leaveIfAsked(run);
  const gate = isFirst ? restartGate(run) : CLOSED_GATE;
  const iteration: Iteration = { run, open, gate, reads };
  const known = (run.state.pending ?? []).find(
    (item): item is QuestionItem => item.kind === 'question' && item.callId === callId,
  );
  open.count += 1;
  const outcome: AskOutcome =
    known === undefined
      ? await askPerson(iteration, callId, { free: false, ...question })
      : await awaitAnswer(iteration, known);
  open.count -= 1;
  switch (outcome.kind) {
    case 'answered':
    case 'refused':
      return outcome;
    case 'unanswered':
      return { kind: 'unanswered', text: outcome.message };
    case 'unasked':
    case 'stopped':
      return leaveStopped(run);
  }
}

/** The gate of an iteration that has only asked: the next link starts it again. */
function restartGate(run: Run): HandoverGate {
  const startedAt = run.state.turn?.startedAt ?? run.host.now();
  const turn = { startedAt, calls: { results: [], begun: [] } };
  return createGate(run, () => Promise.resolve(turn));
}

function leaveStopped(run: Run): never {
  leaveIfAsked(run);
  throw leaving({ kind: 'stopped' });
}
