/** Finds a server that runs: at the configured address, by the note in the data folder, at the port. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connectionCause, timesOf } from '../../client/connection/connection-cause.ts';
import { defined } from '../../core/base/defined.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { isRunning } from './server-lock.ts';
import { EMBEDDED_SERVER_DEFAULTS, type EmbeddedServer, type Setup } from './server-options.ts';
import { isPortTaken, probeServer, type Probe } from './server-probe.ts';
import { readServerState, removeServerState } from './server-state.ts';

/** The server at a configured address; throws a UsageError when it does not answer. */
export async function useAddress(setup: Setup, address: string): Promise<EmbeddedServer> {
  const { namespace } = setup;
  const { connection, readyWithinMs = EMBEDDED_SERVER_DEFAULTS.addressTimeoutMs } = setup;
  const { connectMs, causeMs } = timesOf(readyWithinMs);
  const probe = await probeServer(
    defined({ address, namespace, timeoutMs: connectMs, connection }),
  );
  if (probe.kind === 'unreachable') {
    const wanted = defined({ address, connection, withinMs: causeMs });
    const { text, advice } = await connectionCause(probe.error, wanted);
    throw new UsageError(
      'server_address',
      `Expected a Temporal server at ${address} (\`TEMPORAL_ADDRESS\`), got: ${text}. ${advice} ` +
        'Or unset it to use a server of this machine.',
    );
  }
  return shared(setup, probe, { address, origin: 'address' });
}

/** The server of the data folder, or the one at the port, if either answers. */
export async function findRunning(
  setup: Setup,
  tried: string[],
): Promise<EmbeddedServer | undefined> {
  const noted = await findNoted(setup, tried);
  const { host } = EMBEDDED_SERVER_DEFAULTS;
  const address = `${host}:${setup.port}`;
  const isElsewhere = setup.isPortGiven && noted !== undefined && noted.address !== address;
  if ((noted !== undefined && !isElsewhere) || setup.port === 'free') return noted;

  if (isElsewhere && !(await isPortTaken(host, setup.port))) {
    throw new UsageError(
      'server_port',
      `Expected the server of \`${setup.stateFile}\` at ${address}, got one that runs at ${noted.address}. ` +
        'A database takes one server: stop that one, leave the port out to use it, or choose ' +
        'another data folder with `EVERLOOP_DATA_DIR`.',
    );
  }
  if (!(await isPortTaken(host, setup.port))) {
    tried.push(`a server at ${address}: nothing listens`);
    return undefined;
  }
  const probe = await probeLocal(setup, address);
  if (probe.kind === 'unreachable') {
    throw new UsageError(
      'server_port',
      `Expected port ${setup.port} of ${host} to be free or to have a Temporal server, got ` +
        `something else that listens (${probe.message}). Stop it, or choose another port.`,
    );
  }
  return shared(setup, probe, { address, origin: 'port' });
}

/** The server of the note in the data folder; removes a note that is out of date. */
async function findNoted(setup: Setup, tried: string[]): Promise<EmbeddedServer | undefined> {
  const deadline = Date.now() + EMBEDDED_SERVER_DEFAULTS.localTimeoutMs * 3;
  for (;;) {
    const state = await readServerState(setup.stateFile);
    if (state === undefined) {
      tried.push(`a server noted in ${setup.stateFile}: none`);
      return undefined;
    }
    const probe = await probeLocal(setup, state.address);
    if (probe.kind !== 'unreachable') {
      const { address, pid, logFile, uiUrl } = state;
      const found = { address, origin: 'data folder' as const, pid, logFile };
      return shared(setup, probe, { ...found, ...defined({ uiUrl }) });
    }
    if (!isRunning(state.pid)) {
      await removeServerState(setup.stateFile, state.pid);
      tried.push(`a server noted in ${setup.stateFile}: its process ${state.pid} has ended`);
      return undefined;
    }
    // It may be about to stop. A second server would corrupt the database file, so wait.
    if (Date.now() > deadline) {
      throw new UsageError(
        'server_hanging',
        `Expected the server noted in \`${setup.stateFile}\` to answer at ${state.address}, got ` +
          `silence while process ${state.pid} runs. End that process, or remove the file if it ` +
          'is no Temporal server.',
      );
    }
    await sleep(200);
  }
}

/** A server that this process did not start. Throws if it lacks the namespace. */
function shared(
  { namespace }: Setup,
  probe: Probe,
  found: Pick<EmbeddedServer, 'address' | 'origin' | 'pid' | 'logFile' | 'uiUrl'>,
): EmbeddedServer {
  if (probe.kind === 'no_namespace') {
    throw new UsageError(
      'server_namespace',
      `Expected the Temporal server at ${found.address} to have a namespace \`${namespace}\`, got none of ` +
        `that name. Create it with \`temporal operator namespace create -n ${namespace}\`, or ` +
        'correct `TEMPORAL_NAMESPACE`.',
    );
  }
  return { ...found, namespace, startedHere: false, stop: () => Promise.resolve() };
}

/** Probes a server on this machine. Detects a free port at once, without the time-out. */
async function probeLocal(setup: Setup, address: string): Promise<Probe> {
  const [host = '', port = ''] = address.split(':');
  if (!(await isPortTaken(host, Number(port)))) {
    return { kind: 'unreachable', message: 'nothing listens' };
  }
  const timeoutMs = EMBEDDED_SERVER_DEFAULTS.localTimeoutMs;
  return probeServer({ address, namespace: setup.namespace, timeoutMs });
}
