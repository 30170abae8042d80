/**
 * The iteration of the mode `lisp`: ask, find the program, run it, and act on what it came to. Asynchronous
 * like `mode-loop.ts`, whose place it takes; what the model is told is made in `core/program`.
 */
import type { Json } from '../base/json.ts';
import { wouldCross } from '../limits/breach.ts';
import type { Reply } from '../contract/model.ts';
import { nativeFeedback, programFeedback, type Rejection } from '../program-text/feedback.ts';
import { hiddenTexts } from '../program-text/hidden-values.ts';
import { planLines, turnCounts, turnKind, turnsText } from '../program-text/turn-texts.ts';
import { roundFloats } from '../base/round-floats.ts';
import { alignValue } from '../signature/align-value.ts';
import { judge, needsCheck } from '../termination/candidates.ts';
import type { Candidate, Judgement } from '../contract/judgement.ts';
import { judgementFeedback } from '../termination/feedback.ts';
import { clip } from '../text/cut.ts';
import { leaveOf, leaving } from '../run/ending.ts';
import { lispMemo, withValue, type LispMemo } from '../run/lisp-memo.ts';
import { asBug, iterationsOf } from './mode-loop.ts';
import { lispMode, lispOptions } from '../modes/lisp.ts';
import { plainText } from '../modes/plain-messages.ts';
import type { ProgramReport } from '../contract/report.ts';
import { judgementEvents, readingEvents } from '../run/turn-record.ts';
import {
  replyText,
  type AnswerTurn,
  type MalformedTurn,
  type ProgramTurn,
} from '../contract/turn.ts';
import type { Next, TurnEnd, Work } from './work.ts';

/** The loop of mode `lisp`: one model call an iteration, and the program that it wrote. */
export const lispLoop: Next = async (work) => {
  try {
    const { run } = work;
    const { spec } = run.state.head;
    // A program that waited for people may have been handed over: it goes on, nothing is asked again.
    const kept = run.state.turn ?? null;
    const reply = kept?.reply ?? (await work.ask());
    const turn = lispMode.readTurn(spec, reply, work.iteration);
    if (kept === null) for (const event of readingEvents(turn, reply)) run.record(event);
    switch (turn.kind) {
      case 'malformed':
        return await malformedTurn(work, turn, reply);
      case 'answer':
        return await textTurn(work, turn, reply);
      case 'program':
        return await programTurn(work, turn, reply);
      case 'calls':
        throw new Error('Expected a program or text in mode lisp, got calls.');
    }
  } catch (error) {
    throw asBug(error);
  }
};

/** The parts of a turn that decide what happens with it. */
interface Place {
  /** The only turn of an agent without tools: nothing is asked again. */
  readonly isSingleShot: boolean;
  /** The value of the only program is the answer. */
  readonly isOneTurn: boolean;
  readonly isExplicit: boolean;
  /** A `return` is due: the last work turn, or one to repair. */
  readonly mustReturn: boolean;
  /** No further iteration may begin. */
  readonly isLast: boolean;
  readonly turns: string;
}

function placeOf({ state, iteration }: Work): Place {
  const { spec } = state.head;
  const lisp = lispOptions(spec);
  const counts = turnCounts(lisp, iterationsOf(state));
  const isOneTurn = lisp.maxTurns === 1 && lisp.retryTurns === 0 && lisp.completion === 'implicit';
  const isLast = wouldCross(state.limits, state.stats, ['agent:iterations']) !== null;
  return {
    isSingleShot: isOneTurn && spec.tools.length === 0,
    isOneTurn,
    isExplicit: lisp.completion === 'explicit',
    mustReturn: isLast || turnKind(counts, iteration) !== 'work',
    isLast,
    turns: isLast ? '' : turnsText(counts, iteration),
  };
}

/** A reply that is no program. */
async function malformedTurn(work: Work, turn: MalformedTurn, reply: Reply): Promise<TurnEnd> {
  const place = placeOf(work);
  const [problem = { code: 'no_code_found', message: '' }] = turn.problems;
  const text = [plainText(turn.feedback), place.turns].filter((part) => part !== '').join('\n');
  const outcome = { sectionErrors: [], feedback: [], results: [], program: text };
  const { spec } = work.state.head;
  const messages = lispMode.turnMessages(spec, turn, reply, outcome);
  if (place.isSingleShot || work.state.breach !== null) {
    keepInHistory(work, messages);
    if (work.state.breach !== null) throw leaving({ kind: 'stopped' });
    const code = problem.code === 'multiple_code_blocks' ? problem.code : 'no_code_found';
    throw leaving({ kind: 'failed', code, cause: problem.message });
  }
  return goOn(
    work,
    messages,
    noted(
      work,
      turn.problems.map(({ message }) => message),
    ),
    place,
  );
}

