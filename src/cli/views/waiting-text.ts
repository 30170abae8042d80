/** What a run waits for from a person, and the command that ends the wait. */
import type { PendingItem } from '../../core/contract/messages.ts';
import { pendingText } from './run-text.ts';

/**
 * Text for whoever follows run `run`:
 *
 *     ? Which John? (1 John Smith, 2 John Doe)
 *       everloop answer r1 q1 '…'
 */
export function waitingText(item: PendingItem, run: string): string {
  return `? ${pendingText(item)}\n  ${commandFor(item, run)}`;
}

function commandFor({ kind, id }: PendingItem, run: string): string {
  switch (kind) {
    case 'question':
      return `everloop answer ${run} ${id} '…'`;
    case 'approval':
      return `everloop approve ${run} ${id}, or everloop deny ${run} ${id} --reason '…'`;
    case 'external':
      return `everloop answer ${run} ${id} --as-json '…', when the work is done elsewhere`;
    case 'pause':
      return `everloop resume ${run}`;
  }
}
