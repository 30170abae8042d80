import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { fetchTemporalCli, pinnedCliName } from '../../src/worker/server/temporal-cli.ts';
import { DEVELOPMENT_SETTINGS } from '../../src/worker/server/server-process.ts';

import { composedServer } from '../postgres/programs.ts';
import { CLI_FOLDER } from '../support/test-server.ts';

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly command?: readonly string[];
  readonly stop_grace_period?: string;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const compose = parse(readFileSync(`${ROOT}/docker-compose.yml`, 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const services = Object.entries(compose.services);

function service(name: string): Service {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`Expected a service ${name}.`);
  return found;
}

describe('docker-compose.yml', () => {
  it('starts one thing after another', () => {
    const chain = Object.fromEntries(
      services.map(([name, { depends_on: before }]) => [
        name,
        Object.entries(before ?? {}).map(([other, { condition }]) => `${other}: ${condition}`),
      ]),
    );

    expect(chain).toEqual({
      postgresql: [],
      'temporal-schema': ['postgresql: service_healthy'],
      temporal: ['temporal-schema: service_completed_successfully'],
      'temporal-namespace': ['temporal: service_healthy'],
      'temporal-ui': ['temporal-namespace: service_completed_successfully'],
      'everloop-setup': ['temporal-namespace: service_completed_successfully'],
      worker: ['everloop-setup: service_completed_successfully'],
      console: ['everloop-setup: service_completed_successfully'],
    });
  });

  it('pins images that fit each other', () => {
    const images = services.flatMap(([, { image }]) => (image === undefined ? [] : [image]));

    expect(new Set(images)).toEqual(
      new Set([
        'postgres:16',
        'temporalio/admin-tools:1.32.0',
        'temporalio/server:1.32.0',
        'temporalio/ui:2.54.1',
      ]),
    );
  });

  it('has the server that the tests have, which the pinned CLI brings, too', async () => {
    const program = join(CLI_FOLDER, pinnedCliName());
    const own = existsSync(program) ? program : await fetchTemporalCli({ folder: CLI_FOLDER });
    const said = execFileSync(own, ['--version'], { encoding: 'utf8' });

    expect(said).toContain(`(Server ${composedServer().version},`);
  });

  it('sets the number of shards, which the first start fixes', () => {
    const shards = Number(service('temporal').environment?.['NUM_HISTORY_SHARDS']);

    expect(shards).toBe(512);
    expect(composedServer().environment['NUM_HISTORY_SHARDS']).toBe('512');
  });

  it('checks the health of each service that others wait for', () => {
    const awaited = services.flatMap(([, { depends_on: before }]) =>
      Object.entries(before ?? {}).flatMap(([name, { condition }]) =>
        condition === 'service_healthy' ? [name] : [],
      ),
    );

    expect(awaited.filter((name) => service(name).healthcheck === undefined)).toEqual([]);
  });

  it('mounts files and volumes that are there', () => {
    const sources = services.flatMap(([, { volumes }]) =>
      (volumes ?? []).map((volume) => volume.split(':')[0] ?? ''),
    );

    expect(
      sources.filter((source) =>
        source.startsWith('.') ? !existsSync(`${ROOT}/${source}`) : !(source in compose.volumes),
      ),
    ).toEqual([]);
  });

  it('stays on the loopback', () => {
    const ports = services.flatMap(([, { ports: published }]) => published ?? []);

    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });

  it('gives a worker longer to stop than the worker takes', () => {
    const { environment, stop_grace_period: period } = service('worker');

    expect(Number.parseInt(period ?? '', 10) * 1_000).toBeGreaterThan(
      Number(environment?.['EVERLOOP_SHUTDOWN_GRACE_MS']),
    );
  });

  it('opens the console with a token alone, at the port that is published and checked', () => {
    const { command = [], environment, healthcheck, ports } = service('console');
    const port = command.at(-1)?.split(':')[1] ?? '';

    expect(command.slice(-3)).toEqual(['console', '--listen', `0.0.0.0:${port}`]);
    expect(existsSync(join(ROOT, command.find((word) => word.endsWith('.ts')) ?? ''))).toBe(true);
    expect(environment?.['EVERLOOP_CONSOLE_TOKEN']).toMatch(/^\$\{EVERLOOP_CONSOLE_TOKEN:\?/);
    expect(ports).toEqual([`127.0.0.1:${port}:${port}`]);
    expect(healthcheck?.test.join(' ')).toContain(`http://127.0.0.1:${port}/`);
  });

  it('has the worker push to the console, with one token', () => {
    const [pushes, reads] = [service('worker').environment, service('console').environment];
    const url = new URL(reads?.['EVERLOOP_STREAM_URL'] ?? '');

    expect(url.hostname).toBe('worker');
    expect(pushes?.['EVERLOOP_STREAM_LISTEN']).toBe(`0.0.0.0:${url.port}`);
    expect(pushes?.['EVERLOOP_STREAM_TOKEN']).toBe(reads?.['EVERLOOP_STREAM_TOKEN']);
  });

  it('gives schema and server the same database', () => {
    const names = ['POSTGRES_SEEDS', 'DB_PORT', 'POSTGRES_USER', 'POSTGRES_PWD'];
    const of = (name: string): unknown[] => names.map((key) => service(name).environment?.[key]);

    expect(of('temporal-schema')).toEqual(['postgresql', '5432', 'temporal', 'temporal']);
    expect(of('temporal')).toEqual(of('temporal-schema'));
  });
});

describe('the compose file of a new project', () => {
  const template = parse(readFileSync(`${ROOT}/template/docker-compose.yml`, 'utf8'), {
    merge: true,
  }) as typeof compose;

  it('sets the namespace up before anything else uses it', () => {
    const waits = Object.entries(template.services).map(([name, { depends_on: before }]) => [
      name,
      before ?? {},
    ]);

    expect(Object.fromEntries(waits)).toEqual({
      temporal: {},
      setup: { temporal: { condition: 'service_healthy' } },
      worker: { setup: { condition: 'service_completed_successfully' } },
      console: { setup: { condition: 'service_completed_successfully' } },
    });
    expect(template.services['setup']?.command?.at(-1)).toBe('setup');
  });
});

describe('config', () => {
  it('sets on the server what the embedded one has', () => {
    const settings = parse(readFileSync(`${ROOT}/config/dynamicconfig.yaml`, 'utf8')) as Readonly<
      Record<string, readonly { readonly value: unknown }[]>
    >;

    expect(
      Object.fromEntries(Object.entries(settings).map(([key, [first]]) => [key, first?.value])),
    ).toEqual(DEVELOPMENT_SETTINGS);
  });

  it.each(['create-schema.sh', 'create-namespace.sh'])('has a %s that a shell can read', (name) => {
    expect(execFileSync('sh', ['-n', `${ROOT}/config/${name}`], { encoding: 'utf8' })).toBe('');
  });
});

describe('the image', () => {
  const lines = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split('\n');
  const at = (start: string): number => lines.findIndex((line) => line.startsWith(start));

  it('builds the pages of the console before it drops what builds them', () => {
    const build = at('RUN node --import tsx scripts/build-console.ts && npm prune --omit=dev');

    expect(at('RUN npm ci')).toBeLessThan(at('COPY src'));
    expect(at('COPY src')).toBeLessThan(build);
    expect(build).toBeLessThan(at('RUN npm install'));
    expect(at('COPY --from=install /app/dist')).toBeGreaterThan(build);
  });

  it('drops the builds of the core for other machines before it is copied', () => {
    const prune = at('RUN node --import tsx src/cli/main.ts prune');

    expect(prune).toBeGreaterThan(at('RUN npm install'));
    expect(prune).toBeLessThan(lines.lastIndexOf('FROM node:20-bookworm-slim'));
    expect(readFileSync(join(ROOT, 'template/Dockerfile'), 'utf8')).toMatch(
      /^RUN npm ci --omit=dev && npx everloop prune$/m,
    );
  });

  it('has each package that worker.ts and its agents import', () => {
    const files = ['worker.ts', 'examples/airline/agents.ts', 'examples/airline/store.ts'];
    const imported = files.flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(/from '([^.'][^']*)'/g)].map(
        ([, name]) => name ?? '',
      ),
    );
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    const [, added = ''] =
      /npm install --no-save --save-prod --omit=dev (.*)/.exec(
        readFileSync(join(ROOT, 'Dockerfile'), 'utf8'),
      ) ?? [];
    const present = [
      ...Object.keys(dependencies),
      ...added.split(' ').map((name) => name.replace(/@\d+$/, '')),
    ];

    expect(imported).toContain('@ai-sdk/openai');
    expect(imported.filter((name) => !present.includes(name))).toEqual([]);
  });
});
