/**
 * Tools of servers that a run knows by a stub until a search finds them: their words and schema are
 * then those that the server has at that time, and stay so. How a call runs is that of the start.
 */
import { defined } from '../base/defined.ts';
import { byteSize, type Json, type JsonObject } from '../base/json.ts';
import type { FoundTool } from '../base/message.ts';
import type { ProgramState } from '../contract/report.ts';
import type { AgentSpec, ToolSpec, ToolStub } from '../contract/spec.ts';

/** What a stub says only if it differs. */
export const STUB_DEFAULTS = {
  local: false,
  timeoutMs: 60_000,
  retry: { attempts: 3, initialMs: 1_000, factor: 2 },
  sequential: false,
  maxResultBytes: 65_536,
} as const;

/** UTF-8 bytes of what searches have found in a run; the oldest go, and can be found again. */
export const MAX_FOUND_BYTES = 65_536;

/** Nobody knows yet what a tool takes; its worker checks the arguments. */
const ANY_ARGUMENTS: JsonObject = { type: 'object' };

/** The parts of a run that say what it may call. */
export interface KnownTools {
  readonly head: { readonly spec: Pick<AgentSpec, 'tools' | 'stubs'> };
  /** What searches have found of the stubs, oldest first; absent: nothing. */
  readonly found?: readonly ToolSpec[];
}

/** The tool of this name: whole, found by a search, or as its stub; undefined: there is none. */
export function toolOf({ head: { spec }, found }: KnownTools, name: string): ToolSpec | undefined {
  const isNamed = (tool: { readonly name: string }): boolean => tool.name === name;
  const known = spec.tools.find(isNamed) ?? found?.find(isNamed);
  if (known !== undefined) return known;
  const stub = spec.stubs?.find(isNamed);
  return stub && specOfStub(stub);
}

/** The tools of these names, each once; unknown ones are left out. */
export function toolsNamed(state: KnownTools, names: readonly string[]): readonly ToolSpec[] {
  return [...new Set(names)].flatMap((name) => toolOf(state, name) ?? []);
}

/** A specification with what was found among its tools, for those who read a reply. */
export function withFoundTools(spec: AgentSpec, found: readonly ToolSpec[] = []): AgentSpec {
  return found.length === 0 ? spec : { ...spec, tools: [...spec.tools, ...found] };
}

/** The tools of a program: all but the stubs that neither it nor the `memory` of the run names. */
export function toolsOfProgram(
  { head: { spec }, found = [], program }: KnownTools & { readonly program?: ProgramState },
  source: string,
): readonly ToolSpec[] {
  if (spec.stubs === undefined) return spec.tools;
  const texts = [source, JSON.stringify(program?.memory ?? null)];
  const named = new Set(
    texts.flatMap((text) => text.match(/tool\/[\w-]+/g) ?? []).map((it) => asCalled(it.slice(5))),
  );
  const stubs = spec.stubs
    .filter(({ name }) => named.has(asCalled(name)) && !found.some((it) => it.name === name))
    .map(specOfStub);
  return [...spec.tools, ...found, ...stubs];
}

/** What is found in a run after a page of a search; the tools of the page are the newest. */
export function foundAfter(
  { head: { spec }, found: before = [] }: KnownTools,
  page: readonly ToolSpec[],
): readonly ToolSpec[] {
  const shown = new Map<string, ToolSpec>();
  for (const tool of page) {
    const stub = spec.stubs?.find(({ name }) => name === tool.name);
    if (stub === undefined || shown.has(tool.name)) continue;
    shown.set(tool.name, before.find(({ name }) => name === tool.name) ?? frozen(stub, tool));
  }
  return newest([...before.filter(({ name }) => !shown.has(name)), ...shown.values()]);
}

/** The last of `tools` that have room together. */
export function newest<Tool extends FoundTool | ToolSpec>(tools: readonly Tool[]): readonly Tool[] {
  let left = MAX_FOUND_BYTES;
  const dropped = tools.findLastIndex((tool) => {
    left -= byteSize(tool as unknown as Json);
    return left < 0;
  });
  return tools.slice(dropped + 1);
}

/** The words and the schema of `found`; the rest is that of the start. */
function frozen(stub: ToolStub, found: ToolSpec): ToolSpec {
  const { description, parameters, policy, output, mcp = stub.mcp } = found;
  const words = { description, parameters, mcp, ...defined({ policy, output }) };
  return { ...specOfStub(stub), ...words };
}

function specOfStub(stub: ToolStub): ToolSpec {
  const { retry } = STUB_DEFAULTS;
  return {
    ...STUB_DEFAULTS,
    retry: stub.effect === 'once' ? { ...retry, attempts: 1 } : retry,
    area: { domain: stub.mcp.server },
    ...stub,
    parameters: ANY_ARGUMENTS,
  };
}

/** Programs write `-` for `_`. */
function asCalled(name: string): string {
  return name.replaceAll('-', '_');
}
