/**
 * Refuses an old Node, and what is no Node, before anything else fails for a reason that nobody
 * understands. The entries import this first.
 */
import { UsageError } from '../../core/base/usage-error.ts';

/** Why `version` of Node is too old, or missing; undefined if it is neither. */
export function nodeProblem(version: string | undefined): string | undefined {
  const [major = 0, minor = 0] = version?.split('.').map(Number) ?? [];
  if (major > 20 || (major === 20 && minor >= 19)) return undefined;
  const got = version === undefined ? 'another runtime' : `Node ${version}`;
  return `Expected Node 20.19 or newer, got ${got}. Run this program with a newer Node.`;
}

const problem = nodeProblem(process.versions?.node);
if (problem !== undefined) throw new UsageError('node_version', problem);
