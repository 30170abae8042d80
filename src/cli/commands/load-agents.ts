/** The agent file: a module that exports definitions and model entries, loaded without a build. */
import { access } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { errorText } from '../../core/base/error-text.ts';
import type { AgentDefinition } from '../../define/definition/definitions.ts';
import type { ModelEntry } from '../../define/model/model-entry.ts';
import { isUsageError, UsageError } from '../../core/base/usage-error.ts';

/** The file that is looked for when none is named. */
const DEFAULT_AGENT_FILE = 'agents.ts';

/** What an agent file exports. */
export interface AgentFile {
  /** As it was named, or relative to the working folder. */
  readonly path: string;
  /** At least one; exported by itself or in a list. */
  readonly agents: readonly AgentDefinition[];
  readonly models: readonly ModelEntry[];
}

/** Whether there is an agent file: the one that was named, or the default one. */
export async function hasAgentFile(path: string | undefined, cwd: string): Promise<boolean> {
  if (path !== undefined) return true;
  return isThere(resolve(cwd, DEFAULT_AGENT_FILE));
}

/**
 * Loads an agent file, JavaScript or TypeScript. Throws a UsageError `agent_file` when there is
 * none, when it throws while it is loaded, or when it exports no agent.
 */
export async function loadAgents(path: string | undefined, cwd: string): Promise<AgentFile> {
  const name = path ?? DEFAULT_AGENT_FILE;
  const file = resolve(cwd, name);
  if (!(await isThere(file))) {
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
  return { path: path ?? relative(cwd, file), agents, models };
}

async function importModule(
  file: string,
  name: string,
): Promise<Readonly<Record<string, unknown>>> {
  const url = pathToFileURL(file).href;
  try {
    // Under a TypeScript loader, the file shares its modules with this program; else one is set up
    // for this file alone.
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

/** A definition's error says what to do; others may need to be seen whole. */
function advice(error: unknown): string {
  return isUsageError(error) ? '' : '\nCorrect it; `--debug` shows where.';
}

function withoutAgents(name: string, exported: readonly string[]): UsageError {
  // A module of the older kind has all of its exports once more under `default`.
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

/** An entry has an id and a model; what is wrong with the rest is told by the worker. */
function isModelEntry(value: unknown): value is ModelEntry {
  if (!isRecord(value) || typeof value['id'] !== 'string') return false;
  const { model } = value;
  return typeof model === 'function' || (isRecord(model) && 'specificationVersion' in model);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
