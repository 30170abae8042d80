/**
 * `parse`: the cost of reading a reply, per KB, from small replies to the largest that are
 * accepted. A reader is linear if the time per KB stays the same from 10 KB up.
 */
import { markdownFormat } from '../src/core/format/markdown.ts';
import { xmlFormat } from '../src/core/format/xml.ts';
import { readJson } from '../src/core/section/json-reader.ts';
import { toolchainOf } from '../src/core/toolchain/toolchain-of.ts';
import { figure, median, type Bench, type Figure } from './support/figure.ts';

/** One reader on texts of several sizes, in KB. */
interface Subject {
  readonly name: string;
  readonly sizes: readonly number[];
  text(kb: number): string;
  read(text: string): unknown;
}

const NAMES = ['thinking', 'action', 'answer'];
const ROUNDS = 7;
const ROUND_MS = 60;
/** The engine compiles code that runs often. Without warming up, the small text would pay for that. */
const WARM_UP_MS = 400;

const yaml = toolchainOf({ kind: 'yaml', section: 'action' });
const callContext = { iteration: 1, tools: [], maxCallsPerTurn: 1_000_000 };

const subjects: readonly Subject[] = [
  {
    name: 'xml',
    sizes: [1, 10, 1_000],
    text: (kb) =>
      `<thinking>${filled('some words <b>x</b>, more text. ', kb / 2)}</thinking><answer>${filled('words & more ', kb / 2)}</answer>`,
    read: (text) => xmlFormat().parse(text, NAMES, { wasCut: false }),
  },
  {
    name: 'markdown',
    sizes: [1, 10, 1_000],
    text: (kb) =>
      `# Thinking\n${filled(`${'some words of a line\n'.repeat(12)}## part\n\`\`\`\n# note\n\`\`\`\n`, kb / 2)}\n# Answer\n${filled('- a word\n', kb / 2)}`,
    read: (text) => markdownFormat().parse(text, NAMES, { wasCut: false }),
  },
  {
    name: 'yaml_calls',
    sizes: [1, 10, 250],
    text: (kb) =>
      filled(
        '- tool: search\n  args:\n    query: words of a query\n    text: |\n      Longer text: with colons\n      and # hashes.\n',
        kb,
      ),
    read: (text) => yaml.readCalls([text], callContext),
  },
  {
    name: 'json_answer',
    sizes: [1, 10, 250],
    text: (kb) =>
      `[${filled('{"id": 12.5, "name": "a \\"name\\"", "tags": ["x", null, true]}, ', kb)}0]`,
    read: readJson,
  },
];

/** The benchmark `parse`. */
export const parseBench: Bench = {
  name: 'parse',
  about: 'microseconds to read a KB of a reply; spread: largest over smallest from 10 KB up',
  run: () => Promise.resolve(subjects.flatMap(measure)),
};

function measure(subject: Subject): readonly Figure[] {
  const perKb = subject.sizes.map((kb) => ({ kb, us: microsPerKb(subject, kb) }));
  const large = perKb.filter(({ kb }) => kb >= 10).map(({ us }) => us);
  return [
    ...perKb.map(({ kb, us }) => figure(`${subject.name}_${kb}kb`, us, 'us/KB')),
    figure(`${subject.name}_spread`, Math.max(...large) / Math.min(...large), 'ratio', '<= 2'),
  ];
}

function microsPerKb(subject: Subject, kb: number): number {
  const text = subject.text(kb);
  timeOnce(subject, text, WARM_UP_MS);
  const rounds = Array.from({ length: ROUNDS }, () => timeOnce(subject, text, ROUND_MS));
  return (median(rounds) * 1_000) / (text.length / 1_000);
}

/** Milliseconds of one reading, averaged over as many as fit into `atLeastMs`. */
function timeOnce(subject: Subject, text: string, atLeastMs: number): number {
  const start = performance.now();
  let count = 0;
  do {
    subject.read(text);
    count += 1;
  } while (performance.now() - start < atLeastMs);
  return (performance.now() - start) / count;
}

function filled(piece: string, kb: number): string {
  return piece.repeat(Math.max(1, Math.floor((kb * 1_000) / piece.length)));
}
