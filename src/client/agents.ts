/** The agents of a fleet, as its workers describe them. */
import type { AgentDescription, WorkerAgents } from '../core/streaming/agent-description.ts';
import { UsageError } from '../core/base/usage-error.ts';
import type { AskedAgents } from './streaming/ask-agents.ts';
import type { ChunkSource } from './streaming/run-stream.ts';

/** An agent, and the workers that serve exactly this version of it. */
export interface AgentVersion extends AgentDescription {
  /** The task queue on which its runs are started. */
  readonly taskQueue: string;
  /** Identities of the workers, as `everloop.workers()` has them; in order. */
  readonly workers: readonly string[];
}

/** What the workers of a fleet serve. */
export interface AgentsView {
  /**
   * By name. Workers that serve different versions of an agent give several of one name, first that
   * of most workers.
   */
  readonly agents: readonly AgentVersion[];
  /** Addresses of workers that did not say: gone or slow. */
  readonly silent: readonly string[];
  /** How many agents workers left out, because their lists would be too long. */
  readonly more: number;
}

/**
 * The agents of all workers that `chunks` reaches.
 *
 * @throws UsageError `no_stream` without a source that knows workers; `stream_token` when all workers
 * refuse the token.
 */
export async function readAgents(chunks: ChunkSource | undefined): Promise<AgentsView> {
  if (chunks?.agents === undefined) {
    throw new UsageError(
      'no_stream',
      'Expected a client that knows the endpoints of workers, got one without. Use `connect()` or `local()`, or give it `chunks` from `followChunks`.',
    );
  }
  return mergeAgents(await chunks.agents());
}

/** Equal agents of several workers as one. */
export function mergeAgents({ workers, silent }: AskedAgents): AgentsView {
  const merged = new Map<string, { readonly agent: AgentVersion; readonly workers: Set<string> }>();
  // A worker may be reached at two addresses.
  const told = new Map(workers.map((told) => [`${told.worker} ${told.taskQueue}`, told]));
  for (const { worker, taskQueue, agents } of told.values()) {
    for (const agent of agents) {
      const key = JSON.stringify([taskQueue, agent]);
      const one = merged.get(key) ?? {
        agent: { ...agent, taskQueue, workers: [] },
        workers: new Set(),
      };
      merged.set(key, one);
      one.workers.add(worker);
    }
  }
  const agents = [...merged.values()]
    .map(({ agent, workers }) => ({ ...agent, workers: [...workers].toSorted() }))
    .toSorted(inOrder);
  const more = [...told.values()].reduce((sum, { more }: WorkerAgents) => sum + more, 0);
  return { agents, silent, more };
}

function inOrder(a: AgentVersion, b: AgentVersion): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return b.workers.length - a.workers.length || (a.taskQueue < b.taskQueue ? -1 : 1);
}
