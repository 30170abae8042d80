/**
 * The catalogue of a server: its listing as tools of an agent. Pure, except that it lets other work
 * run between tools.
 *
 * I1  A tool's hash covers what its server says of it, before anything is removed or overridden. So
 *     every change of the server shows.
 * I2  Order and names depend on the listing as a set, not on its order.
 */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { defined } from '../../core/base/defined.ts';
import {
  canonicalJson,
  isDeeperThan,
  isPlainObject,
  type Json,
  type JsonObject,
} from '../../core/base/json.ts';
import type { ToolEffect, ToolSpec } from '../../core/contract/spec.ts';
import type { ToolSearchFields } from '../../define/definition/tool-search-options.ts';
import type {
  McpApproval,
  McpServerDefinition,
  McpToolOverride,
} from '../../define/definition/mcp-server.ts';
import { TOOL_BOUNDS, TOOL_DEFAULTS } from '../../define/tool/tool-options.ts';
import {
  bounded,
  overrideWarnings,
  patternWarnings,
  warning,
  type CatalogueWarning,
} from './catalogue-warnings.ts';
import { effectOf, isDestructive, type ToolHints } from './effect-of.ts';
import { visibleText } from '../text/hidden-text.ts';
import { differenceOf, type LockedServer } from './lock-file.ts';
import { fitsPattern, toolName } from './tool-name.ts';
import { argumentsSchema, cleanSchema } from './tool-schema.ts';

/** Characters of a tool's description. */
const MAX_DESCRIPTION = 2_000;

/** Characters of the instructions of a server. */
const MAX_INSTRUCTIONS = 4_000;

/** Levels of what a server says of a tool; deeper ones are not read. */
export const MAX_TOOL_DEPTH = 100;

/** Bytes of the server's name of a tool, which is part of each binding. */
const MAX_TOOL_NAME = 128;

/** Tools that are read before other work of the process runs. */
const TOOLS_AT_ONCE = 20;

/** A tool of a server as this worker knows it. */
export interface CatalogueTool {
  /** The server's name of it. */
  readonly tool: string;
  readonly hash: string;
  readonly spec: ToolSpec;
  readonly search: ToolSearchFields;
  /** Which calls a person approves, if a function says it. */
  readonly approval?: (args: unknown) => boolean | Promise<boolean>;
  /** The effect by the server's hints alone; absent: Everloop has added the tool. */
  readonly hinted?: ToolEffect;
  readonly questions?: 'decline';
  /** Set if only the server can check the arguments. */
  readonly isStricter?: true;
}

/** A tool that agents cannot use, and why. */
export interface LeftOutTool {
  readonly tool: string;
  readonly reason: string;
  /** Set if the tool could be read. */
  readonly hash?: string;
  readonly effect?: ToolEffect;
  /** Set if only its pin keeps it out of new runs: runs that began with it still call it. */
  readonly unpinned?: CatalogueTool;
}

/** What a server offers. */
export interface Catalogue {
  /** The name that the server gives itself; empty if it gives none. */
  readonly identity: string;
  readonly instructions?: string;
  /** Sorted by name. */
  readonly tools: readonly CatalogueTool[];
  readonly leftOut: readonly LeftOutTool[];
  readonly warnings: readonly CatalogueWarning[];
}

/** What a server says of itself. */
export interface ServerListing {
  readonly identity: string;
  readonly instructions?: string | undefined;
  readonly tools: readonly unknown[];
}

/**
 * The catalogue of `server`; `locked` are its pinned tools, `own` the tools that it does not list. Others
 * have their turn between a few tools: a thousand large ones take a third of a second.
 */
export async function makeCatalogue(
  server: McpServerDefinition,
  listing: ServerListing,
  { locked, own = [] }: { readonly locked?: LockedServer; readonly own?: readonly CatalogueTool[] },
): Promise<Catalogue> {
  const warnings: CatalogueWarning[] = [];
  const read: (CatalogueTool | LeftOutTool)[] = [];
  for (const [at, tool] of uniqueTools(listing.tools).entries()) {
    if (at > 0 && at % TOOLS_AT_ONCE === 0) await setImmediate();
    read.push(readTool(server, tool, warnings, locked));
  }
  const tools = [...read.filter((it) => 'spec' in it), ...own];
  const leftOut = read.filter((it) => 'reason' in it);
  const names = [...new Set(read.map(({ tool }) => tool))];
  warnings.push(...patternWarnings(server, names), ...overrideWarnings(server, names));
  const { identity, instructions } = listing;
  const shown =
    server.instructions && instructions !== undefined
      ? visibleText(instructions, MAX_INSTRUCTIONS)
      : undefined;
  if (shown?.hadHidden === true) {
    const text = 'hidden characters were removed from what it says of itself.';
    warnings.push(warning(server, 'mcp_hidden_text', text));
  }
  return {
    identity: visibleText(identity, 200).text,
    ...defined({ instructions: shown?.text === '' ? undefined : shown?.text }),
    tools: tools.toSorted(byNames),
    leftOut,
    warnings: bounded(server, warnings),
  };
}

