/**
 * SHA-256 in plain JavaScript (FIPS 180-4), because the workflow sandbox has no crypto. It is for
 * ids: a text of 60 characters takes some 10 µs.
 */

/** The first 32 bits of the fractional part of `root(n)` for the first `count` primes. */
function fractions(count: number, root: (prime: number) => number): readonly number[] {
  const found: number[] = [];
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n += 1) {
    if (primes.some((prime) => n % prime === 0)) continue;
    primes.push(n);
    found.push(((root(n) % 1) * 2 ** 32) >>> 0);
  }
  return found;
}

const START: readonly number[] = fractions(8, Math.sqrt);
const ROUNDS: readonly number[] = fractions(64, Math.cbrt);

const turn = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

/** The SHA-256 of `text` in UTF-8, as 64 hexadecimal digits. */
export function sha256(text: string): string {
  const words = paddedWords(text);
  let hash: readonly number[] = START;
  for (let at = 0; at < words.length; at += 16) hash = compress(hash, words.slice(at, at + 16));
  return hash.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** The message as 32-bit words: its bytes, one bit, zeros, and its length in bits. */
function paddedWords(text: string): readonly number[] {
  const bytes = utf8(text);
  const words = Array.from({ length: (((bytes.length + 8) >> 6) + 1) * 16 }, () => 0);
  const put = (place: number, byte: number): void => {
    words[place >> 2] = (words[place >> 2] ?? 0) | (byte << (24 - (place % 4) * 8));
  };
  bytes.forEach((byte, place) => put(place, byte));
  put(bytes.length, 0x80);
  words[words.length - 1] = bytes.length * 8;
  return words;
}

function utf8(text: string): readonly number[] {
  return (encodeURIComponent(text).match(/%..|[^%]/g) ?? []).map((part) =>
    part.length === 1 ? part.charCodeAt(0) : Number.parseInt(part.slice(1), 16),
  );
}

function compress(hash: readonly number[], block: readonly number[]): readonly number[] {
  const w = [...block];
  const word = (index: number): number => w[index] ?? 0;
  for (let t = 16; t < 64; t += 1) {
    const [early, late] = [word(t - 15), word(t - 2)];
    const s0 = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
    const s1 = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
    w.push((word(t - 16) + s0 + word(t - 7) + s1) | 0);
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let t = 0; t < 64; t += 1) {
    const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    const one = (h + s1 + ((e & f) ^ (~e & g)) + (ROUNDS[t] ?? 0) + word(t)) | 0;
    const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
  }
  return [a, b, c, d, e, f, g, h].map((value, index) => ((hash[index] ?? 0) + value) | 0);
}
