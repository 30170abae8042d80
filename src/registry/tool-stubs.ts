/** Which tools of servers a specification has whole, and which as stubs. */
import { byteSize, type Json } from '../core/base/json.ts';
import { defined } from '../core/base/defined.ts';
import type { ToolSpec, ToolStub } from '../core/contract/spec.ts';
import { clip } from '../core/text/cut.ts';
import { STUB_DEFAULTS } from '../core/tool-search/stubs.ts';

/** UTF-8 bytes of whole tools of servers: more would crowd out the conversation. */
export const MAX_WHOLE_BYTES = 65_536;

/** UTF-8 bytes of all stubs: a hand-over carries them beside the conversation. */
const MAX_STUB_BYTES = 786_432;

/** Characters of a description in a stub: the longest with which all stubs have room. */
const DESCRIPTIONS = [120, 40, 0];

/** The tools of servers as a run with tool search records them. */
export interface SplitTools {
  readonly whole: readonly ToolSpec[];
  readonly stubs: readonly ToolStub[];
  /** UTF-8 bytes of the stubs. */
  readonly bytes: number;
}

/** Pinned tools are whole, then the first that have room; the others are stubs. */
export function splitTools(listed: readonly ToolSpec[], pins: readonly string[]): SplitTools {
  const isPinned = ({ name }: ToolSpec): boolean => pins.includes(name);
  let left = MAX_WHOLE_BYTES;
  for (const tool of listed.filter(isPinned)) left -= sizeOf(tool);
  const isWhole = (tool: ToolSpec): boolean => {
    if (isPinned(tool)) return true;
    left -= sizeOf(tool);
    return left >= 0;
  };
  const whole = listed.filter(isWhole);
  const names = new Set(whole.map(({ name }) => name));
  const others = listed.filter(({ name }) => !names.has(name));
  let split: SplitTools = { whole, stubs: [], bytes: 0 };
  if (others.length === 0) return split;
  for (const characters of DESCRIPTIONS) {
    const stubs = others.flatMap((tool) => stubOf(tool, characters));
    split = { whole, stubs, bytes: sizeOf(stubs) };
    if (split.bytes <= MAX_STUB_BYTES) break;
  }
  return split;
}

/** A stub of `tool`, without the settings that are as they are for most tools. */
function stubOf(tool: ToolSpec, characters: number): ToolStub | readonly [] {
  const { name, description, effect, mcp, cache, approval, approvalTimeoutMs } = tool;
  // Whoever lists a tool of a server says which it is.
  if (mcp === undefined) return [];
  const attempts = effect === 'once' ? 1 : STUB_DEFAULTS.retry.attempts;
  const usual = { ...STUB_DEFAULTS, retry: { ...STUB_DEFAULTS.retry, attempts } };
  const unless = <Value>(value: Value, isUsual: Value): Value | undefined =>
    JSON.stringify(value) === JSON.stringify(isUsual) ? undefined : value;
  return {
    name,
    description: clip(description, characters),
    effect,
    ...defined({
      local: unless(tool.local, usual.local),
      timeoutMs: unless(tool.timeoutMs, usual.timeoutMs),
      retry: unless(tool.retry, usual.retry),
      sequential: unless(tool.sequential, usual.sequential),
      maxResultBytes: unless(tool.maxResultBytes, usual.maxResultBytes),
      area: unless(tool.area, { domain: mcp.server }),
      cache,
      approval,
      approvalTimeoutMs,
    }),
    mcp,
  };
}

function sizeOf(value: unknown): number {
  return byteSize(value as Json);
}

/** Problems of stubs that are too large together. */
export function stubProblems({ stubs, bytes }: SplitTools): readonly string[] {
  if (bytes <= MAX_STUB_BYTES) return [];
  const servers = [...new Set(stubs.map(({ mcp }) => mcp.server))].join(', ');
  return [
    `Expected at most ${MAX_STUB_BYTES / 1_024} KB of stubs of MCP tools, got ${Math.ceil(bytes / 1_024)} KB (${stubs.length} tools of ${servers}). Allow fewer.`,
  ];
}
