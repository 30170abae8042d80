import {
  access,
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import {
  startOrFindServer,
  type EmbeddedServer,
  type EmbeddedServerOptions,
} from '../../src/worker/server/embedded-server.ts';
import { isRunning } from '../../src/worker/server/server-lock.ts';
import { findFreePort, isPortTaken, probeServer } from '../../src/worker/server/server-probe.ts';
import { fetchTemporalCli } from '../../src/worker/server/temporal-cli.ts';
import { startFixture, type FixtureProcess } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { CLI_FOLDER } from '../support/test-server.ts';

let dataDir: string;
const servers: EmbeddedServer[] = [];
const fixtures: FixtureProcess[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'everloop-embedded-'));
});
afterEach(async () => {
  await Promise.all(fixtures.splice(0).map((fixture) => fixture.kill('SIGKILL')));
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  await rm(dataDir, { recursive: true, force: true });
});

/** A server of this test's folder, without a look at the machine's own PATH; stopped at the end. */
async function start(options: EmbeddedServerOptions = {}): Promise<EmbeddedServer> {
  const server = await startOrFindServer({
    port: 'free',
    path: '',
    dataDir,
    cliDir: CLI_FOLDER,
    ...options,
  });
  servers.push(server);
  return server;
}

async function startElsewhere(): Promise<{ fixture: FixtureProcess; server: EmbeddedServer }> {
  const fixture = await startFixture('start-server', [dataDir, CLI_FOLDER]);
  fixtures.push(fixture);
  return { fixture, server: fixture.firstLine as EmbeddedServer };
}

function pidOf(server: EmbeddedServer): number {
  if (server.pid === undefined) throw new Error('Expected a process id.');
  return server.pid;
}

function portOf(server: EmbeddedServer): number {
  return Number(server.address.split(':')[1]);
}

async function modeOf(...path: readonly string[]): Promise<number> {
  return (await stat(join(...path))).mode & 0o777;
}

describe('what a server writes', () => {
  it('is for its user alone [R16]', async () => {
    const folder = join(dataDir, 'new');
    const first = await start({ dataDir: folder });
    const made = await modeOf(folder, 'temporal.db');
    await first.stop();
    // As another umask leaves it.
    await chmod(join(folder, 'temporal.db'), 0o644);

    await start({ dataDir: folder });

    expect(made).toBe(0o600);

    for (const file of ['temporal.db', 'server.json', 'logs/temporal-server.log']) {
      expect(await modeOf(folder, file)).toBe(0o600);
    }
    expect(await modeOf(folder)).toBe(0o700);
    expect(await modeOf(folder, 'logs')).toBe(0o700);
  });
});

describe('the search attributes of runs', () => {
  it.runIf(RUNS_ALL)('are added to a database that lacks them', async () => {
    const names = ['EverloopAgent', 'EverloopState', 'EverloopTenant'];
    const first = await start();
    const connection = await Connection.connect({ address: first.address });
    await connection.operatorService.removeSearchAttributes({
      namespace: 'default',
      searchAttributes: names,
    });
    await connection.close();
    await first.stop();

    const second = await start();
    const again = await Connection.connect({ address: second.address });
    const has = await eventually('the attributes', async () => {
      const { customAttributes } = await again.operatorService.listSearchAttributes({
        namespace: 'default',
      });
      return names.every((name) => name in customAttributes) && Object.keys(customAttributes);
    });
    await again.close();

    expect(has).toEqual(expect.arrayContaining(names));
  });
});

describe('a server that is kept', () => {
  it('starts again when it is killed, at the same address [R15]', async () => {
    const lines: string[] = [];
    const server = await start({ keeps: true, onProgress: (line) => lines.push(line) });
    const first = pidOf(server);

    process.kill(first, 'SIGKILL');
    await eventually('another server', () => server.pid !== first && server.pid !== undefined);

    const probe = { address: server.address, namespace: 'default', timeoutMs: 5_000 };
    expect(await probeServer(probe)).toEqual({ kind: 'ready' });
    expect(lines).toEqual([
      'The Temporal server ended. Starting it again; runs wait meanwhile and lose nothing.',
      `The Temporal server runs again at ${server.address}.`,
    ]);
    await server.stop();
    expect(isRunning(pidOf(server))).toBe(false);
    expect(await isPortTaken('127.0.0.1', portOf(server))).toBe(false);
  });

  it('says that its database was deleted [R15]', async () => {
    const lines: string[] = [];
    await start({ keeps: true, onProgress: (line) => lines.push(line) });
    // The file is looked at every two seconds, the first time at once.
    await setTimeout(500);

    for (const end of ['', '-wal', '-shm']) {
      await rm(join(dataDir, `temporal.db${end}`), { force: true });
    }
    await eventually('a line about it', () => lines.length > 0);

    expect(lines[0]).toContain(`The database ${join(dataDir, 'temporal.db')} was deleted`);
  });
});

