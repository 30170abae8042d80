/**
 * Arguments that a server wants as headers as well, so that proxies can route by them: properties with
 * `x-mcp-header`, of revision 2026-07-28. A server refuses a call without them.
 */
import { isJsonObject, type Json, type JsonObject } from '../../core/base/json.ts';

/** Headers of one call. */
const MAX_HEADERS = 20;

/** Characters of one value; longer ones would be refused on the way. */
const MAX_VALUE = 4_000;

/** What a header's name may consist of. */
const TOKEN = /^[!#$%&'*+.^_`|~\w-]{1,100}$/;

/** The headers of a call with `args` of a tool that takes `schema`. */
export function paramHeaders(
  schema: JsonObject | null,
  args: JsonObject,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  collect(schema, args, headers);
  return headers;
}

function collect(
  schema: Json | null | undefined,
  args: Json | undefined,
  into: Record<string, string>,
): void {
  const properties = isJsonObject(schema ?? null)
    ? (schema as JsonObject)['properties']
    : undefined;
  if (properties === undefined || !isJsonObject(properties)) return;
  if (args === undefined || !isJsonObject(args)) return;
  for (const [key, property] of Object.entries(properties)) {
    if (!isJsonObject(property) || !Object.hasOwn(args, key)) continue;
    const name = property['x-mcp-header'];
    const text = textOf(args[key]);
    const isNamed = typeof name === 'string' && TOKEN.test(name);
    if (isNamed && text !== undefined && Object.keys(into).length < MAX_HEADERS) {
      into[`Mcp-Param-${name}`] = encoded(text);
    }
    collect(property, args[key], into);
  }
}

function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value.length <= MAX_VALUE ? value : undefined;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined;
}

/** Text that no header can hold goes as base64, marked as such. */
function encoded(text: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(text) && text === text.trim() && !text.startsWith('=?');
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
