/**
 * The iteration of the built-in modes: ask, read, then calls, an answer, or another try. What a mode
 * is stands in `mode.ts`; here it is only driven.
 */
import { errorText } from '../base/error-text.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { FormattedSection, ToolCall } from '../base/message.ts';
import type { Reply } from '../contract/model.ts';
import { roundFloats } from '../base/round-floats.ts';
import { IMPORTANCE_KEY } from '../contract/entry.ts';
import type { JudgeResult } from '../contract/outcome.ts';
import { judge, needsCheck, valuesToCheck } from '../termination/candidates.ts';
import { wouldCross } from '../limits/breach.ts';
import { leaveOf, leaving } from '../run/ending.ts';
import type { AttemptCount, ModeRules } from '../modes/mode.ts';
import type { KeptTurn } from '../run/kept-turn.ts';
import type { CallResult } from '../modes/observation.ts';
import { programFeedbackOf } from './program-turn.ts';
import { reasoningOf } from '../modes/reasoning.ts';
import type { CallTurn } from '../calls/run-calls.ts';
import type { RunState } from '../run/run-state.ts';
import { settleSections, type SettledSections } from '../modes/section-values.ts';
import type { AgentSpec } from '../contract/spec.ts';
import {
  judgementEvents,
  readingEvents,
  sectionEvents,
  unparsedEvents,
} from '../run/turn-record.ts';
import { replyText, type AnswerTurn, type ProgramTurn, type Turn } from '../contract/turn.ts';
import type { Next, TurnEnd, Work } from './work.ts';

/** The loop of a mode: one model call an iteration, and what it causes. */
export function modeLoop(mode: ModeRules): Next {
  return async (work) => {
    try {
      const { run } = work;
      const { spec } = run.state.head;
      // A turn that waited for people may have been handed over: it goes on, it is not asked again.
      const kept = run.state.turn ?? null;
      const reply = kept?.reply ?? (await work.ask());
      const turn = mode.readTurn(spec, reply, work.iteration);
      if (kept === null) for (const event of readingEvents(turn, reply)) run.record(event);
      if (turn.kind === 'malformed' && turn.ends) {
        await keepLast(work, mode, turn, reply);
        const cause = turn.problems[0]?.message ?? 'the reply could not be read';
        throw leaving({ kind: 'failed', code: turn.endsAs ?? 'unparsable_reply', cause });
      }
      // A breach leaves calls unstarted and no further try; an answer in hand is still judged.
      if (turn.kind !== 'answer' && run.state.breach !== null) {
        await keepLast(work, mode, turn, reply);
        throw leaving({ kind: 'stopped' });
      }

      const calls = callTurn(work, reply, kept);
      if (turn.kind === 'answer' && kept?.judged !== undefined) {
        return await goOnBeside(work, mode, turn, reply, kept.judged, calls);
      }
      // Sections are checked beside the calls, at most one check for each reply.
      const checking = needsWorker(spec, turn) ? checkTurn(work, mode, turn, reply) : null;
      const early =
        turn.kind === 'calls' ? await callBeside(work, turn.calls, checking, calls({})) : [];
      const program =
        turn.kind === 'program' ? await programBeside(work, turn, checking, reply) : '';
      const checked = checking === null ? null : await checking;
      const sections = settleSections(turn, checked?.sections ?? null);
      for (const event of sectionEvents(sections, reply)) run.record(event);
      if (turn.kind !== 'answer') {
        const feedback = ownFeedback(turn);
        const outcome = { sectionErrors: sections.errors, feedback, results: early, program };
        return goOn(
          work,
          mode.turnMessages(spec, turn, reply, outcome),
          metadataOf(sections, early),
        );
      }

      const verdicts = needsCheck(spec.answer) ? (checked?.verdicts ?? []) : null;
      const judgement = judge(turn.candidates, verdicts);
      const text = replyText(reply);
      for (const event of judgementEvents(judgement, checked, text)) run.record(event);
      for (const event of unparsedEvents(turn, judgement, reply)) run.record(event);
      if (judgement.kind === 'accepted') {
        const entry = { messages: mode.answerMessages(reply), ...metadataOf(sections, []) };
        const { floatPrecision: digits } = spec;
        const { value } = judgement;
        return {
          kind: 'end',
          value: digits === undefined ? value : roundFloats(value, digits),
          entry,
        };
      }
      if (mode.exhausted !== undefined && isLastTurn(run.state)) {
        work.append({ messages: mode.answerMessages(reply) });
        throw leaving({ kind: 'failed', ...mode.exhausted(judgement, reply) });
      }
      const feedback = mode.answerFeedback(spec, turn, judgement, reply, attemptOf(run.state));
      return await goOnBeside(work, mode, turn, reply, { feedback, sections }, calls);
    } catch (error) {
      throw asBug(error);
    }
  };
}

/** Whether no further iteration may begin. */
function isLastTurn({ limits, stats }: RunState): boolean {
  return wouldCross(limits, stats, ['agent:iterations']) !== null;
}

/** Which turn of how many it is, by the limit on iterations. */
function attemptOf(state: RunState): AttemptCount {
  return { attempt: state.iteration, of: iterationsOf(state) };
}

/** How many iterations a run may have; null: as many as it likes. */
export function iterationsOf({ limits }: Pick<RunState, 'limits'>): number | null {
  const limit = limits.find(
    ({ kind, key, onReach }) =>
      kind === 'exact' && key === '$self:agent:iterations' && onReach !== 'refuse',
  );
  return limit?.max ?? null;
}

