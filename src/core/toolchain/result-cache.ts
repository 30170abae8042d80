/**
 * Results of tools with `cache`, kept in the state of the run. So a hit is the same on every replay
 * and every worker, and costs neither an activity nor history.
 */
import { defined } from '../base/defined.ts';
import type { ToolSpec } from '../contract/spec.ts';
import { byteSize, canonicalJson, type Json } from '../base/json.ts';
import type { ToolCall } from '../base/message.ts';
import type { ToolResult } from '../contract/outcome.ts';

/** 256 KB, because it is handed over with the run, and the service limits payloads to 2 MB. */
export const MAX_CACHED_BYTES: number = 256 * 1024;

/** The fields of a successful result that are kept; its reports were applied when it ended. */
type KeptResult = Pick<
  ToolResult,
  'output' | 'forModel' | 'final' | 'media' | 'instructions' | 'importance' | 'cut'
>;

/** One kept result. */
export interface CachedResult {
  /** Name of the tool and its arguments, whatever the order of their keys. */
  readonly key: string;
  /** UTF-8 bytes of key and result. */
  readonly bytes: number;
  readonly result: KeptResult;
  /** The iteration that shows it. */
  readonly iteration: number;
}

/** The result to keep for a call; undefined unless it succeeded and its tool has `cache`. */
export function toCachedResult(
  tool: ToolSpec | undefined,
  call: ToolCall,
  result: ToolResult,
  iteration: number,
): CachedResult | undefined {
  // A result without an attempt came from the cache.
  if (tool?.cache !== true || result.outcome !== 'ok' || result.attempts === 0) return undefined;
  const { output, forModel, final, media, instructions, importance, cut } = result;
  const shown = { output, forModel, final, media, instructions, importance, cut };
  const kept: KeptResult = defined(shown);
  const key = keyOf(call);
  const bytes = byteSize([key, kept as unknown as Json]);
  return bytes > MAX_CACHED_BYTES ? undefined : { key, bytes, result: kept, iteration };
}

/** The cache with `added` as its newest; the oldest are dropped if all together are too large. */
export function keepResult(
  cached: readonly CachedResult[],
  added: CachedResult,
): readonly CachedResult[] {
  const all = [...cached.filter(({ key }) => key !== added.key), added];
  let bytes = all.reduce((sum, entry) => sum + entry.bytes, 0);
  let dropped = 0;
  for (; bytes > MAX_CACHED_BYTES; dropped++) bytes -= all[dropped]?.bytes ?? 0;
  return all.slice(dropped);
}

/** The result of an equal call that succeeded before, as if it had just ended. */
export function cachedResult(
  cached: readonly CachedResult[] | undefined,
  tool: ToolSpec,
  call: ToolCall,
): ToolResult | undefined {
  if (tool.cache !== true || cached === undefined) return undefined;
  const key = keyOf(call);
  const found = cached.find((entry) => entry.key === key);
  if (found === undefined) return undefined;
  return { ...found.result, outcome: 'ok', attempts: 0, started: true };
}

function keyOf({ tool, args }: ToolCall): string {
  return `${tool} ${canonicalJson(args)}`;
}
