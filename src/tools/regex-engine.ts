/**
 * Search by regular expression. A pattern of a model may take exponential time, and nothing stops
 * the engine of its own thread: so it runs in a thread that can be ended.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { ToolError } from '../core/base/tool-error.ts';
import { rankHits } from '../core/tool-search/query.ts';
import {
  BUILT_IN_GUIDANCE,
  type SearchableTool,
  type SearchEngine,
} from '../define/definition/tool-search-options.ts';
import { createTurns } from './turns.ts';

/** Longer ones are no patterns that a model wrote on purpose. */
const MAX_PATTERN_CHARACTERS = 200;

/** How long a pattern may run. */
const MAX_SEARCH_MS = 1_000;

/** More patterns than cores at once only make each other too slow; the others wait for their turn. */
const MAX_THREADS = Math.max(1, Math.min(4, availableParallelism()));

/** The thread: counts the matches in each text. Plain code, so that it needs no file of its own. */
const COUNTING = `
const { parentPort, workerData } = require('node:worker_threads');
const pattern = new RegExp(workerData.pattern, 'giu');
const count = (text) => { let n = 0; for (const _ of text.matchAll(pattern)) n += 1; return n; };
parentPort.postMessage(workerData.texts.map((texts) => texts.reduce((n, text) => n + count(text), 0)));
`;

/** The engine `regex`: more matches over the texts of a tool come first. */
export function regexEngine(): SearchEngine {
  return {
    id: 'regex',
    guidance: BUILT_IN_GUIDANCE.regex,
    search: async (query, catalogue, { signal }) => {
      if (!isPattern(query)) throw invalidPattern(query);
      const counts = await turns.take(signal, () =>
        countMatches(query, catalogue.map(textsOf), signal),
      );
      if (counts === 'too_slow') throw invalidPattern(query);
      const hits = catalogue.map(({ name }, index) => ({ name, score: counts[index] ?? 0 }));
      return rankHits(hits.filter(({ score }) => score > 0));
    },
  };
}

/** Of all agents of this process. */
const turns = createTurns(MAX_THREADS);

function isPattern(query: string): boolean {
  if (Array.from(query).length > MAX_PATTERN_CHARACTERS) return false;
  try {
    new RegExp(query, 'iu');
    return true;
  } catch {
    // The words of the engine differ between versions: what is wrong is said in own ones.
    return false;
  }
}

function invalidPattern(query: string): ToolError {
  const quoted = Array.from(query).slice(0, MAX_PATTERN_CHARACTERS).join('');
  return new ToolError(`the pattern \`${quoted}\` is not valid.`);
}

function textsOf(tool: SearchableTool): readonly string[] {
  const { name, queries, keywords, categories, domain, description } = tool;
  const lists = [queries, keywords, categories].map((list) => list.join(' '));
  return [name, ...lists, domain, description];
}

function countMatches(
  pattern: string,
  texts: readonly (readonly string[])[],
  signal: AbortSignal,
): Promise<readonly number[] | 'too_slow'> {
  if (signal.aborted) return Promise.reject(new Error('The search was stopped.'));
  return new Promise((resolve, reject) => {
    const thread = new Worker(COUNTING, {
      eval: true,
      workerData: { pattern, texts },
      // Loaders of the worker's own process would make the start of a thread slow.
      execArgv: [],
      env: {},
    });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      void thread.terminate();
      settle();
    };
    const onAbort = (): void => end(() => reject(new Error('The search was stopped.')));
    signal.addEventListener('abort', onAbort, { once: true });
    // The time of a pattern begins when its thread runs: a busy machine starts threads late.
    thread.once('online', () => {
      timer = setTimeout(() => end(() => resolve('too_slow')), MAX_SEARCH_MS);
    });
    thread.once('message', (counts: readonly number[]) => end(() => resolve(counts)));
    thread.once('error', (error) => end(() => reject(error)));
  });
}
