/** Ranked search by words: BM25+ over the texts of each tool, by MiniSearch. */
import MiniSearch from 'minisearch';
import { rankHits } from '../core/tool-search/query.ts';
import {
  BUILT_IN_GUIDANCE,
  type SearchableTool,
  type SearchEngine,
} from '../define/definition/tool-search-options.ts';

/** The weight of a hit in each text. */
const BOOSTS = { name: 3, queries: 2, keywords: 2, categories: 1.5, domain: 1, description: 1 };

/** Words that are ignored because they are in most texts. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an and are as at be by does for from in is it its my of on or our that the this to was ' +
    'what when which who with your'
  ).split(' '),
);

/** Shorter words match too many others as a prefix. */
const MIN_PREFIX_LENGTH = 3;

/** Shorter words are one edit away from too many others. */
const MIN_FUZZY_LENGTH = 5;

/** Characters of a query that are read: a model may write a whole page. */
const MAX_QUERY_CHARACTERS = 1_000;

/** The engine `bm25`. Keeps one index for each list of tools, as long as the list lives. */
export function bm25Engine(): SearchEngine {
  const indexes = new WeakMap<readonly SearchableTool[], MiniSearch<SearchableTool>>();
  return {
    id: 'bm25',
    guidance: BUILT_IN_GUIDANCE.bm25,
    search: (query, tools) => {
      const index = indexes.get(tools) ?? indexOf(tools);
      indexes.set(tools, index);
      const hits = index.search(query.slice(0, MAX_QUERY_CHARACTERS));
      return rankHits(hits.map(({ id, score }) => ({ name: String(id), score })));
    },
  };
}

/** The words of a text, split at camelCase borders and at everything but letters and digits. */
export function searchWords(text: string): readonly string[] {
  return text
    .normalize('NFKC')
    .split(/[^\p{L}\p{N}]+/u)
    .flatMap(camelParts)
    .filter((word) => word !== '' && !STOP_WORDS.has(word));
}

/**
 * Skips words without capitals, which are most of them: indexing a thousand tools must be quick.
 */
function camelParts(word: string): string | readonly string[] {
  const lower = word.toLowerCase();
  if (lower === word) return word;
  const borders = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
  return word.split(borders).map((part) => part.toLowerCase());
}

function indexOf(tools: readonly SearchableTool[]): MiniSearch<SearchableTool> {
  const index = new MiniSearch<SearchableTool>({
    idField: 'name',
    fields: Object.keys(BOOSTS),
    extractField: (tool, field) => textOf(tool[field as keyof SearchableTool]),
    tokenize: (text) => [...searchWords(text)],
    processTerm: (term) => term,
    searchOptions: {
      boost: BOOSTS,
      combineWith: 'OR',
      prefix: (term) => term.length >= MIN_PREFIX_LENGTH,
      fuzzy: (term) => (term.length >= MIN_FUZZY_LENGTH ? 0.2 : false),
      weights: { prefix: 0.375, fuzzy: 0.45 },
      bm25: { k: 1.2, b: 0.7, d: 0.5 },
    },
  });
  index.addAll(tools);
  return index;
}

function textOf(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : value.join(' ');
}
