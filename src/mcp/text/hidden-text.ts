/** Removes from a stranger's text what a person does not see and a model reads. */
import { clip } from '../../core/text/cut.ts';
import { wellFormedText } from '../../core/text/well-formed.ts';

/**
 * Format characters (zero-width, bidirectional), tags, variation selectors beyond the first 16, and
 * control characters but line breaks and tabs. Each can hide an instruction.
 */
const HIDDEN = /\p{Cf}|[\u{E0000}-\u{E007F}]|[\u{E0100}-\u{E01EF}]|(?![\n\t])\p{Cc}/gu;

/** A text of a server as a prompt may show it. */
export interface VisibleText {
  readonly text: string;
  /** Whether something was removed. */
  readonly hadHidden: boolean;
}

/** `text` without hidden characters, and at most `maxCharacters` of it. */
export function visibleText(text: string, maxCharacters: number): VisibleText {
  // What is beyond the bound is cut anyway, so it is not searched.
  const head = clip(text, 4 * maxCharacters).replaceAll('\r\n', '\n');
  const visible = wellFormedText(head.replaceAll(HIDDEN, ''));
  return { text: clip(visible, maxCharacters), hadHidden: visible !== wellFormedText(head) };
}
