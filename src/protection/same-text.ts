/** Comparison of texts that are secret: how long it takes reveals nothing about them. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether `given` is one of `known`. */
export function isAmong(given: string, known: readonly string[]): boolean {
  const sought = digest(given);
  // Each is compared, also after a match.
  return known.filter((one) => timingSafeEqual(sought, digest(one))).length > 0;
}

/** Digests have equal lengths, which `timingSafeEqual` needs. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
