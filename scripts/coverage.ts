/**
 * The behaviours that tests must prove, row by row, and the tests that prove them. A test proves a
 * row if its name, or a comment in it, has the tag of the row, such as `[row 12]`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isServerTest } from '../test/support/server-tests.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** One row. */
export interface CoverageRow {
  readonly row: number;
  readonly title: string;
  /** Whether a test on a real server must prove it too. */
  readonly onServer: boolean;
}

type RowText = readonly [row: number, title: string, mark?: 'server'];

const texts: readonly RowText[] = [
  [1, 'A run from its first to its last event: iterations, numbers, order', 'server'],
  [2, 'A cancel at any moment still returns a Step', 'server'],
  [3, 'Which ending wins when several are due'],
  [4, 'Each kind of ending, with its whole Step'],
  [5, 'The history keeps everything; the scratchpad is what the model sees'],
  [6, 'A hand-over to the next link changes nothing', 'server'],
  [7, 'Own loops get events, limits and statistics'],
  [8, 'Input to a live run: order, duplicates, interruption, late input', 'server'],
  [9, 'Both formats read what they should, lenient and strict'],
  [10, 'Readers take any text, in time that grows with its length'],
  [11, 'What formats write, and how they describe it'],
  [12, 'Kinds of sections, and the payload of each'],
  [13, 'The JSON reader and its messages'],
  [14, 'The YAML reader: the schema decides types; what is refused'],
  [15, 'Types, coercion, defaults'],
  [16, 'Problems of a value, one on each line'],
  [17, 'Reading calls written as text'],
  [18, 'Native calls of the provider'],
  [19, 'The catalogue of tools in the prompt'],
  [20, 'What happens to a call: outcomes, texts, statistics'],
  [21, 'The text of a result'],
  [22, 'Batches: parallel, sequential, order of results'],
  [23, 'A call whose worker is killed', 'server'],
  [24, 'Approval of calls', 'server'],
  [25, 'Middleware around models and tools'],
  [26, 'Why a definition is refused'],
  [27, 'Tool search: catalogue, pages, hits, chat'],
  [28, 'Rankings of tool search'],
  [29, 'Programs', 'server'],
  [30, 'Answers: text, JSON, several in a reply'],
  [31, 'Validators'],
  [32, 'Whole requests'],
  [33, 'An action and an answer in one reply'],
  [34, 'What the model reads about its mistakes'],
  [35, 'Replies that cannot be read, are empty or cut off'],
  [36, 'Media of tasks and results'],
  [37, 'Time in instructions'],
  [38, 'Each counter and each gauge'],
  [39, 'Own statistics'],
  [40, 'Each limit at zero, at its value and one above'],
  [41, 'Limits by prefix, several at once'],
  [42, 'Default limits and short forms'],
  [43, 'A limit on calls within a batch'],
  [44, 'Limits that refuse work instead of ending the run'],
  [45, 'Limits on tokens and cost'],
  [46, 'Deadlines, and limits that change during a run', 'server'],
  [47, 'Events: fields, order, sizes, log lines'],
  [48, 'Listeners', 'server'],
  [49, 'When a compaction is due'],
  [50, 'Sliding window, masking, pinned entries'],
  [51, 'Summaries'],
  [52, 'Tokens and cost of each provider'],
  [53, 'Failures of a provider, over HTTP'],
  [54, 'Streaming', 'server'],
  [55, 'An agent as a tool', 'server'],
  [56, 'Sums over a tree under kills', 'server'],
  [57, 'Limits over a tree', 'server'],
  [58, 'Both scenarios, in every variant', 'server'],
];

const modeTexts: readonly RowText[] = [
  [1, 'Why a definition is refused in each mode'],
  [2, 'Whole prompts, and previews of them'],
  [3, 'Finding JSON in a reply'],
  [4, 'json: valid, not JSON, a value that does not fit, never valid'],
  [5, 'Classification with each strategy; a refusal', 'server'],
  [6, 'text: the unchanged reply'],
  [7, 'Steps as context, over all pairs of modes', 'server'],
  [8, 'Content of requests, and odd replies'],
  [9, 'Every native call has one result'],
  [10, 'lisp: turns, single shot, repair', 'server'],
  [11, 'Finding programs in a reply'],
  [12, 'Text of models and tools stays in its frame'],
  [13, 'Tools made from models and agents', 'server'],
  [14, 'Signatures, schemas, coercion'],
  [15, 'Templates'],
  [16, 'Pipelines; compile once, run many', 'server'],
  [17, 'Asking people', 'server'],
  [18, 'Approval and external completion', 'server'],
  [19, 'Hidden fields and keys reach no model'],
];

/** The rows of the loop, in order. */
export const COVERAGE_ROWS: readonly CoverageRow[] = texts.map(rowOf);

/** The rows of modes, signatures and piping. Their tag is `[sub 12]`. */
export const MODE_ROWS: readonly CoverageRow[] = modeTexts.map(rowOf);

function rowOf([row, title, mark]: RowText): CoverageRow {
  return { row, title, onServer: mark === 'server' };
}

/** A test file and the rows whose tags it has. */
export interface TaggedFile {
  /** Relative to the repository, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly rows: readonly number[];
  readonly onServer: boolean;
}

/** The first word of a tag: `row` for the loop, `sub` for modes. */
export type TagWord = 'row' | 'sub';

/** The test files with a tag, sorted by path. */
export function taggedFiles(word: TagWord = 'row'): readonly TaggedFile[] {
  const tag = new RegExp(`\\[${word} (\\d+)\\]`, 'g');
  return readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .map((name) => `test/${name.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.test.ts'))
    .toSorted()
    .map((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8');
      const rows = [...text.matchAll(tag)].map(([, row]) => Number(row));
      return { path, text, rows: [...new Set(rows)], onServer: isServerTest(path) };
    })
    .filter(({ rows }) => rows.length > 0);
}

/** The cells of a table in `docs/coverage.md`: row, what, tests, tests on a server. */
export function coverageCells(word: TagWord = 'row'): readonly (readonly string[])[] {
  const files = taggedFiles(word);
  const rows = word === 'row' ? COVERAGE_ROWS : MODE_ROWS;
  return rows.map(({ row, title, onServer }) => {
    const linked = (wanted: boolean): string =>
      files
        .filter((file) => file.onServer === wanted && file.rows.includes(row))
        .map(({ path }) => `[${path.slice('test/'.length)}](../${path})`)
        .join(', ');
    const where = linked(true);
    return [String(row), title, linked(false), where === '' && !onServer ? '–' : where];
  });
}