/** Sorts by the names for models, then by those of the server. */
function byNames(a: CatalogueTool, b: CatalogueTool): number {
  if (a.spec.name !== b.spec.name) return a.spec.name < b.spec.name ? -1 : 1;
  return a.tool < b.tool ? -1 : 1;
}

/** The tools by name: of two with one name the first counts. */
function uniqueTools(tools: readonly unknown[]): readonly { readonly [key: string]: unknown }[] {
  const byName = new Map<string, { readonly [key: string]: unknown }>();
  for (const tool of tools) {
    if (!isPlainObject(tool) || typeof tool['name'] !== 'string' || tool['name'] === '') continue;
    if (!byName.has(tool['name'])) byName.set(tool['name'], tool);
  }
  return [...byName.values()];
}

/** The tools of a catalogue as a lock file keeps them. */
export function lockedOf({ identity, tools, leftOut }: Catalogue): LockedServer {
  const all = [...tools, ...leftOut.flatMap(({ unpinned }) => unpinned ?? [])];
  const locked = all.flatMap(({ tool, hash, hinted: effect }) =>
    effect === undefined ? [] : [[tool, { hash, effect }] as const],
  );
  return { identity, tools: Object.fromEntries(locked) };
}

/** 16 hex digits over what a server says of a tool. */
export function toolHash(tool: { readonly [key: string]: unknown }): string {
  const { name, description, inputSchema, annotations } = tool;
  const said = defined({ name, description, inputSchema, annotations }) as JsonObject;
  return createHash('sha256').update(canonicalJson(said)).digest('hex').slice(0, 16);
}

function readTool(
  server: McpServerDefinition,
  given: { readonly [key: string]: unknown },
  warnings: CatalogueWarning[],
  locked: LockedServer | undefined,
): CatalogueTool | LeftOutTool {
  const tool = given['name'] as string;
  const shownTool = visibleText(tool, MAX_TOOL_NAME).text;
  const leave = (reason: string, said?: Pick<LeftOutTool, 'hash' | 'effect'>): LeftOutTool => ({
    tool: shownTool,
    reason,
    ...said,
  });
  if (Buffer.byteLength(tool) > MAX_TOOL_NAME) return leave('its name is too long');
  if (isDeeperThan(given, MAX_TOOL_DEPTH)) return leave('it nests too deep');
  const hints = (isPlainObject(given['annotations']) ? given['annotations'] : {}) as ToolHints;
  const override = Object.hasOwn(server.overrides, tool) ? server.overrides[tool] : undefined;
  const effect = override?.effect ?? effectOf(hints);
  const said = { hash: toolHash(given), effect };
  const excluded = exclusionOf(server, tool, given);
  if (excluded !== undefined) return leave(excluded, said);
  const schema = argumentsSchema(given['inputSchema'] as Json);
  if (schema.kind === 'unfit') {
    warnings.push(
      warning(server, 'mcp_tool_left_out', `tool \`${shownTool}\` is left out: ${schema.reason}.`),
    );
    return leave(schema.reason, said);
  }
  const description = describe(given, override);
  if (schema.hadHidden || description.hadHidden) {
    const text = `hidden characters were removed from the description of \`${shownTool}\`.`;
    warnings.push(warning(server, 'mcp_hidden_text', text));
  }
  const parts = { tool, effect, hints, schema: schema.schema, description: description.text };
  const output = cleanSchema((given['outputSchema'] ?? null) as Json);
  const approval = override?.approval ?? server.approval;
  const found: CatalogueTool = {
    tool,
    hash: said.hash,
    hinted: effectOf(hints),
    spec: {
      ...specOf(server, override, parts),
      ...approvalOf(approval, hints),
      ...defined({ output: output.kind === 'schema' ? output.schema : undefined }),
      mcp: { server: server.name, tool, hash: said.hash },
    },
    search: { domain: server.name, ...override?.search },
    ...defined({
      questions: override?.questions,
      isStricter: schema.isStricter ? true : undefined,
      approval:
        typeof approval === 'function' ? (args: unknown) => approval(tool, args) : undefined,
    }),
  };
  const pinned = pinProblem(server, tool, { hash: said.hash, effect: effectOf(hints) }, locked);
  if (pinned === undefined) return found;
  warnings.push(pinned);
  const reason = pinned.code === 'mcp_tool_new' ? 'it is not pinned' : 'it has changed';
  return { ...leave(reason, said), unpinned: found };
}

