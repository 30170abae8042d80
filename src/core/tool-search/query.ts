/**
 * Tool search as the loop sees it: a built-in tool whose result is a page of names. Ranking happens
 * on the worker; `describe.ts` makes the text for the model.
 */
import { defined } from '../base/defined.ts';
import type { ToolSearchSpec, ToolSpec } from '../contract/spec.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';

/** The name of the built-in tool. */
export const SEARCH_TOOL = 'tool_registry_search';

/** What the built-in tool does, in the catalogue and for providers. */
export const searchToolDescription =
  'Find tools by what they do. The result shows how to call them.';

/** The time limit of a local activity. Built-in engines take milliseconds, a bad pattern 1 s. */
const LOCAL_TIMEOUT_MS = 5_000;

/** A user's engine may call a service. */
const ENGINE_TIMEOUT_MS = 60_000;

/** One page of a ranking. */
export interface SearchPage {
  readonly names: readonly string[];
  /** From 1. */
  readonly page: number;
  /** Total of tools found. */
  readonly total: number;
  /** The tools of servers among them, as they are now, if the run has stubs and they have room. */
  readonly found?: readonly ToolSpec[];
}

/** Arguments of the built-in tool after its schema was applied. */
export interface SearchQuery {
  readonly query: string;
  /** Id of an engine; absent if there is only one. */
  readonly query_type?: string;
  readonly page: number;
}

/** The built-in tool. `isLocal`: all engines run on the worker, in milliseconds. */
export function searchToolSpec(
  search: Pick<ToolSearchSpec, 'engines'>,
  isLocal: boolean,
): ToolSpec {
  return {
    name: SEARCH_TOOL,
    description: searchToolDescription,
    parameters: searchParameters(search),
    effect: 'read',
    local: isLocal,
    timeoutMs: isLocal ? LOCAL_TIMEOUT_MS : ENGINE_TIMEOUT_MS,
    retry: { attempts: 3, initialMs: 1_000, factor: 2 },
    sequential: false,
    maxResultBytes: 65_536,
  };
}

/** The schema of the arguments; with one engine there is no choice. */
function searchParameters({ engines }: Pick<ToolSearchSpec, 'engines'>): JsonObject {
  const ids = engines.map(({ id }) => id);
  return {
    type: 'object',
    properties: defined({
      query: { type: 'string' },
      query_type: ids.length < 2 ? undefined : { type: 'string', enum: ids, default: ids[0] ?? '' },
      page: { type: 'integer', minimum: 1, default: 1 },
    }),
    required: ['query'],
  };
}

/** Page number `page` of `ranking`: empty after the last one. */
export function searchPage(ranking: readonly string[], page: number, pageSize: number): SearchPage {
  const from = (page - 1) * pageSize;
  return { names: ranking.slice(from, from + pageSize), page, total: ranking.length };
}

/** The output of the built-in tool as a page; undefined if a middleware replaced it. */
export function readSearchPage(output: Json | undefined): SearchPage | undefined {
  if (!isJsonObject(output)) return undefined;
  const { names, page, total, found } = output;
  if (!Array.isArray(names) || typeof page !== 'number' || typeof total !== 'number') {
    return undefined;
  }
  const read = { names: names.filter((name) => typeof name === 'string'), page, total };
  return Array.isArray(found) ? { ...read, found: found.filter(isToolSpec) } : read;
}

/** A worker wrote it, so what is looked at is enough to tell it from what a middleware put there. */
function isToolSpec(value: unknown): value is ToolSpec {
  if (!isJsonObject(value as Json)) return false;
  const { name, description, parameters } = value as JsonObject;
  const isSchema = parameters === null || isJsonObject(parameters);
  return typeof name === 'string' && typeof description === 'string' && isSchema;
}

/**
 * `ranking` without duplicates and without names that the agent does not have: an index may be
 * older or newer than the agent, and a user's engine may return anything.
 */
export function knownRanking(
  ranking: readonly string[],
  known: ReadonlySet<string>,
): readonly string[] {
  return [...new Set(ranking)].filter((name) => known.has(name));
}

/** Hits best first: by score, then by name. Scores are rounded, so the last bit does not matter. */
export function rankHits(
  hits: readonly { readonly name: string; readonly score: number }[],
): readonly string[] {
  const rounded = hits.map(({ name, score }) => ({ name, score: Math.round(score * 1e6) / 1e6 }));
  return rounded
    .toSorted((a, b) => b.score - a.score || byName(a.name, b.name))
    .map(({ name }) => name);
}

/** Code-point order, the same on every machine: names are ASCII, and locales differ. */
function byName(first: string, second: string): number {
  if (first === second) return 0;
  return first < second ? -1 : 1;
}
