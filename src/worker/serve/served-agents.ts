/** What a worker says of its agents, to readers in this process and at its endpoint. */
import type { KnownModels } from '../../registry/known-prices.ts';
import { createRegistry } from '../../registry/registry.ts';
import { describeAgents } from '../../registry/describe-agents.ts';
import type { WorkerAgents } from '../../core/streaming/agent-description.ts';
import { agentsBody } from '../../core/streaming/agents-wire.ts';
import { hideIn, HIDE_NOTHING } from '../../core/text/hide.ts';
import { defined } from '../../core/base/defined.ts';
import type { WorkerConfig } from '../config/config.ts';
import { identityOf } from './identity.ts';
import type { ServedParts } from './serve.ts';

/** The agents of one worker, which never change. */
export interface ServedAgents {
  readonly list: () => WorkerAgents;
  /** The same as the body of an answer; undefined while the definitions have problems. */
  readonly body: () => string | undefined;
}

/** Describes the agents of `parts` when they are first asked for. Secrets of the worker are hidden. */
export function servedAgents(
  { agents, models = [], agentsModule }: ServedParts,
  { taskQueue, version, secrets }: Pick<WorkerConfig, 'taskQueue' | 'version' | 'secrets'>,
  knownModels?: KnownModels,
): ServedAgents {
  let described: WorkerAgents | undefined;
  let body: string | undefined;
  const list = (): WorkerAgents => {
    if (described !== undefined) return described;
    const registry = createRegistry(defined({ agents, models, agentsModule, knownModels }));
    const worker = identityOf(registry, version);
    const shown = hideIn(describeAgents(registry), secrets?.hide ?? HIDE_NOTHING);
    return (described = { worker, taskQueue, ...shown });
  };
  return {
    list,
    body: () => {
      try {
        return (body ??= agentsBody(list()));
      } catch {
        // The worker itself says what is wrong, and stops.
        return undefined;
      }
    },
  };
}
