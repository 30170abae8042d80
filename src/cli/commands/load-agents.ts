/** Loads the agent file: a module that exports agents and model entries. Needs no build. */
import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { errorText } from '../../core/base/error-text.ts';
import type { AgentDefinition } from '../../define/definition/definitions.ts';
import type { ModelEntry } from '../../define/model/model-entry.ts';
import { isUsageError, UsageError } from '../../core/base/usage-error.ts';

/** The default agent file. */
const DEFAULT_AGENT_FILE = 'agents.ts';

/** What an agent file exports. */
export interface AgentFile {
  /** As named by the user, or relative to the working folder. */
  readonly path: string;
  /** As modules are imported. */
  readonly url: string;
  /** At least one; exported by name or in a list. */
  readonly agents: readonly AgentDefinition[];
  readonly models: readonly ModelEntry[];
}

/** Whether an agent file is named, or the default one exists. */
export function hasAgentFile(path: string | undefined, cwd: string): boolean {
  return path !== undefined || existsSync(resolve(cwd, DEFAULT_AGENT_FILE));
}

/**
 * Loads an agent file, in JavaScript or TypeScript. Throws a UsageError `agent_file` when the file
 * is missing, throws while it loads, or exports no agent.
 */
export async function loadAgents(path: string | undefined, cwd: string): Promise<AgentFile> {
  const name = path ?? DEFAULT_AGENT_FILE;
  const file = resolve(cwd, name);
  if (!existsSync(file)) {
    throw new UsageError(
      'agent_file',
      `Expected an agent file at \`${name}\`, got none. Create it, or name one with \`--agents FILE\`.`,
    );
  }
  const exported = await importModule(file, name);
  const values = Object.values(exported).flatMap((value): readonly unknown[] =>
    Array.isArray(value) ? value : [value],
  );
  const agents = [...new Set(values.filter(isAgent))];
  const models = [...new Set(values.filter(isModelEntry))];
  if (agents.length === 0) throw withoutAgents(name, Object.keys(exported));
  const { href: url } = pathToFileURL(file);
  return { path: path ?? relative(cwd, file), url, agents, models };
}

/**
 * The absolute path of the file of `--workflows`; undefined without the option. Throws a UsageError
 * `invalid_input` if there is no such file.
 */
export function workflowsFile(path: string | undefined, cwd: string): string | undefined {
  if (path === undefined) return undefined;
  const file = resolve(cwd, path);
  if (existsSync(file)) return file;
  throw new UsageError(
    'invalid_input',
    `Expected \`--workflows\` to be a file, got \`${path}\`, which is not there. Name the file that exports your workflows.`,
  );
}

/** Imports a file in JavaScript or TypeScript. Throws a UsageError `agent_file` if it throws. */
export async function importModule(
  file: string,
  name: string,
): Promise<Readonly<Record<string, unknown>>> {
  const url = pathToFileURL(file).href;
  try {
    // If a TypeScript loader is active, the file shares modules with this program. Otherwise tsx
    // loads this file only.
    if (!/\.[cm]?tsx?$/.test(file) || isTypeScriptLoaded()) return (await import(url)) as Exports;
    const { tsImport } = await import('tsx/esm/api');
    return (await tsImport(url, import.meta.url)) as Exports;
  } catch (error) {
    throw Object.assign(
      new UsageError(
        'agent_file',
        `Expected \`${name}\` to load, got: ${errorText(error)}${advice(error)}`,
      ),
      { cause: error },
    );
  }
}

type Exports = Readonly<Record<string, unknown>>;

/** Whether this program itself runs from its TypeScript sources. */
function isTypeScriptLoaded(): boolean {
  return import.meta.url.endsWith('.ts');
}

/** Usage errors say what to do; for other errors, the stack helps. */
function advice(error: unknown): string {
  return isUsageError(error) ? '' : '\nCorrect it; `--debug` shows where.';
}

function withoutAgents(name: string, exported: readonly string[]): UsageError {
  // A CommonJS module has all of its exports again under `default`.
  const names = exported.filter((each) => each !== 'default' || exported.length === 1);
  const got = names.length === 0 ? 'nothing' : names.map((each) => `\`${each}\``).join(', ');
  return new UsageError(
    'agent_file',
    `Expected \`${name}\` to export at least one agent made with \`defineAgent\`, got ${got}. ` +
      'Export the agents by name or in a list.',
  );
}

function isAgent(value: unknown): value is AgentDefinition {
  return isRecord(value) && value['kind'] === 'agent' && typeof value['name'] === 'string';
}

/** An entry has an id and a model; the worker checks the rest. */
function isModelEntry(value: unknown): value is ModelEntry {
  if (!isRecord(value) || typeof value['id'] !== 'string') return false;
  const { model } = value;
  if (typeof model === 'function' || typeof model === 'string') return true;
  return isRecord(model) && 'specificationVersion' in model;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
