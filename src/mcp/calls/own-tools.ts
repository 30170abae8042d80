/** The tools that Everloop adds for the resources and prompts of a server. */
import { isPlainObject, type JsonObject } from '../../core/base/json.ts';
import { ToolError } from '../../core/base/tool-error.ts';
import { clip } from '../../core/text/cut.ts';
import type { McpServerDefinition } from '../../define/definition/mcp-server.ts';
import { TOOL_DEFAULTS } from '../../define/tool/tool-options.ts';
import type { CatalogueTool } from '../catalogue/catalogue.ts';
import { toolName } from '../catalogue/tool-name.ts';
import type { McpConnection, McpRequestOptions } from '../connection/connection.ts';
import { visibleText } from '../text/hidden-text.ts';
import { addResource, linkLine, partsOf, type CallReading } from './result.ts';

/** Entries of one answer; a search narrows it. */
const MAX_LISTED = 100;

/** Pages that a search reads. */
const MAX_PAGES = 20;

/** Characters of a description in a list. */
const MAX_DESCRIPTION = 300;

const TEXT = { type: 'string' } as const;

/** A call on a connection. */
type Run = (
  connection: McpConnection,
  args: JsonObject,
  options: McpRequestOptions,
) => Promise<CallReading>;

interface OwnTool {
  readonly method: string;
  readonly suffix: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly run: Run;
}

const RESOURCE_TOOLS: readonly OwnTool[] = [
  {
    method: 'resources/list',
    suffix: 'list_resources',
    description: 'Lists the resources of the server, and templates of their addresses.',
    parameters: objectOf({
      query: { ...TEXT, description: 'Only resources whose name, address or description has it.' },
      cursor: { ...TEXT, description: 'Where a previous list ended.' },
    }),
    run: listResources,
  },
  {
    method: 'resources/read',
    suffix: 'read_resource',
    description: 'Reads a resource of the server.',
    parameters: objectOf({ uri: { ...TEXT, description: 'Its address.' } }, ['uri']),
    run: readResource,
  },
];

const PROMPT_TOOLS: readonly OwnTool[] = [
  {
    method: 'prompts/list',
    suffix: 'list_prompts',
    description: 'Lists the prompts that the server offers, with their arguments.',
    parameters: objectOf({ cursor: { ...TEXT, description: 'Where a previous list ended.' } }),
    run: listPrompts,
  },
  {
    method: 'prompts/get',
    suffix: 'get_prompt',
    description: 'Gets a prompt of the server as text.',
    parameters: objectOf({ name: TEXT, args: { type: 'object', additionalProperties: TEXT } }, [
      'name',
    ]),
    run: getPrompt,
  },
];

