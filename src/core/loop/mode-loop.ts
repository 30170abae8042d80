/**
 * The iteration of the built-in modes: take the kept turn or ask, read, record, then run calls or a
 * program, or judge an answer, and go on. The rules of the mode decide; this file carries them out.
 */
import type { JudgeResult } from '../contract/outcome.ts';
import {
  malformedTurn,
  plainTurn,
  replyText,
  UNUSABLE_REPLY,
  type AnswerTurn,
  type Turn,
} from '../contract/turn.ts';
import type { Reply } from '../contract/model.ts';
import type { ModeRules, TurnNote } from '../modes/mode.ts';
import { problemLines } from '../modes/program-answer.ts';
import { settleSections, type SettledSections } from '../modes/section-values.ts';
import { leaveOf, leaving } from '../run/ending.ts';
import type { KeptTurn } from '../run/kept-turn.ts';
import type { RunState } from '../run/run-state.ts';
import {
  judgementEvents,
  readingEvents,
  sectionEvents,
  unparsedEvents,
} from '../run/turn-record.ts';
import { withLastText } from '../run/last-text.ts';
import { endOrContinue } from './final-results.ts';
import { goOn, mustGoOn } from './go-on.ts';
import { refuseCopy } from './refuse-copy.ts';
import { fitJudgement, isTooLarge, shortened } from '../run/step-size.ts';
import { judge, needsCheck, valuesToCheck } from '../termination/candidates.ts';
import { errorSection } from '../termination/feedback.ts';
import { withFoundTools } from '../tool-search/stubs.ts';
import { runProgramTurn } from './program-turn.ts';
import {
  acceptAnswer,
  callTurnOf,
  continueRun,
  keepLast,
  messagesOf,
  metadataOf,
  positionOf,
  programOrderOf,
  toInternalError,
  type OpenTurn,
} from './turn.ts';
import type { Next, TurnEnd } from './work.ts';

/** The loop of a mode: at most one reply an iteration, and what follows from it. */
export function modeLoop(mode: ModeRules): Next {
  return async (work) => {
    try {
      const { run, iteration } = work;
      // A turn that was handed over continues; the model is not asked again.
      const turnBefore = run.state.turn;
      const kept = turnBefore?.reply === undefined ? null : turnBefore;
      let reply =
        kept?.reply ?? (await (mode.readsBeside === true ? work.askAndRead() : work.ask()));
      if (kept === null && mustGoOn(work, mode, reply)) reply = await goOn(work, reply);
      const { head, found, hadNoSection = false } = run.state;
      const spec = withFoundTools(head.spec, found);
      const read = (): Turn =>
        unusableTurn(mode, reply) ?? mode.readTurn(spec, reply, iteration, { hadNoSection });
      const turn = run.host.computing.run('reply', read) ?? UNREAD;
      run.showReply(reply, turn);
      if (kept === null) for (const event of readingEvents(turn, reply)) run.record(event);
      return await carryOut({ work, mode, turn, reply, kept });
    } catch (error) {
      throw toInternalError(error);
    }
  };
}

/** The turn of a reply that takes too long to read. */
const UNREAD: Turn = malformedTurn(
  plainTurn,
  'format',
  [{ code: 'unreadable', message: 'the reply takes too long to read' }],
  { feedback: [errorSection('Your reply takes too long to read. Write a shorter one.')] },
);

/**
 * The turn of a reply that its provider could not use: nothing in it runs. JSON that was refused for
 * its form is judged, so that the model reads what is wrong with it.
 */
function unusableTurn(mode: ModeRules, reply: Reply): Turn | undefined {
  const { unusable } = reply;
  if (unusable === undefined) return undefined;
  if (mode.requestsJson && replyText(reply).trim() !== '') return undefined;
  const text = `Your reply could not be used: ${unusable.replace(/\.$/, '')}. Nothing in it was run. Write it again.`;
  const problem = { code: UNUSABLE_REPLY, message: unusable };
  return malformedTurn(plainTurn, 'format', [problem], { feedback: [errorSection(text)] });
}

