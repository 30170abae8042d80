/**
 * A question to a person: limited, recorded, shown under `pending`, answered by an update. A call
 * of `ask_user`, a program or a loop asks it.
 */
import { refusedText } from '../toolchain/call-texts.ts';
import { defined } from '../base/defined.ts';
import type { Json } from '../base/json.ts';
import type { Breach } from '../contract/limit.ts';
import { unansweredText, type Question } from '../toolchain/ask-user.ts';
import { cut } from '../text/cut.ts';
import { ensureBudget } from '../run/ensure-budget.ts';
import { statOf } from '../run/run.ts';
import { self } from '../stats/stat-keys.ts';
import type { QuestionItem } from '../contract/pending.ts';
import type { Iteration } from '../run/iteration.ts';
import { deadlineOf, waitForPerson } from './wait-for-person.ts';

/** How a question ended. */
export type AskOutcome =
  | { readonly kind: 'answered'; readonly value: Json }
  /** No answer came in time and there is no default; `message` says so. */
  | { readonly kind: 'unanswered'; readonly message: string }
  /** A limit left no room, and the run goes on. */
  | { readonly kind: 'refused'; readonly text: string; readonly breach: Breach }
  /** It was not asked: the run ends or is interrupted. */
  | { readonly kind: 'unasked' }
  | { readonly kind: 'stopped' };

/** UTF-8 bytes of a question, and of an answer, that its event shows. */
const MAX_SHOWN_BYTES = 2 * 1024;

/**
 * Asks a person. `callId` is that of the call or the program's effect that waits for the answer.
 */
export function askPerson(
  iteration: Iteration,
  callId: string,
  question: Question,
): Promise<AskOutcome> {
  const { run } = iteration;
  const budget = ensureBudget(run, { 'agent:questions': 1 });
  if (budget === undefined) return askWithinLimits(iteration, callId, question);
  return budget.then(() =>
    run.mustLeave() ? { kind: 'unasked' } : askWithinLimits(iteration, callId, question),
  );
}

function askWithinLimits(
  iteration: Iteration,
  callId: string,
  asked: Question,
): Promise<AskOutcome> {
  const { run } = iteration;
  const crossed = run.wouldCross(['agent:questions']);
  if (crossed?.limit.onReach === 'refuse') {
    const text = refusedText(crossed.key, crossed.limit.max);
    return Promise.resolve({ kind: 'refused', text, breach: crossed });
  }
  if (crossed !== null) {
    run.breach(crossed);
    return Promise.resolve({ kind: 'unasked' });
  }
  const { question, options, free, details, timeoutMs, input } = asked;
  const now = run.host.now();
  const item: QuestionItem = {
    kind: 'question',
    id: `q${statOf(run, self('agent:questions')) + 1}`,
    callId,
    since: now,
    ...deadlineOf(now, timeoutMs),
    ...defined({ question, options, free, details, default: asked.default, input }),
  };
  const text = cut(question, MAX_SHOWN_BYTES);
  run.record({ type: 'agent:question:asked', questionId: item.id, text }, { item });
  return awaitAnswer(iteration, item);
}

/** Waits for the answer to a question that this link or an earlier one asked. */
export async function awaitAnswer(iteration: Iteration, item: QuestionItem): Promise<AskOutcome> {
  const { run, gate } = iteration;
  const { id: questionId, question, timeoutMs = 0 } = item;
  const end = await waitForPerson(iteration, item);
  const isCall = (run.state.openCalls ?? []).some(({ callId }) => callId === item.callId);
  const answered = {
    type: 'agent:question:answered',
    questionId,
    ...defined({ callId: isCall ? item.callId : undefined }),
    waitedMs: run.host.now() - item.since,
  } as const;
  switch (end.kind) {
    case 'answer': {
      const { value, updateId, by } = end;
      const said = typeof value === 'string' ? value : JSON.stringify(value);
      const text = cut(said, MAX_SHOWN_BYTES);
      run.record({ ...answered, text, ...defined({ updateId, by }) });
      return { kind: 'answered', value };
    }
    case 'timed_out':
      run.record({ ...answered, timedOut: true });
      return item.default === undefined
        ? { kind: 'unanswered', message: unansweredText(question, timeoutMs) }
        : { kind: 'answered', value: item.default };
    case 'decision':
    case 'stopped':
      // A decision is never accepted for a question.
      if (gate.isUnneeded(item.callId)) {
        run.record({ ...answered, withdrawn: true });
      }
      return { kind: 'stopped' };
  }
}
