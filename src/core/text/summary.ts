/** The one line that Temporal's own UI and CLI show for a run or an activity. */
import { utf8Length } from '../base/json.ts';
import { clip, firstBytes } from './cut.ts';
import { redact } from './redact.ts';
import { wellFormedText } from './well-formed.ts';

/** The service refuses more than 400 bytes; a codec that encrypts needs some of them. */
export const MAX_SUMMARY_BYTES = 160;

/** As much of a text as is worth reading for its summary: a secret is removed before the cut. */
const READ_CHARACTERS = 1_000;

/** `text` in one well-formed line of at most {@link MAX_SUMMARY_BYTES} bytes, without secrets. */
export function summaryLine(text: string): string {
  const head = wellFormedText(clip(text, READ_CHARACTERS));
  const line = redact(head.replaceAll(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')).trim();
  if (utf8Length(line) <= MAX_SUMMARY_BYTES) return line;
  return `${firstBytes(line, MAX_SUMMARY_BYTES - utf8Length('…'))}…`;
}
