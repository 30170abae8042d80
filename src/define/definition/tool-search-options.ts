/** The options of tool search: of agents, of tools, and of a user's own engines. */
import type { ToolSearchSpec } from '../../core/contract/spec.ts';

/** The defaults of {@link ToolSearchOptions}. */
export const SEARCH_DEFAULTS = {
  /** A list of names stops being useful at about 20 tools. */
  hint: 'domains',
  /** Enough to choose from; the next page is one call away. */
  pageSize: 3,
  engines: ['bm25', 'regex'],
  noResults: 'No tool matches. Try other words, or a broader query.',
} as const;

/** How to write queries for the built-in engines, for the prompt. */
export const BUILT_IN_GUIDANCE: { readonly [id in BuiltInEngine]: string } = {
  bm25: 'plain words, for example "look up a booking"',
  regex: 'a case-insensitive pattern over all texts of a tool, for example "^get_.*info$"',
};

/** The engines that come with the package: ranked words, and regular expressions. */
export type BuiltInEngine = 'bm25' | 'regex';

/** The texts by which a tool is found, besides its name and description. */
export interface ToolSearchFields {
  /** The domain, such as `Booking`; the prompt lists all domains. */
  readonly domain?: string;
  /** Kinds of work within the domain; the prompt lists them with it. */
  readonly categories?: readonly string[];
  /** Words that a model may search for. */
  readonly keywords?: readonly string[];
  /** Requests that the tool answers, such as `change my flight`. */
  readonly queries?: readonly string[];
}

/** A tool as an engine gets it; missing texts are empty. */
export interface SearchableTool extends Required<ToolSearchFields> {
  readonly name: string;
  readonly description: string;
}

/** A search engine; it runs on the worker. */
export interface SearchEngine {
  /** What the model writes as `query_type`: 1 to 64 letters, digits, `_` or `-`, a letter first. */
  readonly id: string;
  /** How to write a query, for the prompt; best with an example. */
  readonly guidance: string;
  /**
   * Returns names of tools, best first; unknown names are dropped. `query` is what the model wrote.
   * A thrown `ToolError` is shown to the model; other errors are retried. `tools` is the same
   * object in every call, so it can be the key of a cached index.
   */
  readonly search: (
    query: string,
    tools: readonly SearchableTool[],
    io: { readonly signal: AbortSignal },
  ) => readonly string[] | Promise<readonly string[]>;
}

/**
 * The option `toolSearch` of an agent. The prompt explains how to search instead of listing tools.
 */
export interface ToolSearchOptions {
  /** What the prompt lists instead: `domains` (default) or the `names` of all tools. */
  readonly hint?: ToolSearchSpec['hint'];
  /** Tools per page, from 1. Default 3. */
  readonly pageSize?: number;
  /** Names of tools that are always shown in full. Default: none. */
  readonly pins?: readonly string[];
  /** The engines; the first is used when the model names none. Default: `bm25` and `regex`. */
  readonly engines?: readonly (BuiltInEngine | SearchEngine)[];
  /** The text for the model when nothing matches. Default: a hint to try other words. */
  readonly noResults?: string;
}

/** The options as plain data. */
export function toolSearchSpec(options: ToolSearchOptions): ToolSearchSpec {
  return {
    hint: options.hint ?? SEARCH_DEFAULTS.hint,
    pageSize: options.pageSize ?? SEARCH_DEFAULTS.pageSize,
    pins: options.pins ?? [],
    engines: enginesOf(options).map((engine) =>
      typeof engine === 'string'
        ? { id: engine, guidance: BUILT_IN_GUIDANCE[engine] }
        : { id: engine.id, guidance: engine.guidance },
    ),
    noResults: options.noResults ?? SEARCH_DEFAULTS.noResults,
  };
}

/** The engines of the options; built-in ones by name. */
export function enginesOf(options: ToolSearchOptions): readonly (BuiltInEngine | SearchEngine)[] {
  return options.engines ?? SEARCH_DEFAULTS.engines;
}

/** Whether searches are fast enough for a local activity; a user's own engines may not be. */
export function isLocalSearch(options: ToolSearchOptions): boolean {
  return enginesOf(options).every((engine) => typeof engine === 'string');
}
