/**
 * The worker of the demo, a process of its own that may be killed at any time. It prints a line
 * of JSON when it is ready and one for each event. It ends when its parent does.
 */
import { runWorker } from '../../src/worker.ts';
import { airlineAgent } from '../airline/agents.ts';
import { airlineStore } from '../airline/store.ts';
import { demoModel, type Provider } from './provider.ts';

/** What the demo passes to its worker, as one argument. */
export interface DemoWorkerSetup {
  readonly address: string;
  readonly dataDir: string;
  readonly taskQueue: string;
  /** The file with the tools' effects; it outlives the process. */
  readonly storeFile: string;
  readonly provider: Provider;
}

const setup = JSON.parse(process.argv[2] ?? '') as DemoWorkerSetup;
const { address, dataDir, taskQueue, storeFile, provider } = setup;
const write = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

process.stdin.on('end', () => process.exit(1)).resume();
const store = airlineStore(storeFile);
await runWorker({
  agents: [airlineAgent({ model: demoModel(provider), store, latencyMs: 150 })],
  address,
  dataDir,
  taskQueue,
  // The server is on this machine: a worker that is silent for three seconds is dead.
  heartbeatMs: 3_000,
  logLevel: 'ERROR',
  listeners: [(event) => write({ event })],
  onReady: () => write({ ready: true }),
});
process.exit(0);