/** With the native transport a reply without a call is the answer, judged as in `chat`. */
async function textTurn(work: Work, turn: AnswerTurn, reply: Reply): Promise<TurnEnd> {
  const place = placeOf(work);
  const { spec } = work.state.head;
  const judgement = await judged(work, turn.candidates, replyText(reply));
  if (judgement.kind === 'accepted')
    return accepted(work, judgement.value, lispMode.answerMessages(reply));
  const feedback = lispMode.answerFeedback(spec, turn, judgement, reply, { attempt: 1, of: null });
  const text = [plainText(feedback), place.turns].filter((part) => part !== '').join('\n');
  const outcome = { sectionErrors: [], feedback: [], results: [], program: text };
  const messages = lispMode.turnMessages(spec, turn, reply, outcome);
  return goOn(work, messages, noted(work, problemLines(judgement)), place);
}

/** Runs the program and acts on what it came to. */
async function programTurn(work: Work, turn: ProgramTurn, reply: Reply): Promise<TurnEnd> {
  const { run, iteration, startedAt } = work;
  const messagesFor = (text: string): Messages => {
    const outcome = { sectionErrors: [], feedback: [], results: [], program: text };
    return lispMode.turnMessages(run.state.head.spec, turn, reply, outcome);
  };
  if (run.state.breach !== null) {
    keepInHistory(work, messagesFor(''));
    throw leaving({ kind: 'stopped' });
  }
  const { turn: kept } = run.state;
  const report = await work.program({
    source: turn.source,
    programId: `${iteration}.p`,
    reasoning: turn.reasoning ?? '',
    ...(kept?.program === undefined ? {} : { kept: kept.program }),
    keep: (program) => ({ reply, startedAt, calls: { results: [], begun: [] }, program }),
  });
  const place = placeOf(work);
  const told = (rejection?: Rejection): Messages =>
    messagesFor(feedbackOf(work, report, place, rejection));
  switch (report.outcome) {
    case 'failed':
      keepInHistory(work, messagesFor(''));
      throw leaving(refusalOf(report));
    case 'error': {
      const { reason, message } = report.error ?? { reason: 'internal', message: '' };
      if (place.isSingleShot) {
        keepInHistory(work, messagesFor(''));
        work.leaveIfAsked();
        throw leaving({ kind: 'failed', code: reason, cause: message });
      }
      return goOn(work, told(), noted(work, [message]), place);
    }
    case 'returned':
      return returned(work, report, place, told, messagesFor);
    case 'value':
      if (place.isOneTurn) return returned(work, report, place, told, messagesFor);
      if (place.isExplicit && place.mustReturn) {
        keepInHistory(work, messagesFor(''));
        const cause = 'The last turn ended without `(return …)`.';
        throw leaving({ kind: 'failed', code: 'must_return_missing', cause });
      }
      return goOn(work, told(), valued(work, report, place), place);
  }
}

type Messages = ReturnType<typeof lispMode.turnMessages>;

/** What a program gave as the answer, judged. */
async function returned(
  work: Work,
  report: ProgramReport,
  place: Place,
  told: (rejection?: Rejection) => Messages,
  messagesFor: (text: string) => Messages,
): Promise<TurnEnd> {
  const { answer } = work.state.head.spec;
  let judgement: Judgement;
  try {
    const text = JSON.stringify(report.value ?? null);
    judgement = await judged(work, [candidateOf(work, report)], text);
  } catch (error) {
    // The program ran: whoever interrupts must not hide from the model what it did.
    if (leaveOf(error)?.kind === 'interrupted') work.append({ messages: told() });
    throw error;
  }
  if (judgement.kind === 'accepted') {
    return accepted(work, judgement.value, answerOnly(messagesFor('')));
  }
  const problems = problemLines(judgement);
  if (place.isSingleShot) {
    keepInHistory(work, messagesFor(''));
    const details = { problems, value: report.value ?? null };
    const cause = `no answer could be used: ${problems[0] ?? 'the answer was not accepted'}`;
    throw leaving({ kind: 'failed', code: 'validation_error', cause, details });
  }
  const rejection = { problems, output: answer.output ?? null };
  return goOn(work, told(rejection), noted(work, problems), place);
}

/** Without feedback there is nothing behind the program. */
function answerOnly(messages: Messages): Messages {
  return messages.filter(({ role }) => role !== 'user');
}

/** What a program gave, as a candidate for the answer. */
export function candidateOf(work: Work, { value, notJson }: ProgramReport): Candidate {
  const { output } = work.state.head.spec.answer;
  if (value === undefined) {
    const { path = '', message = 'The value has no JSON form.' } = notJson ?? {};
    const code = 'not_json';
    return { kind: 'unreadable', problems: [{ code, message, ...(path === '' ? {} : { path }) }] };
  }
  return { kind: 'value', value: output === undefined ? value : alignValue(output, value) };
}

