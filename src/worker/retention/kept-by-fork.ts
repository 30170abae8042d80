/**
 * Whether a fork still needs its source. A fork shows what its source said before the moment, and a
 * fork of a fork what both said. So a source is needed while the service has a fork of it, or while
 * one of its forks is needed itself.
 *
 * I1  Only notes that workers wrote count: see `noteFork`.
 * I2  A fork is known by its id and its first execution, so that another run under the id of a fork
 *     that is gone keeps nothing.
 */
import { join } from 'node:path';
import { archiveFolderOf } from '../../client/reading/archive-reader.ts';
import type { KnownRuns } from '../../protection/blobs/collect-blobs.ts';
import { namesIn } from '../../protection/blobs/gone-files.ts';
import { readNote } from '../files/archived-runs.ts';
import { notedForks } from '../files/fork-notes.ts';

/** What the service says about a run. */
export interface RetainedRuns {
  /**
   * Whether the service has run `workflowId` whose first execution is `firstRunId`, open or closed;
   * rejects if that is not certain.
   */
  isRetained(workflowId: string, firstRunId: string): Promise<boolean>;
}

/** A run in an archive, by its first execution. */
export interface ArchivedSource {
  readonly directory: string;
  readonly runId: string;
}

/** The id of a fork that needs the run; undefined if none does. `except`: forks that do not count. */
export async function forkKeeping(
  { directory, runId }: ArchivedSource,
  service: RetainedRuns,
  except: readonly string[] = [],
): Promise<string | undefined> {
  const seen = new Set([runId]);
  const waiting = [runId];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const fork of await notedForks(join(directory, archiveFolderOf(next)))) {
      if (seen.has(fork.runId)) continue;
      seen.add(fork.runId);
      const counts = !except.includes(fork.workflowId);
      if (counts && (await service.isRetained(fork.workflowId, fork.runId))) return fork.workflowId;
      // Its own forks show the source too.
      waiting.push(fork.runId);
    }
  }
  return undefined;
}

/** `service`, which also knows the sources in the archive `directory` that forks need. */
export function knownWithForks<Service extends KnownRuns & RetainedRuns>(
  service: Service,
  { directory, namespace }: { readonly directory: string; readonly namespace: string },
): Service {
  let sources: Promise<ReadonlyMap<string, readonly string[]>> | undefined;
  return {
    ...service,
    isKnown: async (workflowId) => {
      if (await service.isKnown(workflowId)) return true;
      sources ??= sourcesIn(directory, namespace);
      for (const runId of (await sources).get(workflowId) ?? []) {
        if ((await forkKeeping({ directory, runId }, service)) !== undefined) return true;
      }
      return false;
    },
  };
}

/** The chains in an archive of which there are forks, by the ids of their runs. */
async function sourcesIn(
  directory: string,
  namespace: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const sources = new Map<string, string[]>();
  for (const name of await namesIn(directory)) {
    const folder = join(directory, name);
    if ((await notedForks(folder)).length === 0) continue;
    const note = await readNote(folder);
    if (note?.namespace !== namespace) continue;
    sources.set(note.workflowId, [...(sources.get(note.workflowId) ?? []), name]);
  }
  return sources;
}
