/**
 * A Temporal cluster on PostgreSQL: a database, and two nodes that each run all services, as
 * docker-compose.yml configures them. What is here only starts and ends processes, and keeps their ids
 * in files: any process of a test run may do so.
 *
 * I1  A process is ended by an id that this cluster wrote, and by no name.
 * I2  Ports are none that the system gives to outgoing connections, so that a node finds its own free
 *     when it comes back.
 */
import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isPortTaken, probeServer } from '../../src/worker/server/server-probe.ts';
import { isRunning } from '../../src/worker/server/server-lock.ts';
import { eventually } from '../support/eventually.ts';
import { handoverAfter } from '../support/test-server.ts';
import { composedServer, ROOT, type ClusterPrograms } from './programs.ts';

/** Ports of a node. */
export interface ClusterNode {
  readonly name: string;
  /** Its frontend: `127.0.0.1:15000`. */
  readonly address: string;
  readonly firstPort: number;
}

/** A cluster, as data. */
export interface Cluster {
  /** Holds the database, logs and process ids. */
  readonly folder: string;
  readonly programs: ClusterPrograms;
  readonly databasePort: number;
  readonly nodes: readonly ClusterNode[];
}

/** Its namespaces: one as the service has it, one whose runs hand over after few events. */
export const NAMESPACES = { stock: 'default', handover: 'handover' } as const;

/** Events after which the service wants a hand-over, as for the matrix on a development server. */
const HANDOVER_EVENTS = 40;

const run = promisify(execFile);

/** Ports of a node: four services with two each, and one for HTTP. */
const NODE_PORTS = 9;

/** Starting takes seconds; a machine with other work needs more. */
const READY_MS = 120_000;

/** A cluster in `folder`, of which nothing runs yet. */
export async function newCluster(folder: string, programs: ClusterPrograms): Promise<Cluster> {
  const first = await freePorts(1 + 2 * NODE_PORTS);
  const nodes = [0, 1].map((index) => {
    const firstPort = first + 1 + index * NODE_PORTS;
    return { name: `node-${index + 1}`, address: `127.0.0.1:${firstPort}`, firstPort };
  });
  return { folder, programs, databasePort: first, nodes };
}

/** The first of `count` free ports in a row (I2). */
async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = 15_000 + Math.floor(Math.random() * 10_000);
    const ports = Array.from({ length: count }, (_, index) => first + index);
    const taken = await Promise.all(ports.map((port) => isPortTaken('127.0.0.1', port)));
    if (!taken.includes(true)) return first;
  }
}

/** Creates the database and starts it, and then what docker-compose.yml does one after another. */
export async function startCluster(cluster: Cluster): Promise<void> {
  const { folder, programs } = cluster;
  await mkdir(join(folder, 'bin'));
  await symlink(programs.sqlTool, join(folder, 'bin', 'temporal-sql-tool'));
  await symlink(programs.cli, join(folder, 'bin', 'temporal'));
  await writeFile(join(folder, 'dynamicconfig.yaml'), dynamicConfig());
  await createDatabase(cluster);
  await startDatabase(cluster);
  await script(cluster, 'create-schema.sh', { SQL_PASSWORD: 'temporal' });
  // The first one writes what the others read.
  for (const node of cluster.nodes) await startNode(cluster, node);
  for (const namespace of Object.values(NAMESPACES)) {
    const address = cluster.nodes[0]?.address ?? '';
    const env = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
    await script(cluster, 'create-namespace.sh', { ...env, RETENTION: '72h' });
    await run(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', 'setup'], {
      cwd: ROOT,
      env: { ...process.env, ...env },
      timeout: READY_MS,
    });
  }
}

/** The service's own settings, but for hand-overs in the namespace for them. */
function dynamicConfig(): string {
  const settings = Object.entries(handoverAfter(HANDOVER_EVENTS)).map(([key, value]) => [
    key,
    [{ value, constraints: { namespace: NAMESPACES.handover } }],
  ]);
  return JSON.stringify(Object.fromEntries(settings));
}

/** Runs a script of `config`, which finds the programs in the folder of the cluster. */
async function script(
  cluster: Cluster,
  name: string,
  more: Readonly<Record<string, string>>,
): Promise<void> {
  const PATH = `${join(cluster.folder, 'bin')}:${process.env['PATH'] ?? ''}`;
  const env = { ...process.env, ...databaseEnvironment(cluster), ...more, PATH };
  await run('sh', [join(ROOT, 'config', name)], { env, timeout: READY_MS });
}

function databaseEnvironment({ databasePort }: Cluster): Readonly<Record<string, string>> {
  return {
    ...composedServer().environment,
    POSTGRES_SEEDS: '127.0.0.1',
    DB_PORT: String(databasePort),
  };
}

function databaseFolder({ folder }: Cluster): string {
  return join(folder, 'database');
}

/** Runs a program of PostgreSQL, as the user that it may run as. */
async function postgres(
  { programs }: Cluster,
  name: string,
  args: readonly string[],
): Promise<void> {
  const file = join(programs.postgresBin, name);
  await run(file, [...args], { ...programs.postgresUser, cwd: '/', timeout: READY_MS });
}

