/**
 * What a loop asks of others than models and tools: child runs, and people. Asynchronous, like
 * `work.ts`, of which it is a part.
 */
import type { Json, JsonObject } from '../base/json.ts';
import type { Breach } from '../contract/limit.ts';
import type { Task } from '../base/message.ts';
import type { Question } from '../toolchain/ask-user.ts';
import { askPerson, awaitAnswer, type AskOutcome } from '../people/ask-person.ts';
import { leaveIfAsked } from '../ask/ask-model.ts';
import { leaving } from '../run/ending.ts';
import type { Host } from '../run/host.ts';
import { makeRoom } from '../run/make-room.ts';
import type { QuestionItem } from '../contract/pending.ts';
import type { Run } from '../run/run.ts';
import type { OpenCount } from '../run/open-count.ts';
import { runChild, type ChildFailure, type Starters } from './run-child.ts';
import type { Step, StepMemory } from '../contract/step.ts';
import { createDoor, SHUT_DOOR, type Door } from '../people/wait-for-person.ts';

/** What a loop starts a child with. */
export interface SpawnInput {
  /** Left out for an agent whose template or context says all. */
  readonly task?: string | Task;
  readonly context?: JsonObject | Step;
  /** What keys of the context mean. */
  readonly contextDescriptions?: { readonly [name: string]: string };
  /** Id of a model entry in place of the agent's own. */
  readonly model?: string;
  /** What programs of an earlier run left: its Step's `memory`. */
  readonly memory?: StepMemory;
}

/** One of several children that start together. */
export interface SpawnWish {
  readonly agent: string;
  readonly input?: SpawnInput;
}

/** How several children that start together stand to each other. */
export interface SpawnAllOptions {
  /** What the first without a value means for the others. Default `end`: theirs is of no use. */
  readonly onFailure?: 'end' | 'continue';
}

/** What a child came to; `text` says why there is no value. */
export type SpawnResult =
  | { readonly kind: 'value'; readonly value: Json; readonly step: Step }
  | { readonly kind: 'failed'; readonly text: string; readonly failure: ChildFailure }
  /** A limit with `onReach: 'refuse'` left no room. */
  | { readonly kind: 'refused'; readonly text: string; readonly breach: Breach };

/** A question of a loop; without `free` only its options are answers. */
export type PersonQuestion = Omit<Question, 'free'> & Partial<Pick<Question, 'free'>>;

/** What came of a question; `text` says why there is no value. */
export type PersonReply =
  | { readonly kind: 'answered'; readonly value: Json }
  /** Nobody answered in time, and there is no default. */
  | { readonly kind: 'unanswered'; readonly text: string }
  /** A limit with `onReach: 'refuse'` left no room. */
  | { readonly kind: 'refused'; readonly text: string; readonly breach: Breach };

/** What children are told whose work is of no use any more. */
export const SIBLING_FAILED = 'another run that began with it gave no value';

/** A child that a loop wants. */
export interface LoopChild {
  /** Unique in the run. */
  readonly callId: string;
  readonly agent: string;
  readonly input: SpawnInput;
  readonly starters?: Starters;
  readonly onAbort?: string;
}

/** Runs one child; leaves the iteration when the run is to stop. */
export async function spawn(
  run: Run,
  host: Host,
  open: OpenCount,
  { input, ...wish }: LoopChild,
): Promise<SpawnResult> {
  leaveIfAsked(run, host);
  const { task = '', ...given } = input;
  open.count += 1;
  const outcome = await runChild(run, host, {
    ...wish,
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
      return leaveStopped(run, host);
  }
}

/** Runs several at once. All are awaited, also those that the first without a value has ended. */
export async function spawnTogether(
  run: Run,
  host: Host,
  open: OpenCount,
  wishes: readonly LoopChild[],
  onFailure: 'end' | 'continue',
): Promise<readonly SpawnResult[]> {
  let endsOthers = onFailure === 'end';
  const results = await Promise.allSettled(
    wishes.map(async (wish) => {
      const result = await spawn(run, host, open, wish);
      if (result.kind === 'value' || !endsOthers) return result;
      endsOthers = false;
      host.abort();
      return result;
    }),
  );
  return results.map((result) => {
    if (result.status === 'fulfilled') return result.value;
    throw result.reason;
  });
}

/** Sees to room for `count` more children below the run; gives the limit that has none. */
export async function roomForChildren(
  run: Run,
  host: Host,
  open: OpenCount,
  count: number,
): Promise<Breach | null> {
  leaveIfAsked(run, host);
  if (count === 0) return null;
  open.count += 1;
  const room = makeRoom(run, host, { [CHILDREN]: count });
  // No wait without need: a recall in between would find the room gone, and nobody to ask for more.
  if (room !== undefined) await room;
  open.count -= 1;
  leaveIfAsked(run, host);
  return run.wouldCross([CHILDREN], { [CHILDREN]: count - 1 });
}

const CHILDREN = 'agent:children';

/** A question that a loop asks. */
export interface LoopQuestion {
  /** Unique in the run. */
  readonly callId: string;
  readonly question: PersonQuestion;
  /** Whether nothing else of the iteration was done, so that it may begin anew in another link. */
  readonly isFirst: boolean;
}

/** Asks a person, or waits for the answer to what an earlier link has asked. */
export async function askOne(
  run: Run,
  host: Host,
  open: OpenCount,
  { callId, question, isFirst }: LoopQuestion,
): Promise<PersonReply> {
  leaveIfAsked(run, host);
  const door = isFirst ? restartingDoor(run, host) : SHUT_DOOR;
  const known = (run.state.pending ?? []).find(
    (item): item is QuestionItem => item.kind === 'question' && item.callId === callId,
  );
  open.count += 1;
  const outcome: AskOutcome =
    known === undefined
      ? await askPerson(run, host, callId, { free: false, ...question }, door)
      : await awaitAnswer(run, host, known, door);
  open.count -= 1;
  switch (outcome.kind) {
    case 'answered':
    case 'refused':
      return outcome;
    case 'unanswered':
      return { kind: 'unanswered', text: outcome.message };
    case 'unasked':
    case 'stopped':
      return leaveStopped(run, host);
  }
}

/** A door for an iteration that has done nothing but ask: the next link begins it anew. */
function restartingDoor(run: Run, host: Host): Door {
  const startedAt = run.state.turn?.startedAt ?? host.now();
  const turn = { startedAt, calls: { results: [], begun: [] } };
  return createDoor(run, host, () => Promise.resolve(turn));
}

function leaveStopped(run: Run, host: Host): never {
  leaveIfAsked(run, host);
  throw leaving({ kind: 'stopped' });
}