function describe(
  given: { readonly [key: string]: unknown },
  override: McpToolOverride | undefined,
): ReturnType<typeof visibleText> {
  if (override?.description !== undefined) return { text: override.description, hadHidden: false };
  const { description, title, name } = given;
  const words = [description, title, name].find((it) => typeof it === 'string' && it.trim() !== '');
  return visibleText(words as string, MAX_DESCRIPTION);
}

interface SpecParts {
  readonly tool: string;
  readonly effect: ToolEffect;
  readonly schema: JsonObject;
  readonly description: string;
}

function specOf(
  server: McpServerDefinition,
  override: McpToolOverride = {},
  { tool, effect, schema, description }: SpecParts,
): ToolSpec {
  // Only a read that is quick may hold a workflow task.
  const local = override.local === true && effect === 'read';
  const timeoutMs = override.timeoutMs ?? (local ? TOOL_DEFAULTS.localTimeoutMs : server.timeoutMs);
  const retry = { ...TOOL_DEFAULTS.retry, ...override.retry };
  return {
    name: override.name ?? toolName(server.prefix, tool),
    description,
    ...defined({ policy: override.policy, approvalTimeoutMs: override.approvalTimeoutMs }),
    parameters: isEmpty(schema) ? null : schema,
    effect,
    local,
    timeoutMs: local ? Math.min(timeoutMs, TOOL_BOUNDS.localTimeoutMs) : timeoutMs,
    retry: effect === 'once' ? { ...retry, attempts: 1 } : retry,
    sequential: override.sequential ?? false,
    maxResultBytes: override.maxResultBytes ?? TOOL_DEFAULTS.maxResultBytes,
    ...defined({ cache: override.cache === true && effect !== 'once' ? true : undefined }),
    area: defined({ domain: server.name, categories: override.search?.categories }),
  };
}

/** Whether a tool takes no arguments. */
function isEmpty({ properties, additionalProperties, ...rest }: JsonObject): boolean {
  const isBare = Object.keys(rest).every((key) => ['type', 'title', 'description'].includes(key));
  const names = Object.keys((properties ?? {}) as JsonObject);
  const isClosed = additionalProperties === undefined || additionalProperties === false;
  return isBare && names.length === 0 && isClosed;
}

function approvalOf(approval: McpApproval, hints: ToolHints): Pick<ToolSpec, 'approval'> {
  if (typeof approval === 'function') return { approval: 'function' };
  const isAsked = approval === 'always' || (approval === 'destructive' && isDestructive(hints));
  return isAsked ? { approval: 'always' } : {};
}

/** Why an agent does not use the tool; undefined if it does. */
function exclusionOf(
  { allow, deny }: McpServerDefinition,
  tool: string,
  { execution }: { readonly [key: string]: unknown },
): string | undefined {
  const isFitting = (pattern: string): boolean => fitsPattern(tool, pattern);
  if (allow !== undefined && !allow.some(isFitting)) return '`tools.allow` does not name it';
  const denied = deny?.find(isFitting);
  if (denied !== undefined) return `\`tools.deny\` names it: ${denied}`;
  // The tasks of that revision are gone from the next one.
  const needsTask = isPlainObject(execution) && execution['taskSupport'] === 'required';
  return needsTask ? 'it needs tasks of revision 2025-11-25' : undefined;
}

function pinProblem(
  server: McpServerDefinition,
  tool: string,
  now: { readonly hash: string; readonly effect: ToolEffect },
  locked: LockedServer | undefined,
): CatalogueWarning | undefined {
  if (locked === undefined) return undefined;
  const pinned = Object.hasOwn(locked.tools, tool) ? locked.tools[tool] : undefined;
  const difference = differenceOf(pinned, now);
  const shown = visibleText(tool, MAX_TOOL_NAME).text;
  const advice = 'Look at it with `everloop mcp check`, then run `everloop mcp lock`.';
  if (difference === 'new') {
    return warning(
      server,
      'mcp_tool_new',
      `tool \`${shown}\` is left out: it is not pinned. ${advice}`,
    );
  }
  if (difference === undefined || difference === 'gone') return undefined;
  return warning(
    server,
    'mcp_tool_changed',
    `tool \`${shown}\` is left out: it has changed. ${advice}`,
  );
}
