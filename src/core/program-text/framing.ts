/** Text of programs and tools on one line beside frames: it cannot look like a line of ours. */
import { withoutFrames } from '../text/untrusted.ts';

/** `text` on one line, without an end of a frame in it. */
export function framedLine(text: string): string {
  return withoutFrames(text.replaceAll(/[\s\u0085\u2028\u2029]+/gu, ' ').trim());
}
