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

it('waits for the queues of a first version, and refuses it beside a worker without one', async () => {
  const promoted: string[] = [];
  const service = fakeService(promoted);
  const { workflowService } = service as unknown as {
    readonly workflowService: Record<string, (request: object) => Promise<object>>;
  };
  const deploymentVersion = { deploymentName: 'everloop', buildId: 'v1' };
  let looks = 0;
  // The service knows a version before it knows what the version polls.
  Object.assign(workflowService, {
    describeWorkerDeployment: async () => ({
      workerDeploymentInfo: { versionSummaries: [{ deploymentVersion }] },
    }),
    describeWorkerDeploymentVersion: async () => ({
      versionTaskQueues: (looks += 1) < 3 ? [] : [{ name: 'main', type: 2 }],
    }),
    // Only for workflows (1), of which the service has not heard from the version yet.
    describeTaskQueue: async ({ taskQueueType }: { readonly taskQueueType: number }) => ({
      pollers:
        taskQueueType === 1
          ? [{ identity: '2@host', lastAccessTime: { seconds: Math.ceil(Date.now() / 1_000) } }]
          : [],
    }),
  });

  await expect(createDeployment({ client: service }).promote('v1')).rejects.toMatchObject({
    code: 'unversioned_workers',
    message: expect.stringContaining('got 1: 2@host.') as string,
  });
  expect(looks).toBe(3);
  expect(promoted).toEqual([]);
});