async function createDatabase(cluster: Cluster): Promise<void> {
  const { folder, programs } = cluster;
  const own = databaseFolder(cluster);
  await mkdir(own, { mode: 0o700 });
  const user = programs.postgresUser;
  if (user !== undefined) {
    // The folder above belongs to this user: it may be passed through, and not be read.
    await chmod(folder, 0o711);
    await chown(own, user.uid, user.gid);
  }
  const data = join(own, 'data');
  await postgres(cluster, 'initdb', ['-D', data, '-U', 'temporal', '-A', 'trust', '-E', 'UTF8']);
}

/** Starts PostgreSQL and waits until it takes connections. */
export async function startDatabase(cluster: Cluster): Promise<void> {
  const own = databaseFolder(cluster);
  const settings = `-p ${cluster.databasePort} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=300`;
  const args = ['-D', join(own, 'data'), '-l', join(own, 'log'), '-w', '-o', settings, 'start'];
  await postgres(cluster, 'pg_ctl', args);
}

/** Ends PostgreSQL: `immediate` as a crash does, which breaks all connections and needs a recovery. */
export async function stopDatabase(cluster: Cluster, mode: 'immediate' | 'fast'): Promise<void> {
  const data = join(databaseFolder(cluster), 'data');
  await postgres(cluster, 'pg_ctl', ['-D', data, '-m', mode, '-w', 'stop']);
}

/** Starts a node and waits until its frontend answers; gives its process id. */
export async function startNode(cluster: Cluster, node: ClusterNode): Promise<number> {
  const { folder, programs } = cluster;
  const log = openSync(join(folder, `${node.name}.log`), 'a');
  const child = spawn(programs.server, ['--allow-no-auth', 'start'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...nodeEnvironment(cluster, node) },
    stdio: ['ignore', log, log],
    detached: true,
  });
  child.unref();
  closeSync(log);
  const { pid } = child;
  if (pid === undefined) throw new Error(`Expected ${programs.server} to start, got no process.`);
  await writeFile(pidFile(cluster, node), String(pid));
  await eventually(
    `${node.name} to answer; see ${folder}/${node.name}.log`,
    async () => {
      if (!isRunning(pid)) {
        const said = (await readFile(join(folder, `${node.name}.log`), 'utf8')).slice(-2_000);
        throw new Error(`Expected ${node.name} to run, got its end: ${said}`);
      }
      const target = { address: node.address, namespace: 'temporal-system', timeoutMs: 2_000 };
      return (await probeServer(target)).kind === 'ready';
    },
    READY_MS,
  );
  return pid;
}

function nodeEnvironment(
  cluster: Cluster,
  { firstPort }: ClusterNode,
): Readonly<Record<string, string>> {
  const services = ['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'];
  const ports = services.flatMap((service, index) => [
    [`${service}_GRPC_PORT`, String(firstPort + 2 * index)],
    [`${service}_MEMBERSHIP_PORT`, String(firstPort + 2 * index + 1)],
  ]);
  return {
    ...databaseEnvironment(cluster),
    ...(Object.fromEntries(ports) as Readonly<Record<string, string>>),
    FRONTEND_HTTP_PORT: String(firstPort + 2 * services.length),
    BIND_ON_IP: '127.0.0.1',
    TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1',
    DYNAMIC_CONFIG_FILE_PATH: join(cluster.folder, 'dynamicconfig.yaml'),
    LOG_LEVEL: 'warn',
  };
}

function pidFile({ folder }: Cluster, { name }: ClusterNode): string {
  return join(folder, `${name}.pid`);
}

/** The id of the process of a node, which may have ended. */
export async function pidOf(cluster: Cluster, node: ClusterNode): Promise<number> {
  return Number(await readFile(pidFile(cluster, node), 'utf8'));
}

/** Kills a node and waits until it is gone. */
export async function killNode(cluster: Cluster, node: ClusterNode): Promise<void> {
  const pid = await pidOf(cluster, node).catch(() => undefined);
  if (pid === undefined || !isRunning(pid)) return;
  process.kill(pid, 'SIGKILL');
  await eventually(`${node.name} to be gone`, () => !isRunning(pid));
}

/** Ends all of it at once, for a process that was interrupted and can wait for nothing. */
export function abandonCluster(cluster: Cluster): void {
  const files = [
    ...cluster.nodes.map((node) => pidFile(cluster, node)),
    join(databaseFolder(cluster), 'data', 'postmaster.pid'),
  ];
  for (const file of files) {
    try {
      process.kill(Number(readFileSync(file, 'utf8').split('\n')[0]), 'SIGQUIT');
    } catch {
      // It has ended, or was not started.
    }
  }
  rmSync(cluster.folder, { recursive: true, force: true });
}

/** Ends all of it, and removes its folder. */
export async function stopCluster(cluster: Cluster): Promise<void> {
  await Promise.all(cluster.nodes.map((node) => killNode(cluster, node)));
  await stopDatabase(cluster, 'fast').catch(() => undefined);
  await rm(cluster.folder, { recursive: true, force: true });
}