describe('a port that is asked for', () => {
  it.runIf(RUNS_ALL)('is not that of another server in the note [R15]', async () => {
    const noted = await start();
    const port = await findFreePort('127.0.0.1');

    await expect(start({ port })).rejects.toMatchObject({
      code: 'server_port',
      message: expect.stringContaining(`got one that runs at ${noted.address}`) as unknown,
    });
    expect(await start({ port: portOf(noted) })).toMatchObject({ pid: noted.pid });
  });

  it.runIf(RUNS_ALL)(
    'is used when a server answers there, whatever the note names [R15]',
    async () => {
      await start();
      const { address } = inject('temporal');

      const found = await start({ port: Number(address.split(':')[1]) });

      expect(found).toMatchObject({ address, startedHere: false, origin: 'port' });
    },
  );
});

describe('a server that is started', () => {
  it('answers, leaves a note and a log, and is gone after stop', async () => {
    const server = await start({ uiPort: 'free' });

    expect(server).toMatchObject({ startedHere: true, origin: 'pinned CLI', namespace: 'default' });
    const note: unknown = JSON.parse(await readFile(join(dataDir, 'server.json'), 'utf8'));
    expect(note).toMatchObject({ v: 1, address: server.address, pid: server.pid });
    expect((await fetch(`${server.uiUrl}`)).status).toBe(200);
    await access(join(dataDir, 'logs', 'temporal-server.log'));

    await server.stop();
    await server.stop();

    expect(isRunning(pidOf(server))).toBe(false);
    expect(await isPortTaken('127.0.0.1', portOf(server))).toBe(false);
    await expect(access(join(dataDir, 'server.json'))).rejects.toThrow('ENOENT');
  });

  it('has the namespace and the settings that it was asked for', async () => {
    const server = await start({
      namespace: 'staging',
      dynamicConfig: { 'limit.maxIDLength': 100 },
    });
    const connection = await Connection.connect({ address: server.address });
    const client = new Client({ connection, namespace: 'staging' });

    const tooLong = client.workflow.start('any', {
      taskQueue: 'nobody',
      workflowId: 'x'.repeat(101),
    });

    await expect(tooLong).rejects.toMatchObject({
      cause: { details: 'WorkflowId exceeds maximum allowed length (101/100)' },
    });
    await connection.close();
  });

  it.runIf(RUNS_ALL)('is shared with a second process, which does not stop it', async () => {
    const server = await start();

    const { fixture, server: found } = await startElsewhere();
    await fixture.kill('SIGTERM');

    expect(found).toMatchObject({
      address: server.address,
      pid: server.pid,
      startedHere: false,
      origin: 'data folder',
    });
    expect(isRunning(pidOf(server))).toBe(true);
  });

  it('is one, when two processes want it at the same moment', async () => {
    const both = await Promise.all([startElsewhere(), startElsewhere(), start()]);

    const [first, second] = both.map((item) => ('server' in item ? item.server : item));
    expect(first?.address).toBe(second?.address);
    expect(both.map((item) => ('server' in item ? item.server : item).pid)).toEqual(
      both.map(() => first?.pid),
    );
    expect(both.filter((item) => ('server' in item ? item.server : item).startedHere)).toHaveLength(
      1,
    );
  });

  it('ends with its parent, also when that is killed by SIGKILL', async () => {
    const { fixture, server } = await startElsewhere();
    expect(isRunning(pidOf(server))).toBe(true);

    await fixture.kill('SIGKILL');

    await eventually('the server to end', () => !isRunning(pidOf(server)));
    await eventually('its note to be removed', () =>
      access(join(dataDir, 'server.json')).then(
        () => false,
        () => true,
      ),
    );
  });

  it.runIf(RUNS_ALL)('is not shared any more when its parent was killed a moment ago', async () => {
    const { fixture, server: dying } = await startElsewhere();

    await fixture.kill('SIGKILL');
    const { server } = await startElsewhere();

    expect(server.startedHere).toBe(true);
    expect(server.pid).not.toBe(dying.pid);
  });

  it('loses nothing when it is killed by SIGKILL and started again on its file', async () => {
    const port = await findFreePort('127.0.0.1');
    const killed = await start({ port });
    const connection = await Connection.connect({ address: killed.address });
    const handle = await new Client({ connection }).workflow.start('agent', {
      taskQueue: 'nobody',
      workflowId: 'survivor',
      args: [{ task: 'stay' }],
    });
    await connection.close();

    process.kill(pidOf(killed), 'SIGKILL');
    await eventually('the server to end', () => !isRunning(pidOf(killed)));
    const restarted = await start({ port });

    expect(restarted).toMatchObject({ startedHere: true, address: killed.address });
    const again = await Connection.connect({ address: restarted.address });
    const found = await new Client({ connection: again }).workflow.getHandle('survivor').describe();
    expect(found).toMatchObject({
      runId: handle.firstExecutionRunId,
      status: { name: 'RUNNING' },
      historyLength: 2,
    });
    await again.close();
  });

  it.runIf(RUNS_ALL)('replaces one whose note is out of date', async () => {
    const gone = await start();
    const note = await readFile(join(dataDir, 'server.json'), 'utf8');
    await gone.stop();
    await writeFile(join(dataDir, 'server.json'), note);

    const server = await start();

    expect(server.startedHere).toBe(true);
    expect(server.pid).not.toBe(gone.pid);
  });
});

