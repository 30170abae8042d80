/**
 * Search by regular expression. A model's pattern may take exponential time, and a thread cannot
 * stop its own regex engine, so each search runs in a thread that can be terminated.
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

/** Longest pattern, in characters; longer ones are mistakes. */
const MAX_PATTERN_CHARACTERS = 200;

/** How long a pattern may run, in ms. */
const MAX_SEARCH_MS = 1_000;

/** Concurrent searches. More than the cores would only slow each other down; the others wait. */
const MAX_THREADS = Math.max(1, Math.min(4, availableParallelism()));

/**
 * The code of the thread, which counts the matches in each text. A string needs no file to load.
 */
const COUNTING = `
const { parentPort, workerData } = require('node:worker_threads');
const pattern = new RegExp(workerData.pattern, 'giu');
const count = (text) => { let n = 0; for (const _ of text.matchAll(pattern)) n += 1; return n; };
parentPort.postMessage(workerData.texts.map((texts) => texts.reduce((n, text) => n + count(text), 0)));
`;

/** The engine `regex`: tools with more matches come first. */
export function regexEngine(): SearchEngine {
  return {
    id: 'regex',
    guidance: BUILT_IN_GUIDANCE.regex,
    search: async (query, tools, { signal }) => {
      if (!isPattern(query)) throw invalidPattern(query);
      const counts = await turns.take(signal, () =>
        countMatches(query, tools.map(textsOf), signal),
      );
      if (counts === 'too_slow') throw invalidPattern(query);
      const hits = tools.map(({ name }, index) => ({ name, score: counts[index] ?? 0 }));
      return rankHits(hits.filter(({ score }) => score > 0));
    },
  };
}

/** Shared by all agents of this process. */
const turns = createTurns(MAX_THREADS);

function isPattern(query: string): boolean {
  if (Array.from(query).length > MAX_PATTERN_CHARACTERS) return false;
  try {
    new RegExp(query, 'iu');
    return true;
  } catch {
    // The messages of the regex engine differ between versions, so they are not used.
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
      // Without the loaders of the worker's process, which would slow down the start.
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
    // The time limit starts with the thread, because a busy machine starts threads late.
    thread.once('online', () => {
      timer = setTimeout(() => end(() => resolve('too_slow')), MAX_SEARCH_MS);
    });
    thread.once('message', (counts: readonly number[]) => end(() => resolve(counts)));
    thread.once('error', (error) => end(() => reject(error)));
  });
}

/** A queue of tasks that limits how many run at once. */
interface Turns {
  /** Runs `work` when it is its turn; rejects when `signal` is aborted before that. */
  readonly take: <Result>(signal: AbortSignal, work: () => Promise<Result>) => Promise<Result>;
}

/** Runs at most `atOnce` tasks at once, in the order in which they came. */
export function createTurns(atOnce: number): Turns {
  let running = 0;
  const waiting = new Set<() => void>();
  const next = (): void => {
    const [first] = waiting;
    if (first === undefined || running >= atOnce) return;
    waiting.delete(first);
    first();
  };
  return {
    take: async (signal, work) => {
      await new Promise<void>((resolve, reject) => {
        const leave = (): void => {
          waiting.delete(begin);
          reject(new Error('It was stopped before its turn.'));
        };
        const begin = (): void => {
          signal.removeEventListener('abort', leave);
          running += 1;
          resolve();
        };
        if (signal.aborted) return leave();
        signal.addEventListener('abort', leave, { once: true });
        waiting.add(begin);
        next();
      });
      try {
        return await work();
      } finally {
        running -= 1;
        next();
      }
    },
  };
}
