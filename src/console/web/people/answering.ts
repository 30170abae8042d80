/** Sends the answer to what waits for a person: once, and says why it was refused. */
import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { InboxRow } from '../../api.ts';
import { say, send, type Sent } from '../base/actions.ts';
import { newRequestId, runPath } from '../base/api.ts';
import { canAct } from '../base/connection.ts';
import { awaitWorker, settleHere } from './inbox-state.ts';

/** What is said of an answer that the service keeps. */
export const UNAPPLIED =
  'Accepted, not yet applied: no worker answers for the run. The next one applies it, or an event of the run says why not.';

/** Answers one item. */
export interface Answering {
  /** Whether an answer is on its way, or waits for a worker. */
  readonly isSent: Signal<boolean>;
  readonly refusal: Signal<string>;
  /** Whether the service keeps an answer that no worker has taken. */
  readonly isUnapplied: Signal<boolean>;
  answer(value: unknown): Promise<void>;
  decide(decision: object): Promise<void>;
}

/** The means to answer `row`; `onDone` hears that it was answered. */
export function useAnswering(row: InboxRow, onDone: () => void): Answering {
  const isSent = useSignal(false);
  const refusal = useSignal('');
  const isUnapplied = useSignal(false);
  const requestId = useSignal(newRequestId());
  const isGone = useRef(false);
  useEffect(() => () => void (isGone.current = true), []);
  const take = (sent: Sent): void => {
    if (sent.kind === 'accepted' && sent.answer.unapplied === true) {
      // The item goes when a worker has applied it, and stays if the run refuses it then.
      isUnapplied.value = true;
      awaitWorker(row);
      if (isGone.current) say(UNAPPLIED);
      return;
    }
    isSent.value = false;
    if (sent.kind === 'accepted') {
      settleHere(row);
      onDone();
      return;
    }
    // Somebody else's answer has taken the card away meanwhile.
    const words = refusalText(sent);
    if (isGone.current) say(words);
    refusal.value = words;
    requestId.value = newRequestId();
  };
  const act = async (action: 'answer' | 'decide', body: object): Promise<void> => {
    if (isSent.value || !canAct.value) return;
    isSent.value = true;
    refusal.value = '';
    take(await send(runPath(row.run, `/${action}`), { ...body, id: row.item.id }, requestId.value));
  };
  return {
    isSent,
    refusal,
    isUnapplied,
    answer: async (value) => act('answer', { value }),
    decide: async (decision) => act('decide', { decision }),
  };
}

/** Why an answer was refused: most often, somebody else was first. */
function refusalText({ code, message }: Extract<Sent, { readonly kind: 'refused' }>): string {
  switch (code) {
    case 'conflict':
      return `Somebody else was first, or its time was over: ${message}.`;
    case 'item_unknown':
      return `This waits no more: ${message}.`;
    default:
      return message;
  }
}
