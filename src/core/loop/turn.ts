/** Carries out a turn of a mode: how it is written down, how the run goes on, how the run ends. */
import { defined } from '../base/defined.ts';
import { errorText } from '../base/error-text.ts';
import { type Json, type JsonObject, roundFloats } from '../base/json.ts';
import type { Message } from '../base/message.ts';
import type { CallTurn } from '../calls/run-calls.ts';
import { IMPORTANCE_KEY } from '../contract/entry.ts';
import type { Reply } from '../contract/model.ts';
import type { Turn } from '../contract/turn.ts';
import { wouldCross } from '../limits/breach.ts';
import type { ModeMemory, ModeRules, TurnNote, TurnOutcome, TurnPosition } from '../modes/mode.ts';
import { candidateOf, problemLines } from '../modes/program-answer.ts';
import type { SettledSections } from '../modes/section-values.ts';
import type { ProgramOrder } from '../programs/program-context.ts';
import { leaveOf, leaving } from '../run/ending.ts';
import type { KeptTurn } from '../run/kept-turn.ts';
import type { RunState } from '../run/run-state.ts';
import { judgeCandidates } from './judge.ts';
import type { NewEntry, TurnEnd, Work } from './work.ts';

/** A turn that was read and is being carried out. */
export interface OpenTurn<Kind extends Turn = Turn> {
  readonly work: Work;
  readonly mode: ModeRules;
  readonly turn: Kind;
  readonly reply: Reply;
  /** What an earlier link kept of it; null: nothing. */
  readonly kept: KeptTurn | null;
}

/** Which turn of how many it is, by the limit on iterations. */
export function positionOf({ iteration, limits, stats }: RunState): TurnPosition {
  const limit = limits.find(
    ({ kind, key, onReach }) =>
      kind === 'exact' && key === '$self:agent:iterations' && onReach !== 'refuse',
  );
  const isLast = wouldCross(limits, stats, ['agent:iterations']) !== null;
  return { attempt: iteration, of: limit?.max ?? null, isLast };
}

/** The messages of the turn and its results. */
export function messagesOf(
  { work, mode, turn, reply }: OpenTurn,
  outcome: Partial<TurnOutcome>,
): readonly Message[] {
  const { state } = work;
  return mode.turnMessages(state.head.spec, turn, reply, {
    sectionErrors: turn.sectionErrors,
    feedback: turn.kind === 'malformed' ? turn.feedback : [],
    results: [],
    position: positionOf(state),
    ...outcome,
  });
}

/**
 * Keeps the reply of the last turn, only in the history since no request follows: it was paid for,
 * and it shows why the run ended.
 */
export function keepLast(current: OpenTurn, outcome: Partial<TurnOutcome> = {}): void {
  const { run, iteration } = current.work;
  const messages = messagesOf(current, outcome);
  if (messages.length > 0) run.append({ iteration, origin: 'original', messages }, 'history');
}

/** The result of a turn without an answer. */
export interface TurnResult extends Partial<TurnOutcome> {
  readonly sections: SettledSections;
  /** What the mode may remember of it. */
  readonly note: TurnNote;
}

/** Ends a turn without an answer: the model is asked again, if a turn is left. */
export function continueRun(
  current: OpenTurn,
  { sections, note, ...outcome }: TurnResult,
): TurnEnd | Promise<TurnEnd> {
  const { work, mode } = current;
  const messages = messagesOf(current, { ...outcome, sectionErrors: sections.errors });
  const metadata = metadataOf(sections, outcome.results);
  if (messages.length > 0) work.append({ messages, ...metadata });
  work.leaveIfAsked();
  return mode.memory === undefined ? { kind: 'continue' } : remember(work, mode.memory, note);
}

/** Remembers the turn. When no turn is left, the best value that fits becomes the answer. */
async function remember(work: Work, memory: ModeMemory, note: TurnNote): Promise<TurnEnd> {
  const { spec } = work.state.head;
  let { problems } = note;
  if (positionOf(work.state).isLast === true) {
    for (const value of memory.fallbacks(spec, memory.next(spec, work.state.data, note))) {
      const candidates = [candidateOf(spec, { value })];
      const text = JSON.stringify(value);
      const judgement = await judgeCandidates(work, candidates, text, 'if accepted');
      if (judgement.kind === 'accepted') {
        return { ...acceptAnswer(work, judgement.value), fallbackUsed: true };
      }
      // If nothing else was wrong, the problem is that the newest value is not an answer.
      if (problems.length === 0) problems = problemLines(judgement);
    }
  }
  const data = memory.next(spec, work.state.data, { ...note, problems });
  if (data !== null) work.setData(data);
  return { kind: 'continue' };
}

/** The end of a run with an answer. */
export function acceptAnswer(
  work: Work,
  value: Json,
  entry?: NewEntry,
): Extract<TurnEnd, { readonly kind: 'end' }> {
  const { floatPrecision } = work.state.head.spec;
  const rounded = floatPrecision === undefined ? value : roundFloats(value, floatPrecision);
  return { kind: 'end', value: rounded, ...defined({ entry }) };
}

/** What an entry of the turn keeps besides its messages. */
export function metadataOf(
  sections: SettledSections,
  results: TurnOutcome['results'] = [],
): { readonly metadata?: JsonObject } {
  const importance = Math.max(...results.map((result) => result.importance ?? -Infinity));
  const metadata: JsonObject = {
    ...(Object.keys(sections.values).length === 0 ? {} : { sections: sections.values }),
    ...(importance === -Infinity ? {} : { [IMPORTANCE_KEY]: importance }),
  };
  return Object.keys(metadata).length === 0 ? {} : { metadata };
}

/** What the calls of a turn know of it; `judged` when its answer was judged before them. */
export function callTurnOf(
  { work, mode, turn, reply, kept }: OpenTurn,
  judged: Pick<KeptTurn, 'judged'> = {},
): CallTurn {
  const { spec } = work.state.head;
  const needsReasoning = [...spec.tools, ...(spec.stubs ?? [])].some(
    ({ approval }) => approval !== undefined,
  );
  return {
    reasoning: needsReasoning ? mode.reasoning(spec, turn, reply) : '',
    ...defined({ kept: kept?.calls }),
    keep: (calls) => ({ reply, startedAt: work.startedAt, calls, ...judged }),
  };
}

/** The program of a turn, as work to do. */
export function programOrderOf(
  { work, mode, turn, reply, kept }: OpenTurn,
  source: string,
  judged: Pick<KeptTurn, 'judged'> = {},
): ProgramOrder {
  const { iteration, startedAt, state } = work;
  return {
    source,
    programId: `${iteration}.p`,
    reasoning: mode.reasoning(state.head.spec, turn, reply),
    ...defined({ kept: kept?.program }),
    keep: (program) => ({
      reply,
      startedAt,
      calls: { results: [], begun: [] },
      program,
      ...judged,
    }),
  };
}

/** No user code runs in the loop of a mode, so any other error is our bug, reported as internal. */
export function toInternalError(error: unknown): unknown {
  if (leaveOf(error) !== undefined) return error;
  return leaving({ kind: 'failed', code: 'internal', cause: errorText(error) });
}
