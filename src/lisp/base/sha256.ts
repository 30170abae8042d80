/**
 * SHA-256 (FIPS 180-4), for the ids of programs. Written here, since the language imports nothing.
 */

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const ROUND: readonly number[] = Object.freeze([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

/** The SHA-256 of the UTF-8 bytes of `text`, as 64 hexadecimal digits. */
export function sha256(text: string): string {
  const hash = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
  ];
  const bytes = padded(utf8(text));
  const words = new Uint32Array(64);
  for (let block = 0; block < bytes.length; block += 64) {
    for (let index = 0; index < 16; index++) {
      const at = block + index * 4;
      const [a = 0, b = 0, ctx = 0, d = 0] = bytes.slice(at, at + 4);
      words[index] = (a << 24) | (b << 16) | (ctx << 8) | d;
    }
    mix(hash, words);
  }
  return hash.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

function mix(hash: number[], words: Uint32Array): void {
  const word = (index: number): number => words[index] ?? 0;
  for (let index = 16; index < 64; index++) {
    const near = word(index - 15);
    const far = word(index - 2);
    const s0 = rotate(near, 7) ^ rotate(near, 18) ^ (near >>> 3);
    const s1 = rotate(far, 17) ^ rotate(far, 19) ^ (far >>> 10);
    words[index] = (word(index - 16) + s0 + word(index - 7) + s1) | 0;
  }
  let [a = 0, b = 0, ctx = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let index = 0; index < 64; index++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const one = (h + s1 + ((e & f) ^ (~e & g)) + (ROUND[index] ?? 0) + word(index)) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const two = (s0 + ((a & b) ^ (a & ctx) ^ (b & ctx))) | 0;
    [h, g, f, e, d, ctx, b, a] = [g, f, e, (d + one) | 0, ctx, b, a, (one + two) | 0];
  }
  for (const [index, value] of [a, b, ctx, d, e, f, g, h].entries()) {
    hash[index] = ((hash[index] ?? 0) + value) | 0;
  }
}

function padded(bytes: number[]): number[] {
  const bits = bytes.length * 8;
  const out = [...bytes, 0x80];
  while (out.length % 64 !== 56) out.push(0);
  const high = Math.floor(bits / 2 ** 32);
  for (const word of [high, bits >>> 0]) {
    out.push((word >>> 24) & 255, (word >>> 16) & 255, (word >>> 8) & 255, word & 255);
  }
  return out;
}

function utf8(text: string): number[] {
  const bytes: number[] = [];
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    const code = point >= 0xd800 && point < 0xe000 ? 0xfffd : point;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code < 0x10000) {
      bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    } else {
      bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63));
      bytes.push(0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    }
  }
  return bytes;
}
