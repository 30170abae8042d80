/** A server of its own that may be killed at any time and comes back on its file and its port. */
import { isRunning } from '../../src/worker/server/server-lock.ts';
import { startOrFindServer, type EmbeddedServer } from '../../src/worker/server/embedded-server.ts';
import { eventually } from '../support/eventually.ts';
import { CLI_FOLDER, handoverAfter, startTestServer } from '../support/test-server.ts';

/** A server that is killed from outside. */
export interface KillableServer {
  readonly address: string;
  readonly namespace: string;
  /** Of the process that runs now. */
  pid(): number;
  /** Starts it again once it is dead, and gives its new process id. */
  restart(): Promise<number>;
  stop(): Promise<void>;
}

/** Events after which the service wants a hand-over of the scenario that has some. */
const HANDOVER_EVENTS = 40;

/** Starts a server; `handsOver`: it wants hand-overs after few events. */
export async function startKillableServer(handsOver: boolean): Promise<KillableServer> {
  const settings = handsOver ? { dynamicConfig: handoverAfter(HANDOVER_EVENTS) } : {};
  const first = await startTestServer(settings);
  const { address, namespace, dataDir } = first;
  const started: EmbeddedServer[] = [first];
  const pid = (): number => started.at(-1)?.pid ?? 0;
  return {
    address,
    namespace,
    pid,
    restart: async () => {
      await eventually('the server to be gone', () => !isRunning(pid()), 60_000);
      const port = Number(address.split(':')[1]);
      started.push(await startOrFindServer({ dataDir, cliDir: CLI_FOLDER, port, ...settings }));
      return pid();
    },
    stop: async () => {
      for (const server of started.toReversed()) await server.stop();
    },
  };
}