/** What the calls of a turn know of it, once it is judged as far as it will be. */
function callTurn(
  work: Work,
  reply: Reply,
  kept: KeptTurn | null,
): (judged: Pick<KeptTurn, 'judged'>) => CallTurn {
  const { spec } = work.run.state.head;
  const reasoning = spec.tools.some(({ approval }) => approval !== undefined)
    ? reasoningOf(spec, reply)
    : '';
  return (judged) => ({
    reasoning,
    ...(kept === null ? {} : { kept: kept.calls }),
    keep: (calls) => ({ reply, startedAt: work.startedAt, calls, ...judged }),
  });
}

/** Runs the calls beside an answer that was judged first and not accepted. */
async function goOnBeside(
  work: Work,
  mode: ModeRules,
  turn: AnswerTurn,
  reply: Reply,
  judged: NonNullable<KeptTurn['judged']>,
  calls: ReturnType<typeof callTurn>,
): Promise<TurnEnd> {
  const { feedback, sections } = judged;
  const { attached } = turn;
  const results =
    attached?.kind === 'calls' ? await work.call(attached.calls, calls({ judged })) : [];
  const program =
    attached?.kind === 'program' ? await programFeedbackOf(work, attached, reply, { judged }) : '';
  const outcome = { sectionErrors: sections.errors, feedback, results, program };
  const messages = mode.turnMessages(work.run.state.head.spec, turn, reply, outcome);
  return goOn(work, messages, metadataOf(sections, results));
}

/** Nothing of a user's runs in the loop of a mode: what else is thrown is a bug, and must not look like his. */
export function asBug(error: unknown): unknown {
  if (leaveOf(error) !== undefined) return error;
  const cause = errorText(error);
  return leaving({ kind: 'failed', code: 'internal', cause });
}

/** Runs calls while a check is under way, whose failure is heard when the calls are done. */
function callBeside(
  work: Work,
  calls: readonly ToolCall[],
  checking: Promise<unknown> | null,
  turn: CallTurn,
): Promise<readonly CallResult[]> {
  checking?.catch(() => undefined);
  return work.call(calls, turn);
}

/** The same for a program. */
function programBeside(
  work: Work,
  turn: ProgramTurn,
  checking: Promise<unknown> | null,
  reply: Reply,
): Promise<string> {
  checking?.catch(() => undefined);
  return programFeedbackOf(work, turn, reply, {});
}

/**
 * What an aborted check leaves open must not hide that calls beside it ran: null then. Nor that there
 * was a reply: after an interruption the model sees what it had said.
 */
async function checkTurn(
  work: Work,
  mode: ModeRules,
  turn: Turn,
  reply: Reply,
): Promise<JudgeResult | null> {
  try {
    return await work.check(valuesOf(turn));
  } catch (error) {
    const left = leaveOf(error)?.kind;
    const hasWork = turn.kind === 'calls' || turn.kind === 'program';
    if (hasWork && left !== 'failed') return null;
    if (left === 'interrupted') {
      const { spec } = work.run.state.head;
      const { sectionErrors } = turn;
      const outcome = { sectionErrors, feedback: ownFeedback(turn), results: [] };
      const messages = mode.turnMessages(spec, turn, reply, outcome);
      if (messages.length > 0) work.append({ messages });
    }
    throw error;
  }
}

/**
 * The reply of a turn that nothing comes after: it was paid for, and it shows what the run ended of. No
 * request will have it, so the history alone keeps it. Its calls do not start: the run has a breach.
 */
async function keepLast(work: Work, mode: ModeRules, turn: Turn, reply: Reply): Promise<void> {
  const { run, iteration } = work;
  const results = turn.kind === 'calls' ? await work.call(turn.calls) : [];
  const outcome = { sectionErrors: turn.sectionErrors, feedback: ownFeedback(turn), results };
  const messages = mode.turnMessages(run.state.head.spec, turn, reply, outcome);
  if (messages.length > 0) run.append({ iteration, origin: 'original', messages }, 'history');
}

/** What the model is told of a reply that could not be read. */
function ownFeedback(turn: Turn): readonly FormattedSection[] {
  return turn.kind === 'malformed' ? turn.feedback : [];
}

function goOn(
  work: Work,
  messages: Parameters<Work['append']>[0]['messages'],
  metadata: { readonly metadata?: JsonObject },
): TurnEnd {
  if (messages.length > 0) work.append({ messages, ...metadata });
  work.leaveIfAsked();
  return { kind: 'continue' };
}

function needsWorker(spec: AgentSpec, turn: Turn): boolean {
  if (turn.sections.length > 0) return true;
  return turn.kind === 'answer' && needsCheck(spec.answer) && answersOf(turn).length > 0;
}

function valuesOf(turn: Turn): Parameters<Work['check']>[0] {
  return { answers: turn.kind === 'answer' ? answersOf(turn) : [], sections: turn.sections };
}

function answersOf(turn: AnswerTurn): readonly Json[] {
  return valuesToCheck(turn.candidates);
}

function metadataOf(
  sections: SettledSections,
  results: readonly CallResult[],
): { readonly metadata?: JsonObject } {
  const importance = Math.max(...results.map((result) => result.importance ?? -Infinity));
  const metadata = {
    ...(Object.keys(sections.values).length === 0 ? {} : { sections: sections.values }),
    ...(importance === -Infinity ? {} : { [IMPORTANCE_KEY]: importance }),
  };
  return Object.keys(metadata).length === 0 ? {} : { metadata };
}
