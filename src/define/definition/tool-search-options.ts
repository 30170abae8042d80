/** What a user says of tool search: of the agent, of single tools, and of own engines. */
import type { ToolSearchSpec } from '../../core/contract/spec.ts';

/** What an agent does whose `toolSearch` does not say otherwise. */
export const SEARCH_DEFAULTS = {
  /** Names alone say little once there are more than about 20 tools. */
  hint: 'domains',
  /** Three blocks are read at a glance; the next page is one call away. */
  pageSize: 3,
  engines: ['bm25', 'regex'],
  noResults: 'No tool matches. Try other words, or a broader query.',
} as const;

/** What the model is told of the built-in engines. */
export const BUILT_IN_GUIDANCE: { readonly [id in BuiltInEngine]: string } = {
  bm25: 'plain words, for example "look up a booking"',
  regex: 'a case-insensitive pattern over all texts of a tool, for example "^get_.*info$"',
};

/** The engines that come with the package: ranked words, and regular expressions. */
export type BuiltInEngine = 'bm25' | 'regex';

/** By what a tool is found, beside its name and description. */
export interface ToolSearchFields {
  /** Where it belongs, such as `Booking`; the prompt lists the domains. */
  readonly domain?: string;
  /** Kinds of work within the domain; listed beside it. */
  readonly categories?: readonly string[];
  /** Words that a model may look for. */
  readonly keywords?: readonly string[];
  /** Requests that the tool answers, such as `change my flight`. */
  readonly queries?: readonly string[];
}

/** A tool as an engine sees it; texts that the tool does not have are empty. */
export interface SearchableTool extends Required<ToolSearchFields> {
  readonly name: string;
  readonly description: string;
}

/** An engine: on the worker, called with what the model wrote. */
export interface SearchEngine {
  /** What the model writes as `query_type`: letters, digits, `_` or `-`. */
  readonly id: string;
  /** How to write a query, for the prompt; at best with an example. */
  readonly guidance: string;
  /**
   * Names of tools, best first; unknown names are dropped. A thrown `ToolError` is for the model;
   * other errors are retried. The list of tools is the same object in every call.
   */
  readonly search: (
    query: string,
    catalogue: readonly SearchableTool[],
    io: { readonly signal: AbortSignal },
  ) => readonly string[] | Promise<readonly string[]>;
}

/** The option `toolSearch` of an agent: its prompt says how to search instead of showing all tools. */
export interface ToolSearchOptions {
  /** What the prompt shows instead: areas (default), or the names of all tools. */
  readonly hint?: ToolSearchSpec['hint'];
  /** Tools per page, from 1. Default 3. */
  readonly pageSize?: number;
  /** Names of tools that are always shown in full. */
  readonly pins?: readonly string[];
  /** Default: both built-in engines. The first is used when the model names none. */
  readonly engines?: readonly (BuiltInEngine | SearchEngine)[];
  /** What the model reads when nothing matches. */
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

/** The engines of the options, built-in ones by their names. */
export function enginesOf(options: ToolSearchOptions): readonly (BuiltInEngine | SearchEngine)[] {
  return options.engines ?? SEARCH_DEFAULTS.engines;
}

/** Whether searches are quick enough for a local activity: engines of a user's own may not be. */
export function isLocalSearch(options: ToolSearchOptions): boolean {
  return enginesOf(options).every((engine) => typeof engine === 'string');
}