/** Checks candidates as every mode does, and records what came of it. */
export async function judged(
  work: Work,
  candidates: readonly Candidate[],
  text: string,
  recorded: 'always' | 'if accepted' = 'always',
): Promise<Judgement> {
  const { answer } = work.state.head.spec;
  const values = candidates.flatMap((it) => (it.kind === 'value' ? [it.value] : []));
  const isChecked = needsCheck(answer);
  const checked =
    isChecked && values.length > 0 ? await work.check({ answers: values, sections: [] }) : null;
  const judgement = judge(candidates, isChecked ? (checked?.verdicts ?? []) : null);
  if (recorded === 'always' || judgement.kind === 'accepted') {
    for (const event of judgementEvents(judgement, checked, text)) work.run.record(event);
  }
  return judgement;
}

/** Why an answer is none, a line each. */
export function problemLines(judgement: Judgement): readonly string[] {
  if (judgement.kind === 'unfit') return judgement.lines;
  const text = plainText(judgementFeedback(judgement, ''));
  return text === '' ? [] : [text];
}

/** The end of a run with an answer. */
export function accepted(
  work: Work,
  value: Json,
  messages: Messages,
  fallbackUsed?: true,
): TurnEnd {
  const { floatPrecision: digits } = work.state.head.spec;
  return {
    kind: 'end',
    value: digits === undefined ? value : roundFloats(value, digits),
    ...(messages.length === 0 ? {} : { entry: { messages } }),
    ...(fallbackUsed === undefined ? {} : { fallbackUsed }),
  };
}

/** How the run ends when its program has given up. */
export function refusalOf({
  value,
  preview,
  isEmpty,
}: ProgramReport): Parameters<typeof leaving>[0] {
  const given = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  const { reason, message } = given as { readonly reason?: Json; readonly message?: Json };
  const details = value === undefined ? {} : { details: value };
  const printed = isEmpty ? 'nil' : preview;
  if (typeof reason !== 'string' || reason.trim() === '') {
    return { kind: 'failed', code: 'failed', cause: printed, ...details, isVerbatim: true };
  }
  const cause = typeof message === 'string' ? message : printed;
  const code = clip(reason, MAX_REASON);
  return { kind: 'failed', code, cause, ...details, isVerbatim: true };
}

/** Characters of a reason that a program gives itself. */
const MAX_REASON = 200;

/** What the model is told of its program, as its transport wants it. */
function feedbackOf(
  { state }: Work,
  report: ProgramReport,
  { turns }: Place,
  rejection?: Rejection,
): string {
  const { spec, context = {} } = state.head;
  const { plan, transport } = lispOptions(spec);
  const material = {
    report,
    feedbackChars: spec.program?.sizes.feedbackChars ?? Infinity,
    hidden: hiddenTexts([context, report.value ?? null], report.hidden),
    ...(rejection === undefined ? {} : { rejection }),
    plan: planLines(plan, report.plan),
    turns,
  };
  return transport === 'tool_call' ? nativeFeedback(material) : programFeedback(material);
}

/** The memo with what is wrong now. */
function noted({ state }: Work, problems: readonly string[]): LispMemo {
  return { ...lispMemo(state.data), problems };
}

/** The memo with a value that may become the answer. */
function valued({ state }: Work, { value }: ProgramReport, { isExplicit }: Place): LispMemo {
  const memo = lispMemo(state.data);
  if (isExplicit || value === undefined || value === null) return { ...memo, problems: [] };
  return withValue(memo, value);
}

/** The end of a turn that gave no answer; of the last one, the newest value that fits becomes it. */
async function goOn(
  work: Work,
  messages: Messages,
  memo: LispMemo,
  { isLast, isExplicit }: Place,
): Promise<TurnEnd> {
  if (messages.length > 0) work.append({ messages });
  work.leaveIfAsked();
  let { problems } = memo;
  if (isLast && !isExplicit) {
    for (const value of memo.values) {
      const candidate = aligned(work, value);
      const judgement = await judged(work, [candidate], JSON.stringify(value), 'if accepted');
      if (judgement.kind === 'accepted') return accepted(work, judgement.value, [], true);
      // When nothing else was wrong, that the newest value is no answer is what was.
      if (problems.length === 0) problems = problemLines(judgement);
    }
  }
  const hasNews = memo.values.length > 0 || problems.length > 0;
  if (hasNews || work.state.data !== null) {
    work.setData({ values: memo.values, problems });
  }
  return { kind: 'continue' };
}

function aligned(work: Work, value: Json): Candidate {
  const { output } = work.state.head.spec.answer;
  return { kind: 'value', value: output === undefined ? value : alignValue(output, value) };
}

/** The reply of a turn that nothing comes after: the history alone keeps it. */
function keepInHistory({ run, iteration }: Work, messages: Messages): void {
  if (messages.length > 0) run.append({ iteration, origin: 'original', messages }, 'history');
}
