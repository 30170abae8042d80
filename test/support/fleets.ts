/** Fleets of versioned workers for tests: builds of the same code, and where runs are. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { createDeployment, type Deployment } from '../../src/versioning/deployment.ts';
import { createDirectoryArchive } from '../../src/worker/files/directory-archive.ts';
import type { Served, ServeOptions, Stage } from './stage.ts';

/** A fleet of a test: one task queue, one deployment. */
export interface Fleet {
  readonly deployment: Deployment;
  readonly taskQueue: string;
  readonly everloop: Everloop;
  /** Starts a worker of a build. */
  readonly serve: (build: string) => Promise<Served>;
  /** Starts a worker of a build, and gives all new runs to it. */
  readonly release: (build: string) => Promise<Served>;
  /** The build that a run is pinned to; null if it is of none. */
  readonly buildOf: (run: RunHandle) => Promise<string | null>;
}

/** A fleet of `agents` without workers yet; all of them have these options. */
export function openFleet(
  stage: Stage,
  agents: readonly AgentDefinition[],
  options: ServeOptions = {},
): Fleet {
  const name = `fleet-${randomUUID()}`;
  const taskQueue = `e2e-${randomUUID()}`;
  const deployment = createDeployment({ client: stage.client, name });
  // Workers of a version that is gone answer no query for the links that they ran.
  const archiveDir = join(stage.folder, name);
  const archive = createDirectoryArchive(archiveDir);
  const serve = (build: string): Promise<Served> =>
    stage.serve(agents, { ...options, taskQueue, version: { name, build }, archive });
  return {
    deployment,
    taskQueue,
    everloop: stage.everloopOf(taskQueue, archiveDir),
    serve,
    release: async (build) => {
      const served = await serve(build);
      await deployment.promote(build);
      return served;
    },
    buildOf: async ({ id }) => {
      const { raw } = await stage.client.workflow.getHandle(id).describe();
      return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? null;
    },
  };
}
