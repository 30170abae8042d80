/**
 * A worker that will be killed. It answers the first model call at once; in a replacement, that is
 * the call that its predecessor left behind. It never answers the second: the process reports
 * `stuck` and waits for its end. It also reports each thing that happens.
 */
import './quiet.ts';
import { NativeConnection, Worker } from '@temporalio/worker';
import { withHeartbeat } from '../../src/activities/heartbeat.ts';
import { createChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import { nativeOptions } from '../../src/worker/serve/native-options.ts';
import { createWorker } from '../../src/worker/serve/create-worker.ts';
import { LOCAL_HEARTBEAT_MS } from '../../src/worker/serve/serve.ts';
import { bareActivities, bareBundle } from './bare-worker.ts';
import { instantAgent } from './instant-agent.ts';
import { recoveryQueue, type RecoveryNote, type RecoveryOrder } from './recovery-order.ts';

const tell = (note: RecoveryNote): void => {
  process.send?.(note);
};

/** Lets the first caller pass and holds every other. */
function createTrap(): () => Promise<void> {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls === 1) return;
    tell('stuck');
    await new Promise(() => undefined);
  };
}

const { address, side } = JSON.parse(process.argv[2] ?? '') as RecoveryOrder;
await (side === 'agent' ? serveAgent() : serveBare());

async function serveAgent(): Promise<void> {
  const trap = createTrap();
  const worker = await createWorker({
    connection: await NativeConnection.connect(nativeOptions(address)),
    namespace: 'default',
    taskQueue: recoveryQueue(side),
    agents: [instantAgent('stuck', { beforeReply: trap })],
    archive: { write: async () => undefined, read: async () => [] },
    chunks: createChunkBus(),
    bundleDir: '.everloop/bundles',
    heartbeatMs: LOCAL_HEARTBEAT_MS,
    listeners: [() => tell('progress')],
  });
  await worker.run();
}

async function serveBare(): Promise<void> {
  const trap = createTrap();
  const activities = bareActivities(1_024);
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address }),
    namespace: 'default',
    taskQueue: recoveryQueue(side),
    workflowBundle: await bareBundle(),
    activities: {
      bareModel: () =>
        withHeartbeat(async () => {
          await trap();
          return activities.bareModel();
        }),
      // Runs after the workflow got the reply.
      bareTool: async () => {
        tell('progress');
        return activities.bareTool();
      },
    },
  });
  await worker.run();
}
