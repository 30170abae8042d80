/** The places in which a worker runs tools, other than its own thread. */
import { defined } from '../../core/base/defined.ts';
import type { ToolPlaces } from '../isolation.ts';
import { createIsolation } from './create-isolation.ts';

/** What the places of a worker depend on. */
export interface PlaceOptions {
  /** How many isolated calls run at once; see `createIsolation`. */
  readonly isolatedCalls?: number | undefined;
  /** URL of the agent file. */
  readonly agentsModule?: string | undefined;
}

/** Places that can be closed. */
export interface OwnedPlaces extends ToolPlaces {
  readonly close: () => Promise<void>;
}

/** Creates the places; no thread or process is started before the first call. */
export function createToolPlaces({ isolatedCalls, agentsModule }: PlaceOptions = {}): OwnedPlaces {
  const isolation = createIsolation(isolatedCalls);
  const alone = createIsolation(1);
  return {
    isolation,
    apart: { isolation: alone, ...defined({ agentsModule }) },
    close: async () => {
      await Promise.all([isolation.close(), alone.close()]);
    },
  };
}
