/**
 * Cursors of lists as pages get them: signed, because a service that gets one which it has not made
 * may fail, and be asked for it again and again until the time of an answer is over.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { isAmong } from '../protection/same-text.ts';
import { shown } from '../core/text/shown.ts';
import { invalid } from './refusal.ts';

/** Signs the cursors of one console. */
export interface Cursors {
  /** `cursor` as a page gets it; null: the list ends. */
  readonly sealed: (cursor: string | null) => string | null;
  /**
   * The cursor that was sealed as `text`; undefined if there is none.
   *
   * @throws ConsoleRefusal `invalid_input` for one that this console has not made.
   */
  readonly opened: (text: string | undefined) => string | undefined;
}

/** Cursors under a key of their own, so none outlives its console. */
export function createCursors(): Cursors {
  const key = randomBytes(32);
  const signatureOf = (cursor: string): string =>
    createHmac('sha256', key).update(cursor).digest('base64url');
  return {
    sealed: (cursor) => cursor && `${signatureOf(cursor)}.${cursor}`,
    opened: (text) => {
      if (text === undefined || text === '') return undefined;
      const [signature = ''] = text.split('.', 1);
      const cursor = text.slice(signature.length + 1);
      if (isAmong(signature, [signatureOf(cursor)])) return cursor;
      throw invalid(
        `Expected the cursor of a page of this console, got ${shown(text)}. Leave it out to begin at the first page.`,
      );
    },
  };
}
