/**
 * A process with one worker, for the benchmark `start`. It is plain JavaScript, so that no loader of
 * TypeScript counts for the package. Its argument is a `StartOrder`, its one message a `StartReport`.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const IDLE_MS = 10_000;
const MB = 1_000_000;

const { address, dataDir, side } = JSON.parse(process.argv[2] ?? '');
const rssMb = () => process.memoryUsage.rss() / MB;
let ready;

async function report() {
  const { user, system } = process.cpuUsage();
  ready = { cpuS: (user + system) / 1e6, wallS: performance.now() / 1_000, readyMb: rssMb() };
  await sleep(IDLE_MS);
  process.send?.({ ...ready, idleMb: rssMb() });
  process.exit(0);
}

if (side === 'bare') {
  const { NativeConnection, Runtime, Worker } = (await import('@temporalio/worker')).default;
  Runtime.install({ telemetryOptions: { logging: { filter: 'ERROR', forward: {} } } });
  const shipped = await readFile(new URL('../../dist/workflow-bundle.json', import.meta.url));
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address }),
    taskQueue: 'start-bare',
    workflowBundle: { code: JSON.parse(shipped.toString()).code },
    activities: { nothing: async () => undefined },
  });
  const running = worker.run();
  await report();
  await running;
} else {
  const root = side === 'dist' ? '../../dist/' : '../../src/';
  const ending = side === 'dist' ? 'js' : 'ts';
  const { defineAgent } = await import(`${root}index.${ending}`);
  const { runWorker } = await import(`${root}worker.${ending}`);
  const model = async () => ({ content: 'Hello.', usage: { inputTokens: 1, outputTokens: 1 } });
  await runWorker({
    agents: [defineAgent({ name: 'starter', mode: 'chat', model })],
    address,
    dataDir,
    taskQueue: 'start',
    logLevel: 'ERROR',
    onReady: () => void report(),
  });
}