describe('which server is used', () => {
  it('is the one at the address that was asked for', async () => {
    const { address, namespace } = inject('temporal');

    const server = await start({ address, namespace });

    expect(server).toMatchObject({ address, startedHere: false, origin: 'address' });
    await server.stop();
    expect(await probeServer({ address, namespace, timeoutMs: 30_000 })).toEqual({ kind: 'ready' });
  });

  it('is one that answers at the port', async () => {
    const port = Number(inject('temporal').address.split(':')[1]);

    const server = await start({ port });

    expect(server).toMatchObject({ startedHere: false, origin: 'port' });
  });

  it.runIf(RUNS_ALL)('is one made by `temporal` on the PATH before the pinned CLI', async () => {
    const path = join(dataDir, 'path');
    await mkdir(path);
    await symlink(await fetchTemporalCli({ folder: CLI_FOLDER }), join(path, 'temporal'));

    const server = await start({ path: `/no-such-folder:${path}`, fetchCli: neverAsked });

    expect(server).toMatchObject({ startedHere: true, origin: 'path' });
  });

  it.runIf(RUNS_ALL)('is started again when another process took one of its ports', async () => {
    const path = join(dataDir, 'path');
    await mkdir(path);
    const cli = await fetchTemporalCli({ folder: CLI_FOLDER });
    // Ends twice, as the CLI does then; the third time it is the CLI.
    const script = `#!/bin/sh
echo x >> ${dataDir}/starts
[ "$(wc -l < ${dataDir}/starts)" -lt 3 ] && echo "address already in use" >&2 && exit 1
exec ${cli} "$@"
`;
    await writeFile(join(path, 'temporal'), script);
    await chmod(join(path, 'temporal'), 0o755);

    const server = await start({ path, fetchCli: neverAsked });

    expect(server).toMatchObject({ startedHere: true, origin: 'path' });
    expect(await readFile(join(dataDir, 'starts'), 'utf8')).toBe('x\nx\nx\n');
  });
});

