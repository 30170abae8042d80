/**
 * A question to a person: limited, recorded, shown under `pending`, answered by an update. What asks is
 * a call of `ask_user`, or a program. Asynchronous, like `work.ts`, of which it is a part.
 */
import { refusedText } from '../toolchain/call-texts.ts';
import type { Json } from '../base/json.ts';
import type { Breach } from '../contract/limit.ts';
import { unansweredText, type Question } from '../toolchain/ask-user.ts';
import { cut } from '../text/cut.ts';
import { makeRoom } from '../run/make-room.ts';
import { isInterrupted, isStopped, statOf, type Run } from '../run/run.ts';
import { self } from '../stats/stat-keys.ts';
import type { Host } from '../run/host.ts';
import type { QuestionItem } from '../contract/pending.ts';
import { deadlineOf, waitForPerson, type Door } from './wait-for-person.ts';

/** How a question ended. */
export type AskOutcome =
  | { readonly kind: 'answered'; readonly value: Json }
  /** Nobody answered in time and there is no default; `message` says so. */
  | { readonly kind: 'unanswered'; readonly message: string }
  /** A limit left no room, and the run goes on. */
  | { readonly kind: 'refused'; readonly text: string; readonly breach: Breach }
  /** A limit left no room and the run ends: nobody was asked. */
  | { readonly kind: 'unasked' }
  | { readonly kind: 'stopped' };

/** UTF-8 bytes of a question that its event shows. */
const MAX_SHOWN_BYTES = 2 * 1024;

/** Asks a person. `callId` names the call, or the effect of a program, that waits for the answer. */
export function askPerson(
  run: Run,
  host: Host,
  callId: string,
  asked: Question,
  door: Door,
): Promise<AskOutcome> {
  const room = makeRoom(run, host, { 'agent:questions': 1 });
  if (room === undefined) return askInRoom(run, host, callId, asked, door);
  return room.then(() =>
    isStopped(run, host) || isInterrupted(host)
      ? { kind: 'unasked' }
      : askInRoom(run, host, callId, asked, door),
  );
}

function askInRoom(
  run: Run,
  host: Host,
  callId: string,
  asked: Question,
  door: Door,
): Promise<AskOutcome> {
  const crossed = run.wouldCross(['agent:questions']);
  if (crossed?.limit.onReach === 'refuse') {
    const text = refusedText(crossed.key, crossed.limit.max);
    return Promise.resolve({ kind: 'refused', text, breach: crossed });
  }
  if (crossed !== null) {
    run.breach(crossed);
    return Promise.resolve({ kind: 'unasked' });
  }
  const { question, options, free, details, timeoutMs } = asked;
  const now = host.now();
  const item: QuestionItem = {
    kind: 'question',
    id: `q${statOf(run, self('agent:questions')) + 1}`,
    callId,
    since: now,
    ...deadlineOf(now, timeoutMs),
    question,
    ...(options === undefined ? {} : { options }),
    free,
    ...(details === undefined ? {} : { details }),
    ...(asked.default === undefined ? {} : { default: asked.default }),
  };
  const text = cut(question, MAX_SHOWN_BYTES);
  run.record({ type: 'agent:question:asked', questionId: item.id, text }, { item });
  return awaitAnswer(run, host, item, door);
}

/** Waits for the answer to a question that was asked, maybe by an earlier link. */
export async function awaitAnswer(
  run: Run,
  host: Host,
  item: QuestionItem,
  door: Door,
): Promise<AskOutcome> {
  const { id: questionId, question, timeoutMs = 0 } = item;
  const end = await waitForPerson(run, host, item, door);
  switch (end.kind) {
    case 'answer':
      run.record({ type: 'agent:question:answered', questionId });
      return { kind: 'answered', value: end.value };
    case 'timed_out':
      run.record({ type: 'agent:question:answered', questionId, timedOut: true });
      return item.default === undefined
        ? { kind: 'unanswered', message: unansweredText(question, timeoutMs) }
        : { kind: 'answered', value: item.default };
    case 'decision':
    case 'stopped':
      // A decision is never accepted for a question.
      if (door.isDropped(item.callId)) {
        run.record({ type: 'agent:question:answered', questionId, withdrawn: true });
      }
      return { kind: 'stopped' };
  }
}
