/** One-line text of programs and tools beside frames, which cannot look like one of our lines. */
import { withoutFrames } from '../text/untrusted.ts';

/** `text` on one line, with ends of frames escaped. */
export function framedLine(text: string): string {
  return withoutFrames(text.replaceAll(/[\s\u0085\u2028\u2029]+/gu, ' ').trim());
}
