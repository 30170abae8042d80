/** Sends the answer to what waits for a person: once, and says why it was refused. */
import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { InboxRow } from '../../api.ts';
import { say, send, type Sent } from '../base/actions.ts';
import { newRequestId, runPath } from '../base/api.ts';
import { canAct } from '../base/connection.ts';
import { settleHere } from './inbox-state.ts';

/** Answers one item. */
export interface Answering {
  readonly isSent: Signal<boolean>;
  readonly refusal: Signal<string>;
  answer(value: unknown): Promise<void>;
  decide(decision: object): Promise<void>;
}

/** The means to answer `row`; `onDone` hears that it was answered. */
export function useAnswering(row: InboxRow, onDone: () => void): Answering {
  const isSent = useSignal(false);
  const refusal = useSignal('');
  const requestId = useSignal(newRequestId());
  const isGone = useRef(false);
  useEffect(() => () => void (isGone.current = true), []);
  const take = (sent: Sent): void => {
    isSent.value = false;
    if (sent.kind === 'accepted') {
      settleHere(row);
      onDone();
      return;
    }
    // Somebody else's answer has taken the card away meanwhile.
    if (isGone.current) say(sent.message);
    refusal.value = sent.message;
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
    answer: async (value) => act('answer', { value }),
    decide: async (decision) => act('decide', { decision }),
  };
}
