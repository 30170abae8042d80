/** The states that links handed over, from the archive: by them a run can be forked for ever. */
import type { Archive } from '../../activities/archive-transcript.ts';
import { isPlainObject } from '../../core/base/json.ts';
import type { RunState } from '../../core/run/run-state.ts';

/** Reads the states that were archived. */
export interface StateArchive {
  /** Those of the chain `runId`, oldest first. */
  read(runId: string): Promise<readonly RunState[]>;
}

/** The states in `archive`. */
export function createStateArchive(archive: Pick<Archive, 'read'>): StateArchive {
  return {
    read: async (runId) => {
      const items = await archive.read(runId, 'states', 0, Number.MAX_SAFE_INTEGER);
      return items.filter((item) => isPlainObject(item)) as unknown as readonly RunState[];
    },
  };
}
