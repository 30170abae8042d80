/** The examples of docs/deployments.md: its code blocks are the regions of this file. */
import type { AgentDefinition, ConnectDeploymentOptions } from '../../src/index.ts';
import { connectDeployment } from '../../src/index.ts';
import { runWorker, type RunWorkerOptions } from '../../src/worker.ts';

/** A worker that is part of a version. */
export async function serveVersion(
  agents: readonly AgentDefinition[],
  build: string,
  options: Partial<RunWorkerOptions>,
): Promise<void> {
  // #region serve
  await runWorker({ agents, deployment: { name: 'everloop', build }, ...options });
  // #endregion
}

/** Gives new runs to `next`, and empties `old`; returns how many runs are left there. */
export async function release(
  old: string,
  next: string,
  options: ConnectDeploymentOptions = {},
): Promise<number> {
  // #region release
  const deployment = await connectDeployment(options);
  await deployment.promote(next);
  const { left, staying } = await deployment.drain(old, { waitMs: 3_600_000 });
  for (const { reason, runs, ids } of staying) console.log(reason, runs, ids);
  await deployment.close();
  // #endregion
  return left;
}