function objectOf(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The added tools that the definition asks for and the server can answer. */
export function ownTools(
  server: McpServerDefinition,
  offers: McpConnection['offers'],
): readonly CatalogueTool[] {
  const tools = [
    ...(server.resources && offers.resources ? RESOURCE_TOOLS : []),
    ...(server.prompts && offers.prompts ? PROMPT_TOOLS : []),
  ];
  return tools.map(({ method, suffix, description, parameters }) => {
    // A name that no server gives a tool of its own, and a hash that never changes.
    const tool = `everloop:${method}`;
    const hash = '0'.repeat(16);
    return {
      tool,
      hash,
      search: { domain: server.name },
      spec: {
        name: toolName(server.prefix, suffix),
        description,
        parameters,
        effect: 'read',
        local: false,
        timeoutMs: server.timeoutMs,
        retry: TOOL_DEFAULTS.retry,
        sequential: false,
        maxResultBytes: TOOL_DEFAULTS.maxResultBytes,
        area: { domain: server.name },
        mcp: { server: server.name, tool, hash },
      },
    };
  });
}

/** The code of an added tool; undefined for a tool of the server. */
export function ownRun(tool: string): Run | undefined {
  return [...RESOURCE_TOOLS, ...PROMPT_TOOLS].find(({ method }) => tool === `everloop:${method}`)
    ?.run;
}

function texts(lines: readonly string[]): CallReading {
  return { kind: 'ok', output: lines.join('\n'), media: [], forUser: [] };
}

type Entry = { readonly [field: string]: unknown };

async function listResources(
  connection: McpConnection,
  args: JsonObject,
  options: McpRequestOptions,
): Promise<CallReading> {
  const query = typeof args['query'] === 'string' ? args['query'].toLowerCase() : undefined;
  const found: string[] = [];
  let cursor = args['cursor'];
  if (cursor === undefined) found.push(...(await templateLines(connection, query, options)));
  for (let page = 1; page <= MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await connection.request('resources/list', params, options);
    found.push(...entriesOf(answer['resources'], query).map(resourceLine));
    const next = answer['nextCursor'];
    cursor = typeof next === 'string' ? next : undefined;
    if (cursor === undefined || query === undefined || found.length >= MAX_LISTED) break;
  }
  return texts(listed(found, cursor));
}

async function templateLines(
  connection: McpConnection,
  query: string | undefined,
  options: McpRequestOptions,
): Promise<readonly string[]> {
  try {
    const answer = await connection.request('resources/templates/list', {}, options);
    return entriesOf(answer['resourceTemplates'], query).map(
      (entry) => `${resourceLine({ ...entry, uri: entry['uriTemplate'] })} (template)`,
    );
  } catch (error) {
    // A server need not have templates.
    if (options.signal.aborted) throw error;
    return [];
  }
}

function entriesOf(list: unknown, query: string | undefined): readonly Entry[] {
  const entries = (Array.isArray(list) ? (list as readonly unknown[]) : []).filter(isPlainObject);
  const hits = entries.filter(
    ({ name, uri, uriTemplate, description }) =>
      query === undefined ||
      [name, uri, uriTemplate, description].some(
        (it) => typeof it === 'string' && it.toLowerCase().includes(query),
      ),
  );
  return hits.slice(0, MAX_LISTED);
}

function resourceLine(entry: Entry): string {
  const { description } = entry;
  const about = typeof description === 'string' ? ` ${clip(description, MAX_DESCRIPTION)}` : '';
  return visibleText(`${linkLine(entry)}${about}`.replaceAll('\n', ' '), 2_000).text;
}

function listed(found: readonly string[], cursor: unknown): readonly string[] {
  const shown = found.slice(0, MAX_LISTED);
  const lines = shown.length === 0 ? ['There are none.'] : shown;
  return typeof cursor === 'string' ? [...lines, `More with cursor: ${cursor}`] : lines;
}

async function readResource(
  connection: McpConnection,
  { uri }: JsonObject,
  options: McpRequestOptions,
): Promise<CallReading> {
  const answer = await connection.request('resources/read', { uri }, options);
  const contents: readonly unknown[] = Array.isArray(answer['contents']) ? answer['contents'] : [];
  const parts = partsOf([]);
  const into = { ...parts, mediaSize: 0 };
  for (const resource of contents.slice(0, MAX_LISTED)) addResource(into, resource);
  return { kind: 'ok', output: parts.texts.join('\n\n'), media: parts.media, forUser: [] };
}

async function listPrompts(
  connection: McpConnection,
  { cursor }: JsonObject,
  options: McpRequestOptions,
): Promise<CallReading> {
  const params = cursor === undefined ? {} : { cursor };
  const answer = await connection.request('prompts/list', params, options);
  const lines = entriesOf(answer['prompts'], undefined).map((prompt) => {
    const { name, description, arguments: given } = prompt;
    const named = entriesOf(given, undefined).map((it) =>
      it['required'] === true ? String(it['name']) : `${String(it['name'])}?`,
    );
    const about = typeof description === 'string' ? `: ${clip(description, MAX_DESCRIPTION)}` : '';
    const line = `- ${String(name)}(${named.join(', ')})${about}`;
    return visibleText(line.replaceAll('\n', ' '), 2_000).text;
  });
  return texts(listed(lines, answer['nextCursor']));
}

async function getPrompt(
  connection: McpConnection,
  { name, args }: JsonObject,
  options: McpRequestOptions,
): Promise<CallReading> {
  const params = { name, ...(args === undefined ? undefined : { arguments: args }) };
  const answer = await connection.request('prompts/get', params, options);
  if (answer['resultType'] === 'input_required') {
    throw new ToolError('the server asks a question before it gives this prompt');
  }
  const messages = entriesOf(answer['messages'], undefined);
  const read = messages.map(({ role, content }) => ({ role, parts: partsOf([content].flat()) }));
  const output = read.map(({ role, parts }) => `${String(role)}: ${parts.texts.join('\n')}`);
  return {
    kind: 'ok',
    output: output.join('\n\n'),
    media: read.flatMap(({ parts }) => parts.media),
    forUser: [],
  };
}
