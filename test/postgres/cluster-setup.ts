/**
 * What all tests of `npm run test:postgres` share: a cluster on PostgreSQL, which tests of the project
 * `server` get as their server, and those of this folder as `cluster`, to end parts of it.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { setUp, type ServerOfRun } from '../support/server-setup.ts';
import {
  abandonCluster,
  NAMESPACES,
  newCluster,
  startCluster,
  stopCluster,
  type Cluster,
} from './cluster.ts';
import { openFront } from './front.ts';
import { findPrograms } from './programs.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The cluster of this test run. */
    readonly cluster: Cluster;
  }
}

/** Called by vitest before the first test; what it returns is called at the end. */
export function setup(project: TestProject): Promise<() => Promise<void>> {
  return setUp(project, () => openCluster(project));
}

async function openCluster(project: TestProject): Promise<ServerOfRun> {
  const programs = await findPrograms();
  const folder = await mkdtemp(join(tmpdir(), 'everloop-cluster-'));
  const cluster = await newCluster(folder, programs);
  const abandon = (): void => abandonCluster(cluster);
  process.once('exit', abandon);
  const began = Date.now();
  try {
    await startCluster(cluster);
  } catch (error) {
    await stopCluster(cluster);
    throw error;
  }
  process.stderr.write(`The cluster is up after ${Math.round((Date.now() - began) / 1_000)} s.\n`);
  const front = await openFront(cluster.nodes.map(({ firstPort }) => firstPort));
  project.provide('cluster', cluster);
  return {
    address: front.address,
    namespace: NAMESPACES.stock,
    stop: async () => {
      front.close();
      await stopCluster(cluster);
      process.off('exit', abandon);
    },
  };
}
