/**
 * The built-in tool `tool_registry_search` of an agent; the tool activity runs it like any tool.
 */
import {
  knownRanking,
  searchPage,
  searchToolSpec,
  type SearchPage,
  type SearchQuery,
} from '../core/tool-search/query.ts';
import { byteSize, type Json } from '../core/base/json.ts';
import { ToolError } from '../core/base/tool-error.ts';
import type { McpTool } from '../define/mcp/mcp-tools.ts';
import { bm25Engine } from './bm25-engine.ts';
import type { AgentDefinition, ToolDefinition } from '../define/definition/definitions.ts';
import { regexEngine } from './regex-engine.ts';
import {
  enginesOf,
  isLocalSearch,
  toolSearchSpec,
  type BuiltInEngine,
  type SearchableTool,
  type SearchEngine,
} from '../define/definition/tool-search-options.ts';

const BUILT_IN: { readonly [id in BuiltInEngine]: () => SearchEngine } = {
  bm25: bm25Engine,
  regex: regexEngine,
};

/** The last search tools over servers, since engines cache their index by the list of tools. */
const overServers = new WeakMap<
  AgentDefinition,
  { readonly key: string; readonly tool: ToolDefinition }
>();

/** The search tool of an agent whose servers have the tools `listed`. */
export function searchToolOver(
  definition: AgentDefinition,
  listed: readonly McpTool[],
): ToolDefinition | undefined {
  const key = listed.map(({ spec }) => `${spec.name} ${spec.mcp?.hash ?? ''}`).join();
  const known = overServers.get(definition);
  if (known?.key === key) return known.tool;
  const tool = searchTool(definition, listed);
  if (tool !== undefined) overServers.set(definition, { key, tool });
  return tool;
}

/** UTF-8 bytes of the specifications of a page, which its result holds beside the names. */
const MAX_PAGE_FOUND_BYTES = 49_152;

/** The search tool for a run with stubs: its pages have the tools of servers as they are now. */
export function findingStubs(tool: ToolDefinition, listed: readonly McpTool[]): ToolDefinition {
  return {
    ...tool,
    execute: async (args, context): Promise<SearchPage> => {
      const page = (await tool.execute(args, context)) as SearchPage;
      const shown = page.names.flatMap(
        (name) => listed.find(({ spec }) => spec.name === name)?.spec ?? [],
      );
      let left = MAX_PAGE_FOUND_BYTES;
      const found = shown.filter((spec) => {
        const bytes = byteSize(spec as unknown as Json);
        if (bytes > left) return false;
        left -= bytes;
        return true;
      });
      return { ...page, found };
    },
  };
}

/** The search tool of an agent, or undefined when its prompt shows all tools. */
export function searchTool(
  { tools, spec, toolSearch, servers }: AgentDefinition,
  listed: readonly McpTool[] = [],
): ToolDefinition | undefined {
  if (toolSearch === undefined || spec.toolSearch === undefined) return undefined;
  const { pageSize } = toolSearchSpec(toolSearch);
  const engines = enginesOf(toolSearch).map((engine) =>
    typeof engine === 'string' ? BUILT_IN[engine]() : engine,
  );
  // One object as long as the registry lives, because engines cache their index by it.
  const searchable = [...tools, ...listed].map(searchableTool);
  const known = new Set(searchable.map(({ name }) => name));
  return {
    kind: 'tool',
    spec: searchToolSpec(spec.toolSearch, isLocalSearch(toolSearch) && servers === undefined),
    standard: null,
    execute: async (args, { signal }): Promise<SearchPage> => {
      // The schema of the tool has checked them.
      const { query, query_type: id, page } = args as SearchQuery;
      const engine = engines.find((candidate) => candidate.id === id) ?? engines[0];
      const ranking: unknown = await engine?.search(query, searchable, { signal });
      if (!Array.isArray(ranking)) {
        throw new ToolError(`the search engine ${engine?.id ?? ''} returned no list of names`);
      }
      const names = ranking.filter((name): name is string => typeof name === 'string');
      return searchPage(knownRanking(names, known), page, pageSize);
    },
  };
}

/** All texts by which a tool can be found. */
export function searchableTool({ spec, search }: McpTool): SearchableTool {
  return {
    name: spec.name,
    description: spec.description,
    domain: search?.domain ?? '',
    categories: search?.categories ?? [],
    keywords: search?.keywords ?? [],
    queries: search?.queries ?? [],
  };
}
