/**
 * A rolling digest over a sequence of texts, in plain JavaScript, because the workflow sandbox has
 * no crypto. It shows that two processes hold the same transcript. It does not protect against an
 * attacker.
 *
 * Two 32-bit lanes of FNV-1a over UTF-16 code units (G. Fowler, L. C. Noll, K.-P. Vo: offset basis
 * 2166136261, prime 16777619). The second lane has another basis and adds a constant to each unit,
 * so texts that collide in one lane need not collide in the other. The lanes are not independent:
 * they share the prime and, for texts of equal length, the lowest bit, so collisions are more
 * frequent than 1 in 2^64. Measured over 200,000 random texts: 5 and 6 colliding pairs in the
 * single lanes (4.7 expected), none in both.
 */

import { canonicalJson, type Json } from './json.ts';

/** The state of a digest: plain data, 16 hexadecimal digits. */
export type Digest = string;

// In the sandbox each use of a global is a slow lookup; in a loop it would dominate the cost.
const { imul } = Math;

const PRIME = 16_777_619;
const SEPARATOR = 0x1f;

/** The digest of an empty sequence. */
export const EMPTY_DIGEST: Digest = '811c9dc59e3779b9';

/** `digest` rolled forward over `text`. Linear in the length of `text`. */
export function rollDigest(digest: Digest, text: string): Digest {
  let first = Number.parseInt(digest.slice(0, 8), 16);
  let second = Number.parseInt(digest.slice(8), 16);
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    first = imul(first ^ unit, PRIME);
    second = imul(second ^ (unit + 0x9e37), PRIME);
  }
  // The separator keeps ["ab", "c"] and ["a", "bc"] apart.
  first = imul(first ^ SEPARATOR, PRIME);
  second = imul(second ^ SEPARATOR, PRIME);
  return hex(first) + hex(second);
}

/** The digest of a JSON value, whatever the order of its keys. */
export function jsonDigest(value: Json): Digest {
  return rollDigest(EMPTY_DIGEST, canonicalJson(value));
}

function hex(lane: number): string {
  return (lane >>> 0).toString(16).padStart(8, '0');
}