describe('without a server', () => {
  it('says that the address which was asked for does not answer', async () => {
    await expect(start({ address: '127.0.0.1:1', readyWithinMs: 5_000 })).rejects.toMatchObject({
      code: 'server_address',
      message: expect.stringMatching(
        /^Expected a Temporal server at 127\.0\.0\.1:1 \(`TEMPORAL_ADDRESS`\), got: the connection was refused \(ECONNREFUSED\): nothing listens at that port\. Start one with `everloop dev`, or correct `TEMPORAL_ADDRESS`\. Or unset it to use a server of this machine\.$/,
      ) as string,
    });
  });

  it('says that the namespace is missing', async () => {
    const { address } = inject('temporal');

    await expect(start({ address, namespace: 'nowhere' })).rejects.toMatchObject({
      code: 'server_namespace',
      message:
        `Expected the Temporal server at ${address} to have a namespace \`nowhere\`, got none of that name. ` +
        'Create it with `temporal operator namespace create -n nowhere`, or correct `TEMPORAL_NAMESPACE`.',
    });
  });

  it('says that something else listens at the port; a free port helps', async () => {
    const other = createServer((socket) => {
      socket.on('error', () => {
        // The one who asked has hung up.
      });
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    await new Promise<void>((done) => {
      other.listen(0, '127.0.0.1', done);
    });
    const { port } = other.address() as AddressInfo;

    await expect(start({ port })).rejects.toMatchObject({
      code: 'server_port',
      message: expect.stringMatching(
        new RegExp(
          `^Expected port ${port} of 127\\.0\\.0\\.1 to be free or to have a Temporal server, got something else that listens \\(.+\\)\\. Stop it, or choose another port\\.$`,
        ),
      ) as string,
    });
    expect((await start({ port: 'free' })).startedHere).toBe(true);
    other.close();
  });

  it('says that the data folder cannot be made', async () => {
    await writeFile(join(dataDir, 'file'), '');

    await expect(start({ dataDir: join(dataDir, 'file') })).rejects.toMatchObject({
      code: 'server_data_dir',
      message:
        `Expected \`${dataDir}/file/logs\` to be a folder that can be made and written, got ENOTDIR. ` +
        'Choose another with `EVERLOOP_DATA_DIR`.',
    });
  });

  it('lists all that was tried when nothing can be started', async () => {
    const path = join(dataDir, 'path');
    await mkdir(path);
    await writeFile(
      join(path, 'temporal'),
      '#!/bin/sh\necho "unknown flag: --sqlite" >&2\nexit 1\n',
    );
    await chmod(join(path, 'temporal'), 0o755);
    const port = await findFreePort('127.0.0.1');
    const fetchCli = (): Promise<string> => Promise.reject(new Error('no network\nno python3'));

    await expect(start({ port, path, fetchCli })).rejects.toMatchObject({
      code: 'no_server',
      message: `Expected a Temporal server, got none. Tried:
- a server noted in ${dataDir}/server.json: none
- a server at 127.0.0.1:${port}: nothing listens
- \`temporal\` on the PATH: ${path}/temporal ended at once: unknown flag: --sqlite
- the pinned Temporal CLI: no network
  no python3
The server's log is ${dataDir}/logs/temporal-server.log.`,
    });
  });

  it('refuses a corrupt download', async () => {
    const cliDir = join(dataDir, 'bin');
    const fetchCli = (folder: string): Promise<string> =>
      fetchTemporalCli({
        folder,
        sources: [
          {
            name: 'a broken mirror',
            fetchInto: async (into) => {
              await writeFile(join(into, 'temporal'), 'half of it');
              return join(into, 'temporal');
            },
          },
        ],
      });

    await expect(start({ cliDir, fetchCli })).rejects.toThrow(
      /- a broken mirror: the download is corrupt: expected SHA-256 [0-9a-f]{64}, got [0-9a-f]{64}/,
    );
  });

  it.runIf(RUNS_ALL)('ends a server that no note can be left of', async () => {
    // A folder in the place of the note: the disk may be full as well.
    await mkdir(join(dataDir, 'server.json'));
    const port = await findFreePort('127.0.0.1');

    await expect(start({ port })).rejects.toMatchObject({ code: 'no_server' });

    expect(await isPortTaken('127.0.0.1', port)).toBe(false);
  });

  it.runIf(RUNS_ALL)(
    'gives up on a server that starts and never answers, and ends it',
    async () => {
      const path = join(dataDir, 'path');
      await mkdir(path);
      await writeFile(
        join(path, 'temporal'),
        `#!/bin/sh\necho $$ > ${dataDir}/pid\nexec sleep 60\n`,
      );
      await chmod(join(path, 'temporal'), 0o755);

      // Time enough for the script to say who it is.
      await expect(start({ path, readyWithinMs: 8_000, fetchCli: neverAsked })).rejects.toThrow(
        `- \`temporal\` on the PATH: ${path}/temporal did not answer within 8 s`,
      );
      expect(isRunning(Number(await readFile(join(dataDir, 'pid'), 'utf8')))).toBe(false);
    },
  );
});

function neverAsked(): Promise<string> {
  return Promise.reject(new Error('Expected nobody to ask for the pinned CLI.'));
}
