import type { NativeConnection } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { createWorker, type WorkerParts } from '../../src/worker/serve/create-worker.ts';

/** Parts that are refused before the connection is used. */
function partsWith(own: Partial<WorkerParts>): WorkerParts {
  return {
    connection: {} as NativeConnection,
    namespace: 'default',
    agents: [],
    archive: { write: async () => undefined, read: async () => [] },
    chunks: { publish: () => undefined },
    bundleDir: 'nowhere',
    ...own,
  };
}

it.each([
  {
    name: 'models',
    parts: { roles: ['workflows', 'tools'] as const },
    message:
      'Expected `modelQueue` of a worker without the role `models` to be a queue of its own, got that of the workflows. Set it, or take on the role.',
  },
  {
    name: 'tools',
    parts: { roles: ['workflows', 'models'] as const, taskQueue: 'one', toolQueue: 'one' },
    message:
      'Expected `toolQueue` of a worker without the role `tools` to be a queue of its own, got that of the workflows. Set it, or take on the role.',
  },
])('leaves $name to others only on a queue of their own', async ({ parts, message }) => {
  await expect(createWorker(partsWith(parts))).rejects.toMatchObject({
    code: 'worker_roles',
    message,
  });
});
