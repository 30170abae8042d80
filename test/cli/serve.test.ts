/** What `dev` and `worker` ask of a worker process, and what they say when it is ready. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UsageError } from '../../src/core/base/usage-error.ts';
import type { LocalOptions } from '../../src/worker/serve/local.ts';
import type { RunWorkerOptions, WorkerReady } from '../../src/worker/serve/run-worker.ts';
import { cli, type CliResult, type CliSetup } from './cli-fixture.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const AGENTS = ['--agents', 'examples/docs/modes.ts'];

let dataDir = '';
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'everloop-serve-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

/** Runs a command that serves, with a worker that is ready at once on `uiUrl`. */
async function serveWith(
  argv: readonly string[],
  env: NonNullable<CliSetup['env']> = {},
): Promise<CliResult & { readonly options: RunWorkerOptions }> {
  let options: RunWorkerOptions | undefined;
  const result = await cli([...argv, ...AGENTS], {
    cwd: ROOT,
    env: { EVERLOOP_DATA_DIR: dataDir, ...env },
    io: {
      runWorker: async (given) => {
        options = given;
        const { uiPort } = given.server ?? {};
        given.onReady?.({
          server: {
            address: '127.0.0.1:7233',
            namespace: 'default',
            startedHere: true,
            ...(uiPort === undefined ? {} : { uiUrl: 'http://127.0.0.1:8233' }),
          },
          config: { taskQueue: given.taskQueue },
        } as WorkerReady);
      },
    },
  });
  if (options === undefined) throw new Error(`Expected a worker, got: ${result.stderr}`);
  return { ...result, options };
}

describe('everloop dev', () => {
  it('starts a codec server if there are keys, which the web UI is told of', async () => {
    const env = { EVERLOOP_KEYS: `k1=${Buffer.alloc(32, 1).toString('base64')}` };
    const plain = await serveWith(['dev', '--ui']);
    const keyed = await serveWith(['dev', '--ui'], env);
    const asJson = await serveWith(['dev', '--json'], env);

    expect(plain.options.server).not.toHaveProperty('uiCodecEndpoint');
    expect(plain.stderr).not.toContain('codec server');
    const { uiCodecEndpoint: url = 'none' } = keyed.options.server ?? {};
    expect(keyed.stderr).toContain(
      `codec server  ${url} (any program on this machine can decrypt through it)`,
    );
    expect(JSON.parse(asJson.stdout)).toHaveProperty(
      'codecUrl',
      asJson.options.server?.uiCodecEndpoint,
    );
    // It is closed when the worker has stopped.
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  it('starts no web UI unless it is asked to, and then says what the UI allows [R17]', async () => {
    const plain = await serveWith(['dev']);
    const asked = await serveWith(['dev', '--ui']);
    const free = await serveWith(['dev', '--ui-port', 'free']);

    expect(plain.options.server).not.toHaveProperty('uiPort');
    expect(plain.stderr).not.toContain('web UI');
    expect(asked.options.server).toHaveProperty('uiPort');
    expect(asked.stderr).toContain(
      'http://127.0.0.1:8233 (any web page in a browser here can read and start runs through it)',
    );
    expect(free.options.server).toMatchObject({ uiPort: expect.any(Number) });
  });

  it('serves a task queue of the folder, unless the environment names one or a server', async () => {
    const plain = await serveWith(['dev']);
    const named = await serveWith(['dev'], { EVERLOOP_TASK_QUEUE: 'mine' });
    const elsewhere = await serveWith(['dev'], { TEMPORAL_ADDRESS: 'far:7233' });

    expect(plain.options.taskQueue).toBe('folder');
    expect(plain.stderr).toMatch(/task queue +folder\n/);
    expect(named.options.taskQueue).toBe('mine');
    expect(elsewhere.options.taskQueue).toBe('everloop');
  });
});

describe('--workflows', () => {
  const file = 'examples/toml-calls/workflow.ts';

  it.each(['dev', 'worker'])(
    'gives the worker of %s the file of own loops and parts',
    async (command) => {
      const { options } = await serveWith([command, '--workflows', file]);

      expect(options.workflowsPath).toBe(join(ROOT, file));
      expect((await serveWith([command])).options).not.toHaveProperty('workflowsPath');
    },
  );

  it('is refused if there is no such file', async () => {
    const { exitCode, stderr } = await cli(['dev', '--workflows', 'none.ts', ...AGENTS], {
      cwd: ROOT,
      env: { EVERLOOP_DATA_DIR: dataDir },
    });

    expect(exitCode).toBe(2);
    expect(stderr).toContain('Expected `--workflows` to be a file, got `none.ts`');
  });
});

describe('everloop run', () => {
  it('gives its worker the agent file, for isolated tools and packages of providers', async () => {
    let given: LocalOptions | undefined;
    const workflows = 'examples/toml-calls/workflow.ts';
    const options = ['--workflows', workflows, '--on-event', 'http://localhost:1'];
    const argv = ['run', 'forecaster', 'go', ...options, ...AGENTS];
    const { exitCode, stderr } = await cli(argv, {
      cwd: ROOT,
      env: { EVERLOOP_DATA_DIR: dataDir },
      io: {
        local: async (serving) => {
          given = serving;
          throw new UsageError('agent_file', 'Stop here.');
        },
      },
    });

    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      'EVERLOOP_CALLBACK_SECRET is not set, so this process sends no callbacks.',
    );
    expect(given?.workflowsPath).toBe(join(ROOT, workflows));
    expect(given?.agentsModule).toBe(
      pathToFileURL(join(ROOT, 'examples', 'docs', 'modes.ts')).href,
    );
  });
});

describe('everloop run in a folder without an agent file', () => {
  it('says that there is neither a server nor agents to serve', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'everloop-empty-'));
    const none = 'Expected a Temporal server, got none.';

    const { exitCode, stderr } = await cli(['run', 'clerk', 'go'], {
      cwd: folder,
      env: { EVERLOOP_DATA_DIR: join(folder, '.everloop') },
      // A server of someone else may run on this machine.
      io: { connect: () => Promise.reject(new UsageError('no_server', none)) },
    });
    await rm(folder, { recursive: true });

    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/^Expected a Temporal server, got none\./);
    expect(stderr).toContain('Or write `agents.ts`, a module that exports your agents');
  });
});

describe('the other commands of a folder', () => {
  it('use the queue that it was served on', async () => {
    const before = await serveWith(['worker']);
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const note = { v: 1, address, namespace: 'default', pid: 1, startedAtMs: 0, logFile: '' };
    await writeFile(join(dataDir, 'server.json'), JSON.stringify(note));
    await writeFile(join(dataDir, 'queue.json'), '{"v":1,"taskQueue":"everloop-1f3a"}');

    const after = await serveWith(['worker']);
    const { connects } = await cli(['ps'], {
      env: { EVERLOOP_DATA_DIR: dataDir },
      everloop: { list: async () => [] },
    });

    expect(before.options.taskQueue).toBe('everloop');
    expect(after.options.taskQueue).toBe('everloop-1f3a');
    expect(connects).toMatchObject([{ address, taskQueue: 'everloop-1f3a' }]);
    server.close();
  });
});
