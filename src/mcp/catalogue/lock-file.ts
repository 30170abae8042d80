/** The lock file: which tools of which servers were looked at, and how they were then. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import type { ToolEffect } from '../../core/contract/spec.ts';
import { isPlainObject } from '../../core/base/json.ts';
import { UsageError } from '../../core/base/usage-error.ts';

/** A tool as it was when it was locked. */
export interface LockedTool {
  readonly hash: string;
  readonly effect: ToolEffect;
}

/** A server as it was when it was locked. */
export interface LockedServer {
  /** The name that the server gave itself; empty if it gave none. */
  readonly identity: string;
  /** By the server's names of its tools. */
  readonly tools: { readonly [tool: string]: LockedTool };
}

/** The whole file. */
export interface LockFile {
  readonly v: 1;
  readonly servers: { readonly [server: string]: LockedServer };
}

/** A difference between a locked server and the server now. */
export interface LockDifference {
  readonly server: string;
  /** Absent: it is the server as a whole. */
  readonly tool?: string;
  readonly kind: 'new' | 'changed' | 'gone' | 'effect' | 'identity' | 'unlocked';
}

/** The longest file that is read, in characters. */
const MAX_FILE = 4_194_304;

/**
 * Reads the file at `path`, at the start of a worker and by commands.
 *
 * @throws UsageError `mcp_pin` if it is missing or is no lock file.
 */
export function readLockFile(path: string): LockFile {
  const text = textOf(path);
  const parsed = text.length > MAX_FILE ? undefined : parse(text);
  if (isLockFile(parsed)) return parsed;
  throw new UsageError(
    'mcp_pin',
    `Expected ${path} to be a lock file of MCP servers, got something else. Repair it, or remove it and run \`everloop mcp lock\`.`,
  );
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new UsageError(
      'mcp_pin',
      `Expected the lock file ${path} to exist, got none. Write it with \`everloop mcp lock\`.`,
    );
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isLockFile(value: unknown): value is LockFile {
  if (!isPlainObject(value) || value['v'] !== 1 || !isPlainObject(value['servers'])) return false;
  return Object.values(value['servers']).every(
    (server) =>
      isPlainObject(server) &&
      typeof server['identity'] === 'string' &&
      isPlainObject(server['tools']) &&
      Object.values(server['tools']).every(
        (tool) => isPlainObject(tool) && typeof tool['hash'] === 'string',
      ),
  );
}

/** Writes the file so that a reader sees all of it or nothing, with its keys sorted. */
export async function writeLockFile(path: string, servers: LockFile['servers']): Promise<void> {
  const sorted = sortedBy(servers, ({ identity, tools }) => ({ identity, tools: sortedBy(tools) }));
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(draft, `${JSON.stringify({ v: 1, servers: sorted }, null, 2)}\n`);
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

function sortedBy<Value>(
  map: { readonly [key: string]: Value },
  each: (value: Value) => Value = (value) => value,
): { readonly [key: string]: Value } {
  const keys = Object.keys(map).toSorted();
  return Object.fromEntries(keys.map((key) => [key, each(map[key] as Value)]));
}

/** All differences between `locked` and the server `now`, sorted by tool. */
export function lockDifferences(
  server: string,
  locked: LockedServer | undefined,
  now: LockedServer,
): readonly LockDifference[] {
  if (locked === undefined) return [{ server, kind: 'unlocked' }];
  const names = [...new Set([...Object.keys(locked.tools), ...Object.keys(now.tools)])].toSorted();
  const tools = names.flatMap((tool): readonly LockDifference[] => {
    const kind = differenceOf(ownTool(locked, tool), ownTool(now, tool));
    return kind === undefined ? [] : [{ server, tool, kind }];
  });
  const isOther = locked.identity !== now.identity;
  return isOther ? [{ server, kind: 'identity' }, ...tools] : tools;
}

function ownTool({ tools }: LockedServer, tool: string): LockedTool | undefined {
  return Object.hasOwn(tools, tool) ? tools[tool] : undefined;
}

/** How a tool differs from the locked one; undefined when it does not. */
export function differenceOf(
  locked: LockedTool | undefined,
  now: LockedTool | undefined,
): 'new' | 'changed' | 'gone' | 'effect' | undefined {
  if (now === undefined) return 'gone';
  if (locked === undefined) return 'new';
  if (locked.hash !== now.hash) return 'changed';
  return locked.effect === now.effect ? undefined : 'effect';
}
