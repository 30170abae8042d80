/** The servers of a worker: one for each name, with what they need. */
import { resolve } from 'node:path';
import type { UsageProblem } from '../core/base/usage-error.ts';
import { isUsageError } from '../core/base/usage-error.ts';
import { shown } from '../core/text/shown.ts';
import type { McpServerDefinition } from '../define/definition/mcp-server.ts';
import { readLockFile, type LockedServer } from './catalogue/lock-file.ts';
import { variablesOf, type McpEnvironment } from './text/secrets.ts';

/** The servers by name, or all that is wrong with them on this worker. */
export type KnownServers =
  | { readonly kind: 'servers'; readonly servers: ReadonlyMap<string, KnownServer> }
  | { readonly kind: 'problems'; readonly problems: readonly UsageProblem[] };

/** A server of this worker. */
export interface KnownServer {
  readonly definition: McpServerDefinition;
  /** Its pinned tools; absent: it is not pinned. */
  readonly locked?: LockedServer;
}

/** Checks the definitions of all agents of a worker, in which a server may occur often. */
export function knownServers(
  definitions: Iterable<McpServerDefinition>,
  environment: McpEnvironment,
): KnownServers {
  const servers = new Map<string, KnownServer>();
  const problems: UsageProblem[] = [];
  for (const definition of new Set(definitions)) {
    const { name } = definition;
    const known = servers.get(name)?.definition;
    if (known !== undefined) {
      if (!isEqual(known, definition)) problems.push(twice(name));
      continue;
    }
    problems.push(...missingVariables(definition, environment));
    const lock = lockOf(definition);
    if ('problem' in lock) problems.push(lock.problem);
    servers.set(name, 'problem' in lock ? { definition } : { definition, ...lock });
  }
  return problems.length === 0 ? { kind: 'servers', servers } : { kind: 'problems', problems };
}

/** Whether two definitions say the same. Functions are compared as such. */
function isEqual(a: McpServerDefinition, b: McpServerDefinition): boolean {
  const functions: unknown[] = [];
  const textOf = (definition: McpServerDefinition): string =>
    JSON.stringify(definition, (_key, value: unknown) => {
      if (typeof value !== 'function') return value;
      if (!functions.includes(value)) functions.push(value);
      return `function ${functions.indexOf(value)}`;
    });
  return textOf(a) === textOf(b);
}

function twice(name: string): UsageProblem {
  const message = `MCP server \`${name}\`: Expected one definition of the name on this worker, got two that differ. Rename one, or use the same for both agents.`;
  return { code: 'duplicate_server', message };
}

function missingVariables(
  server: McpServerDefinition,
  environment: McpEnvironment,
): readonly UsageProblem[] {
  return variablesOf(server)
    .filter((name) => (environment[name] ?? '') === '')
    .map((name) => {
      const message = `MCP server \`${server.name}\`: Expected variable \`${name}\`, got none. Set it on the workers.`;
      return { code: 'mcp_env', message };
    });
}

function lockOf({
  name,
  pin,
}: McpServerDefinition): { readonly locked?: LockedServer } | { readonly problem: UsageProblem } {
  if (pin === undefined) return {};
  try {
    const { servers } = readLockFile(resolve(pin));
    const locked = Object.hasOwn(servers, name) ? servers[name] : undefined;
    return { locked: locked ?? { identity: '', tools: {} } };
  } catch (error) {
    const text = isUsageError(error) ? error.message : shown(String(error));
    return { problem: { code: 'mcp_pin', message: `MCP server \`${name}\`: ${text}` } };
  }
}
