/** Sends actions: one request id for each click, so that a repetition does nothing again. */
import { signal, type Signal } from '@preact/signals';
import type { ActionAnswer } from '../../api-actions.ts';
import { newRequestId, post, RequestFailed } from './api.ts';

/** A short message at the edge of the page; empty: none. */
export const toast: Signal<string> = signal('');

let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows `text` for some seconds. */
export function say(text: string): void {
  toast.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => (toast.value = ''), 6_000);
}

/** How an action went: its answer, or the refusal in the server's words. */
export type Sent =
  | { readonly kind: 'accepted'; readonly answer: ActionAnswer }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** Sends an action, and once more with the same id if no answer came. */
export async function send(path: string, body: object, requestId = newRequestId()): Promise<Sent> {
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await post<ActionAnswer>(path, { ...body, requestId });
      return { kind: 'accepted', answer };
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      if (error.code !== 'offline' || attempt === 2) {
        return { kind: 'refused', code: error.code, message: error.message };
      }
    }
  }
}