async function carryOut(current: OpenTurn): Promise<TurnEnd> {
  const { work, turn, kept } = current;
  if (turn.kind === 'malformed' && turn.ends) {
    keepLast(current);
    const cause = turn.problems[0]?.message ?? 'the reply could not be read';
    throw leaving({
      kind: 'failed',
      code: turn.endsAs ?? 'unparsable_reply',
      cause: withLastText(cause, replyText(current.reply)),
    });
  }
  // After a breach no call starts and no model is asked, but an answer in hand is still judged.
  if (turn.kind !== 'answer' && work.state.breach !== null) {
    keepLast(current, { results: turn.kind === 'calls' ? await work.call(turn.calls) : [] });
    throw leaving({ kind: 'stopped' });
  }
  if (turn.kind === 'answer' && kept?.judged !== undefined) {
    return continueBeside({ ...current, turn }, kept.judged, { problems: [] });
  }
  // Sections are checked while calls or a program run, at most one check for each reply.
  const checking = needsWorker(work.state, turn) ? checkTurn(current) : null;
  switch (turn.kind) {
    case 'calls': {
      // A check that fails is handled after the calls.
      checking?.catch(() => undefined);
      const results = await work.call(turn.calls, callTurnOf(current));
      const sections = settle(current, checking === null ? null : await checking);
      return endOrContinue(current, { sections, results, note: { problems: [] } });
    }
    case 'program':
      checking?.catch(() => undefined);
      return runProgramTurn({ ...current, turn }, async () =>
        settle(current, checking === null ? null : await checking),
      );
    case 'malformed': {
      const sections = settle(current, checking === null ? null : await checking);
      const problems = turn.problems.map(({ message }) => message);
      return continueRun(current, { sections, note: { problems } });
    }
    case 'answer':
      return judgeTurn({ ...current, turn }, checking === null ? null : await checking);
  }
}

/** Judges the answers of a turn, and goes on when none is accepted. */
async function judgeTurn(
  current: OpenTurn<AnswerTurn>,
  checked: JudgeResult | null,
): Promise<TurnEnd> {
  const { work, mode, turn } = current;
  const { run } = work;
  const { spec } = run.state.head;
  const sections = settle(current, checked);
  const verdicts = needsCheck(spec.answer) ? (checked?.verdicts ?? []) : null;
  const judged = judge(turn.candidates, verdicts);
  const judgement = fitJudgement(run, refuseCopy(run, judged, mode.exampleOf?.(spec)));
  const reply = isTooLarge(judgement) ? shortened(current.reply) : current.reply;
  for (const event of judgementEvents(judgement, checked, replyText(reply))) run.record(event);
  for (const event of unparsedEvents(turn, judgement, reply)) run.record(event);
  if (judgement.kind === 'accepted') {
    const entry = { messages: mode.answerMessages(reply), ...metadataOf(sections) };
    return acceptAnswer(work, judgement.value, entry);
  }
  if (turn.endsUnlessAccepted === true && judgement.kind !== 'continue') {
    keepLast({ ...current, reply });
    const cause = withLastText('the reply has no section, and is no answer', replyText(reply));
    throw leaving({ kind: 'failed', code: 'unparsable_reply', cause });
  }
  const position = positionOf(run.state);
  if (mode.whenExhausted !== undefined && position.isLast === true) {
    work.append({ messages: mode.answerMessages(reply) });
    throw leaving({ kind: 'failed', ...mode.whenExhausted(judgement, reply) });
  }
  const feedback = mode.answerFeedback(spec, turn, judgement, reply, position);
  const note = { problems: problemLines(judgement) };
  return continueBeside({ ...current, reply }, { feedback, sections }, note);
}

/** Runs the calls or the program beside an answer that was judged first and not accepted. */
async function continueBeside(
  current: OpenTurn<AnswerTurn>,
  judged: NonNullable<KeptTurn['judged']>,
  note: TurnNote,
): Promise<TurnEnd> {
  const { work, mode, turn } = current;
  const { attached } = turn;
  const results =
    attached?.kind === 'calls'
      ? await work.call(attached.calls, callTurnOf(current, { judged }))
      : [];
  let program = '';
  if (attached?.kind === 'program') {
    const report = await work.program(programOrderOf(current, attached.source, { judged }));
    program = mode.programFeedback(work.state.head, report, positionOf(work.state));
  }
  return endOrContinue(current, { ...judged, results, program, note });
}

/** Checks the values of a turn; null if aborted beside calls or a program, whose results count. */
async function checkTurn(current: OpenTurn): Promise<JudgeResult | null> {
  const { work, turn } = current;
  try {
    const answers = turn.kind === 'answer' ? valuesToCheck(turn.candidates) : [];
    return await work.check({ answers, sections: turn.sections });
  } catch (error) {
    const left = leaveOf(error)?.kind;
    const hasWork = turn.kind === 'calls' || turn.kind === 'program';
    if (hasWork && left !== 'failed') return null;
    if (left === 'interrupted') {
      // The model has to see what it wrote.
      const messages = messagesOf(current, {});
      if (messages.length > 0) work.append({ messages });
    }
    throw error;
  }
}

/** Separates the sections that fit from those that do not, and records both. */
function settle({ work, turn, reply }: OpenTurn, checked: JudgeResult | null): SettledSections {
  const sections = settleSections(turn, checked?.sections ?? null);
  for (const event of sectionEvents(sections, reply)) work.run.record(event);
  return sections;
}

/** Whether the worker has something to check. */
function needsWorker({ head }: RunState, turn: Turn): boolean {
  if (turn.sections.length > 0) return true;
  const { answer } = head.spec;
  return turn.kind === 'answer' && needsCheck(answer) && valuesToCheck(turn.candidates).length > 0;
}
