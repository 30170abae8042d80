/** What a promotion waits for, with a service that is a fake. */
import type { Client } from '@temporalio/client';
import { afterEach, expect, it, vi } from 'vitest';
import { createDeployment } from '../../src/versioning/deployment.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** The part of the service that a promotion uses: `v1` is current and serves two queues, `v2` one. */
function fakeService(promoted: string[]): Client {
  const version = (buildId: string) => ({ deploymentName: 'everloop', buildId });
  const queue = (name: string) => ({ name, type: 2 });
  const poller = {
    identity: '1@host',
    lastAccessTime: { seconds: Number.MAX_SAFE_INTEGER / 1_000 },
    deploymentOptions: { ...version('v1'), workerVersioningMode: 2 },
  };
  const workflowService = {
    describeWorkerDeployment: async () => ({
      workerDeploymentInfo: {
        routingConfig: { currentDeploymentVersion: version('v1') },
        versionSummaries: ['v1', 'v2'].map((build) => ({ deploymentVersion: version(build) })),
      },
    }),
    describeWorkerDeploymentVersion: async ({
      deploymentVersion,
    }: {
      readonly deploymentVersion: { readonly buildId: string };
    }) => ({
      versionTaskQueues:
        deploymentVersion.buildId === 'v1' ? [queue('main'), queue('tools')] : [queue('main')],
    }),
    describeTaskQueue: async () => ({ pollers: [poller] }),
    setWorkerDeploymentCurrentVersion: async ({ buildId }: { readonly buildId: string }) => {
      promoted.push(buildId);
    },
  };
  return { workflowService, options: { namespace: 'default' } } as unknown as Client;
}

it('promotes no version that lacks workers for a queue of the current one, unless forced', async () => {
  let now = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => (now += 10_000));
  const promoted: string[] = [];
  const deployment = createDeployment({ client: fakeService(promoted) });

  await expect(deployment.promote('v2')).rejects.toMatchObject({
    code: 'no_worker',
    message:
      'Expected version `v2` to serve every queue of the current one, got no worker for activities of tools. Start workers with EVERLOOP_BUILD_ID=v2 there, or promote with `--force`.',
  });
  await expect(deployment.promote('v3')).rejects.toMatchObject({
    code: 'no_worker',
    message:
      'Expected a version of deployment `everloop` with workers, got `v3`, which has none. Start a worker with EVERLOOP_BUILD_ID=v3.',
  });
  expect(promoted).toEqual([]);

  expect(await deployment.promote('v2', { force: true })).toEqual({
    name: 'everloop',
    build: 'v2',
    previous: 'v1',
  });
  expect(promoted).toEqual(['v2']);
});
