/** What the identity of a worker says, and whether it lives. */
import { LIVE_MS } from '../../../versioning/fleet.ts';
import type { DoctorWorld } from '../check.ts';
import type { SeenWorker } from '../doctor-service.ts';

/** A worker of Everloop, by its identity. */
export interface KnownWorker {
  readonly identity: string;
  /** Its major version of Node: `22`. */
  readonly node: string;
  readonly version: string;
  /** `-`: none. */
  readonly build: string;
  /** Digest of its agents. */
  readonly agents: string;
}

/** How a worker names itself; see `identity.ts` of the worker. */
const IDENTITY = /\/node-(\d+)\/everloop-([^/]+)\/(.+)\/([0-9a-f]{8})$/;

/** Whether the worker polled within the last 70 seconds. */
export function isLive({ seenAt }: SeenWorker, now: number): boolean {
  return now - seenAt < LIVE_MS;
}

/** The live workers of workflows, as far as their identities say what they are. */
export async function knownWorkers({
  service,
  config,
  now,
}: DoctorWorld): Promise<readonly KnownWorker[]> {
  const seen = (await service?.workers(config.taskQueue, 'workflows')) ?? [];
  return seen
    .filter((worker) => isLive(worker, now))
    .flatMap(({ identity }) => {
      const read = IDENTITY.exec(identity);
      if (read === null) return [];
      const [, node = '', version = '', build = '', agents = ''] = read;
      return [{ identity, node, version, build, agents }];
    });
}

/** Values by how many workers have them: `0.1.0 (2), 0.2.0 (1)`. */
export function tally(values: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, count]) => `${value} (${count})`).join(', ');
}
