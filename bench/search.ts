/**
 * `search`: the cost of a tool search on a worker, with a catalogue of 1,000 tools.
 *
 * - `index_ms`: the first query of a catalogue minus a later one, which is the time to build its
 *   index. The median of several catalogues, each new to the engine, after other catalogues warmed
 *   it up.
 * - `query_ms`: a later query, as the mean over queries of different kinds: one word, several
 *   words, a name, a typing error, a sentence, no match. `slowest_query_ms` is the slowest of them.
 * - `pattern_ms`: the same with the engine for patterns, which starts a thread for each search.
 */
import { bm25Engine } from '../src/tools/bm25-engine.ts';
import { regexEngine } from '../src/tools/regex-engine.ts';
import type { SearchableTool, SearchEngine } from '../src/define/definition/tool-search-options.ts';
import { figure, median, type Bench } from './support/figure.ts';

const TOOLS = 1_000;
const ROUNDS = 9;
const QUERIES_A_ROUND = 40;

const VERBS = ['get', 'list', 'create', 'update', 'delete', 'search', 'send', 'cancel', 'export'];
const NOUNS = [
  'customer',
  'booking',
  'flight',
  'invoice',
  'payment',
  'refund',
  'ticket',
  'contract',
  'shipment',
  'warehouse',
  'employee',
  'schedule',
  'report',
];

const QUERIES = [
  'customer',
  'refund a payment of last week',
  'list_invoice_412',
  'shedule',
  'which employees work in the warehouse on the day of the shipment',
  'xyzzy',
];

/** The benchmark `search`. */
export const searchBench: Bench = {
  name: 'search',
  about: 'milliseconds to index 1,000 tools and to search them',
  run: async () => {
    const engine = bm25Engine();
    for (let round = 0; round < 3; round++) await timesOf(engine, catalogueOf(round));
    const rounds = [];
    for (let round = 0; round < ROUNDS; round++) {
      rounds.push(await timesOf(engine, catalogueOf(round + 100)));
    }
    const catalogue = catalogueOf(0);
    const patterns = regexEngine();
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      times.push(await msOf(() => patterns.search('^get_.*(customer|refund)', catalogue, io)));
    }
    return [
      figure('index_ms', median(rounds.map(({ indexMs }) => indexMs)), 'ms', '<= 100'),
      figure('query_ms', median(rounds.map(({ queryMs }) => queryMs)), 'ms', '<= 5'),
      figure('slowest_query_ms', median(rounds.map(({ slowestMs }) => slowestMs)), 'ms'),
      figure('pattern_ms', median(times), 'ms'),
    ];
  },
};

const io = { signal: new AbortController().signal };

async function timesOf(
  engine: SearchEngine,
  catalogue: readonly SearchableTool[],
): Promise<{ readonly indexMs: number; readonly queryMs: number; readonly slowestMs: number }> {
  const search = (query: string): Promise<number> =>
    msOf(() => engine.search(query, catalogue, io));
  const first = await search('customer');
  const each: number[] = [];
  for (const query of QUERIES) {
    const times: number[] = [];
    for (let count = 0; count < QUERIES_A_ROUND; count++) times.push(await search(query));
    each.push(median(times));
  }
  return {
    indexMs: first - (each[0] ?? 0),
    queryMs: each.reduce((sum, ms) => sum + ms, 0) / each.length,
    slowestMs: Math.max(...each),
  };
}

async function msOf(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** A thousand tools, as in a large company, with 30 words of text each. */
function catalogueOf(round: number): readonly SearchableTool[] {
  return Array.from({ length: TOOLS }, (_, index) => {
    const verb = VERBS[index % VERBS.length] ?? '';
    const noun = NOUNS[index % NOUNS.length] ?? '';
    const other = NOUNS[(index * 7 + 3) % NOUNS.length] ?? '';
    return {
      name: `${verb}_${noun}_${index}`,
      description: `Use it to ${verb} a ${noun} by its number, together with each ${other} of round ${round}.`,
      domain: noun,
      categories: [verb, other],
      keywords: [noun, other, `area${index % 40}`],
      queries: [`${verb} the ${noun} of a ${other}`, `where is ${noun} number ${index}`],
    };
  });
}
