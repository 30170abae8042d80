/**
 * Fuzzing, for a given time and from a seed:
 *
 * - `npm run fuzz -- lisp --seconds 60 [--seed N]` runs generated programs, see `fuzz/lisp.ts`.
 * - `npm run fuzz -- --seconds 60 [--seed N]` gives generated and mutated replies to every reader.
 *
 * It fails if a reader throws or is slower than allowed, and prints inputs per second.
 */
import { parseArgs } from 'node:util';
import { hostileReply, randomOf } from '../test/support/hostile-replies.ts';
import { limitMs, replyReaders, timedRead } from '../test/support/reply-readers.ts';
import { fuzzLisp } from './fuzz/lisp.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string' } },
});
const seconds = Number(values.seconds);
if (!(seconds > 0)) {
  console.error(`Expected --seconds above 0, got ${values.seconds}. Change it.`);
  process.exit(2);
}
const seed = Number(values.seed ?? Date.now() % 1_000_000);
if (positionals[0] === 'lisp') process.exit(fuzzLisp(seconds, seed));
const random = randomOf(seed);
const start = performance.now();
let inputs = 0;
let bytes = 0;
let slowest = { share: 0, reader: '', ms: 0 };
const failures: string[] = [];

while (performance.now() - start < seconds * 1000 && failures.length === 0) {
  const text = hostileReply(inputs, random);
  for (const reader of replyReaders) {
    try {
      const ms = timedRead(reader, text);
      const share = ms / limitMs(reader, text);
      if (share > slowest.share) slowest = { share, reader: reader.name, ms };
      if (share > 1) failures.push(`${reader.name} took ${ms.toFixed(0)} ms`);
    } catch (error) {
      failures.push(`${reader.name} threw ${String(error)}`);
    }
  }
  if (failures.length > 0) failures.push(JSON.stringify(text.slice(0, 2000)));
  inputs += 1;
  bytes += text.length;
}

const took = (performance.now() - start) / 1000;
const reads = inputs * replyReaders.length;
console.log(
  `seed ${seed}: ${inputs} replies (${(bytes / 1e6).toFixed(1)} MB) at ${replyReaders.length} readers in ` +
    `${took.toFixed(1)} s, ${Math.round(reads / took)} inputs per second`,
);
console.log(
  `slowest: ${slowest.reader}, ${slowest.ms.toFixed(0)} ms, ${Math.round(slowest.share * 100)} % of what it may take`,
);
for (const failure of failures) console.error(failure);
process.exitCode = failures.length === 0 ? 0 : 1;
