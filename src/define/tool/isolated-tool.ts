/** Tools whose code runs outside of the worker's own thread, because it may block or end it. */
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isPlainObject } from '../../core/base/json.ts';
import { shown } from '../../core/text/shown.ts';
import { UsageError, type UsageProblem } from '../../core/base/usage-error.ts';
import { hasKind } from '../checks/kinds.ts';
import { expected, type Check, type Fields } from '../checks/fields.ts';
import type {
  AgentDefinition,
  DefinedTool,
  IsolatedTool,
  ToolContext,
} from '../definition/definitions.ts';
import { TOOL_DEFAULTS, type IsolatedToolOptions } from './tool-options.ts';

/** The function `run` that the module of an isolated tool exports. */
export type IsolatedRun = (args: unknown, context: ToolContext) => unknown;

/** Where the calls of a tool with checked options run; undefined for the worker's own thread. */
export function isolatedTool(
  options: Pick<IsolatedToolOptions, 'isolate' | 'module' | 'heapMb'>,
): IsolatedTool | undefined {
  const { isolate, module, heapMb = TOOL_DEFAULTS.heapMb } = options;
  const url = moduleUrl(module);
  if (url === undefined) return undefined;
  return { place: isolate, module: url, heapMb };
}

/** The problems of `isolate` and of options that it excludes. */
export const isolateProblems: Check = (isolate, { name, local, heapMb, module }) => {
  const of = `\`${String(name)}\``;
  if (isolate === undefined) {
    const given = module === undefined ? (heapMb === undefined ? null : 'heapMb') : 'module';
    if (given === null) return [];
    const what = `no \`${given}\` of ${of}, which is not isolated`;
    return [problem(what, shown(module ?? heapMb), "Set `isolate: 'thread'`, or remove it.")];
  }
  if (isolate !== 'thread' && isolate !== 'process') {
    const what = `\`isolate\` of ${of} to be 'thread' or 'process'`;
    return [problem(what, shown(isolate), 'Choose one of them.')];
  }
  if (local !== true) return [];
  const advice = 'Remove one of them: a local call blocks a workflow task while it waits.';
  return [problem(`\`isolate\` or \`local\` of ${of}`, 'both', advice)];
};

/** The problems of `module`. */
export const moduleProblems: Check = (module, { name, isolate }) => {
  if (isolate === undefined || moduleUrl(module) !== undefined) return [];
  const what = `\`module\` of \`${String(name)}\` to be a \`file:\` URL or an absolute path`;
  const got =
    module === undefined ? 'none' : module instanceof URL ? shown(module.href) : shown(module);
  return [problem(what, got, 'Make one with `new URL`, relative to your file.')];
};

/** The problems of `execute`, which isolated tools have in their module. */
export const executeProblems: Check = (execute, { name, isolate }: Fields) => {
  const of = `\`${String(name)}\``;
  if (isolate === undefined) {
    if (typeof execute === 'function') return [];
    const what = `\`execute\` of ${of} to be a function`;
    const advice = 'Write the function that does the work.';
    return [expected('tool_execute', what, shown(execute), advice)];
  }
  if (execute === undefined) return [];
  const advice = 'Export it as `run` from `module`.';
  return [problem(`no \`execute\` of the isolated tool ${of}`, shown(execute), advice)];
};

function problem(what: string, got: string, advice: string): UsageProblem {
  return expected('tool_isolate', what, got, advice);
}

/** The URL of a module; undefined if `module` names none. */
function moduleUrl(module: unknown): string | undefined {
  const text = module instanceof URL ? module.href : module;
  if (typeof text !== 'string') return undefined;
  if (text.startsWith('file:')) return URL.canParse(text) ? text : undefined;
  return isAbsolute(text) ? pathToFileURL(text).href : undefined;
}

/**
 * The function `run` of a loaded module. Throws a UsageError `tool_isolate` if it exports none.
 */
export function runOf(exported: unknown, module: string): IsolatedRun {
  // A CommonJS module may have its exports under `default` only.
  const names = Object(exported) as { readonly run?: unknown; readonly default?: unknown };
  const run = names.run ?? (isPlainObject(names.default) ? names.default['run'] : undefined);
  if (typeof run === 'function') return run as IsolatedRun;
  const got = Object.keys(names).join(', ');
  throw new UsageError(
    'tool_isolate',
    `Expected \`${module}\` to export a function \`run\`, got ${got === '' ? 'no export' : got}. Export it by that name.`,
  );
}

/**
 * The function of a tool that an agent file defines: of an agent that it exports, by name or in a
 * list, or of one that belongs to such an agent. Throws a UsageError `tool_isolate` if there is none.
 */
export function definedRun(exported: unknown, { agent, tool }: DefinedTool): IsolatedRun {
  // A set visits what is added to it meanwhile, and each agent once.
  const agents = new Set<unknown>(Object.values(Object(exported) as object).flat());
  for (const next of agents) {
    if (!hasKind(next, 'agent')) continue;
    const definition = next as AgentDefinition;
    const found = definition.tools.find(({ spec }) => spec.name === tool);
    if (definition.name === agent && found !== undefined) {
      return (args, context) => found.execute(args, context);
    }
    for (const stage of definition.stages ?? []) agents.add(stage);
    for (const { child } of definition.tools) agents.add(child?.agent);
  }
  throw new UsageError(
    'tool_isolate',
    `Expected the agent file to define tool \`${tool}\` of agent \`${agent}\`, got none. Export the agent.`,
  );
}

/** Runs the code of an isolated tool in this thread. */
export async function runHere(
  { module }: IsolatedTool,
  args: unknown,
  context: ToolContext,
): Promise<unknown> {
  const loaded = await import(
    /* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ module
  );
  return runOf(loaded, module)(args, context);
}
