/** The last text of a model, in the message of a run that ended because of it. */
import { clip } from '../text/cut.ts';

/** Characters of the text. */
export const MAX_LAST_TEXT = 500;

/** `cause` with what the model wrote, in quotation marks; `cause` alone if that is blank. */
export function withLastText(cause: string, text: string): string {
  const shown = text.trim();
  if (shown === '') return cause;
  const clipped = clip(shown, MAX_LAST_TEXT);
  return `${cause.replace(/\.$/, '')}. The model wrote: "${clipped}${clipped === shown ? '' : ' …'}"`;
}
