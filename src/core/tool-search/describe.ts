/** What a model reads about tool search: the overview in the prompt, and the hits of a search. */
import type { FoundTool } from '../base/message.ts';
import type { AgentSpec, ToolSearchSpec, ToolSpec, ToolStub } from '../contract/spec.ts';
import type { ModelTool } from '../contract/model.ts';
import { ASK_TOOL } from '../toolchain/ask-user.ts';
import { catalogueBlock, catalogueText, modelTool } from '../toolchain/catalogue.ts';
import { nativeName } from '../toolchain/native-calls.ts';
import type { Toolchain } from '../toolchain/toolchain.ts';
import { SEARCH_TOOL, searchToolDescription, type SearchPage } from './query.ts';

/** The parts of a specification that say what the agent may call. */
export type ToolsOfAgent = Pick<AgentSpec, 'tools' | 'toolSearch'> & {
  readonly stubs?: AgentSpec['stubs'] | undefined;
};

const findLine = `Find the ones you need with ${SEARCH_TOOL}, then call them like any other tool.`;

/** The section `tools` of a prompt: all tools, or an overview and how to search. */
export function toolsText(
  { tools, stubs, toolSearch }: ToolsOfAgent,
  toolchain: Toolchain,
): string {
  if (toolSearch === undefined) return catalogueText(tools, toolchain);
  const searchTool = tools.find(({ name }) => name === SEARCH_TOOL);
  const pinned = toolSearch.pins.flatMap((pin) => tools.find(({ name }) => name === pin) ?? []);
  return [
    overview({ tools, stubs }, toolSearch),
    ...(searchTool === undefined
      ? []
      : [`${catalogueBlock(searchTool, toolchain)}\n${indentedQueries(toolSearch)}`]),
    ...(pinned.length === 0 ? [] : ['Always at hand:']),
    ...pinned.map((tool) => catalogueBlock(tool, toolchain)),
  ].join('\n\n');
}

/**
 * The tools that a chat request declares; `discovered`: those that searches have shown, and `found`
 * those of them that `tools` lacks.
 */
export function declaredTools(
  { tools, stubs, toolSearch }: ToolsOfAgent,
  discovered: readonly string[],
  found: readonly FoundTool[] = [],
): readonly ModelTool[] {
  if (toolSearch === undefined) return tools.map(modelTool);
  const names = new Set([...toolSearch.pins, ...discovered]);
  const shown = [...names].flatMap((name) => {
    const isNamed = (tool: { readonly name: string }): boolean => tool.name === name;
    return tools.filter(isNamed).map(modelTool)[0] ?? found.filter(isNamed).map(declared);
  });
  const searchTool = tools.filter(({ name }) => name === SEARCH_TOOL);
  // Providers have no place for a catalogue, so the overview is part of the description.
  const description = `${searchToolDescription}\n\n${overview({ tools, stubs }, toolSearch)}\n\n${queryLines(toolSearch).join('\n')}`;
  return [...searchTool.map((tool) => ({ ...modelTool(tool), description })), ...shown];
}

function declared(tool: FoundTool): ModelTool {
  return { ...tool, name: nativeName(tool.name) };
}

/** The text of the hits, and the tools whose blocks are in it. */
export interface HitsText {
  readonly text: string;
  /** All tools of the page, including those shown before. */
  readonly shown: readonly string[];
}

/** The result of a search. Blocks of `shownBefore`, from the same batch, are not repeated. */
export function hitsText(
  { tools, stubs, toolSearch }: ToolsOfAgent,
  { names, page, total }: SearchPage,
  shownBefore: ReadonlySet<string>,
  toolchain: Toolchain,
): HitsText {
  const { pageSize, noResults } = toolSearch ?? { pageSize: 1, noResults: '' };
  if (total === 0) return { text: noResults, shown: [] };
  const pages = Math.ceil(total / pageSize);
  if (page > pages) {
    return { text: `There is no page ${page}, the last is ${pages}.`, shown: [] };
  }
  const found = names.flatMap((name) => tools.find((tool) => tool.name === name) ?? []);
  const repeated = found.filter(({ name }) => shownBefore.has(name)).map(({ name }) => name);
  const blocks = found
    .filter(({ name }) => !shownBefore.has(name))
    .map((tool) => catalogueBlock(tool, toolchain));
  const unread = names.filter((name) => !found.some((tool) => tool.name === name));
  const left = unread.filter((name) => stubs?.some((stub) => stub.name === name));
  const text = [
    ...blocks,
    ...(left.length === 0 ? [] : [`No room here, search for them alone: ${left.join(', ')}`]),
    ...(repeated.length === 0 ? [] : [`Already shown above: ${repeated.join(', ')}`]),
    `Page ${page} of ${pages}, ${total} tools.`,
  ].join('\n\n');
  return { text, shown: found.map(({ name }) => name) };
}

function overview({ tools, stubs = [] }: ToolsOfAgent, { hint }: ToolSearchSpec): string {
  const found = [...tools, ...stubs.map(placed)].filter(
    ({ name }) => name !== SEARCH_TOOL && name !== ASK_TOOL,
  );
  const lines =
    hint === 'names'
      ? [`There are ${found.length} tools:`, ...found.map(({ name }) => `- ${name}`)]
      : [`There are ${found.length} tools in these areas:`, ...areaLines(found)];
  return [...lines, findLine].join('\n');
}

/** A stub as the overview needs it: it has its area only if that is not its server alone. */
function placed({ name, area, mcp }: ToolStub): Pick<ToolSpec, 'name' | 'area'> {
  return { name, area: area ?? { domain: mcp.server } };
}

/** A line for each domain, in the order in which the tools name them; tools without one last. */
function areaLines(tools: readonly Pick<ToolSpec, 'area'>[]): readonly string[] {
  const domains = [...new Set(tools.map(({ area }) => area?.domain))];
  const ordered = [
    ...domains.filter((domain) => domain !== undefined),
    ...domains.filter((domain) => domain === undefined),
  ];
  return ordered.map((domain) => {
    const own = tools.filter(({ area }) => area?.domain === domain);
    const categories = [...new Set(own.flatMap(({ area }) => area?.categories ?? []))];
    const listed = categories.length === 0 ? '' : ` (${categories.join(', ')})`;
    return `- ${domain ?? 'other'}${listed}: ${own.length} ${own.length === 1 ? 'tool' : 'tools'}`;
  });
}

function queryLines({ engines }: ToolSearchSpec): readonly string[] {
  return ['Queries:', ...engines.map(({ id, guidance }) => `- ${id}: ${guidance}`)];
}

function indentedQueries(search: ToolSearchSpec): string {
  return queryLines(search)
    .map((line) => `  ${line}`)
    .join('\n');
}
