import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { DEVELOPMENT_SETTINGS } from '../../src/worker/server/server-process.ts';
import { cli } from './cli-fixture.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FILES = [
  '.dockerignore',
  '.gitignore',
  'Dockerfile',
  'README.md',
  'agents.test.ts',
  'agents.ts',
  'docker-compose.yml',
  'package.json',
  'tsconfig.json',
  'worker.ts',
];

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'init-'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe('everloop init', () => {
  // That its tests and types pass: test/e2e/first-hour.test.ts.
  it('writes a project', async () => {
    const made = await cli(['init', 'Tea Shop'], { cwd });

    expect(made).toMatchObject({ exitCode: 0 });
    expect(made.stdout).toContain('cd Tea Shop');
    expect(readdirSync(join(cwd, 'Tea Shop')).toSorted()).toEqual(FILES);
  });

  it('names the package after the folder and takes this version', async () => {
    await cli(['init', '(Ünder) way_9'], { cwd });
    const made = JSON.parse(readFileSync(join(cwd, '(Ünder) way_9', 'package.json'), 'utf8'));
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

    expect(made).toMatchObject({ name: 'nder-way-9', dependencies: { everloop: `^${version}` } });
  });

  // test/e2e/frameworks.test.ts builds and runs it.
  it('with --next, writes the same agent and worker with a page in Next', async () => {
    const made = await cli(['init', 'chat', '--next'], { cwd });
    const project = join(cwd, 'chat');
    const written = readdirSync(project, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(project, join(entry.parentPath, entry.name)))
      .toSorted();

    expect(made).toMatchObject({ exitCode: 0 });
    expect(made.stdout).toContain('npm run dev');
    expect(written).toEqual(
      [
        ...FILES,
        'app/[id]/page.tsx',
        'app/api/chat/[id]/stream/route.ts',
        'app/api/chat/route.ts',
        'app/chat.tsx',
        'app/layout.tsx',
        'app/page.tsx',
        'chat.ts',
        'docker-compose.override.yml',
      ].toSorted(),
    );
    const same = ['agents.ts', 'agents.test.ts', 'worker.ts', 'docker-compose.yml'];
    for (const file of same) {
      expect(readFileSync(join(project, file), 'utf8')).toBe(
        readFileSync(join(ROOT, 'template', file), 'utf8'),
      );
    }
    expect(readFileSync(join(project, '.gitignore'), 'utf8')).toContain('.next/\n');
    expect(JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))).toMatchObject({
      name: 'chat',
      scripts: { build: 'next build' },
    });
  });

  it('its page reads from the worker of the compose file, with its token', () => {
    type Services = Readonly<Record<string, { readonly environment: Record<string, string> }>>;
    const environmentOf = (file: string, service: string) => {
      const text = readFileSync(join(ROOT, 'template', file), 'utf8');
      const { services } = parse(text, { merge: true }) as { readonly services: Services };
      return services[service]?.environment ?? {};
    };
    const worker = environmentOf('docker-compose.yml', 'worker');
    const console = environmentOf('docker-compose.yml', 'console');

    expect(environmentOf('next/docker-compose.override.yml', 'web')).toEqual({
      TEMPORAL_ADDRESS: worker['TEMPORAL_ADDRESS'],
      EVERLOOP_STREAM_TOKEN: worker['EVERLOOP_STREAM_TOKEN'],
      EVERLOOP_STREAM_URL: console['EVERLOOP_STREAM_URL'],
    });
  });

  it('overwrites nothing', async () => {
    const project = join(cwd, 'mine');
    mkdirSync(project);
    writeFileSync(join(project, 'worker.ts'), 'mine');

    const refused = await cli(['init', 'mine'], { cwd });

    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain('Expected a folder without worker.ts, got them in `mine`.');
    expect(readdirSync(project)).toEqual(['worker.ts']);
    expect(readFileSync(join(project, 'worker.ts'), 'utf8')).toBe('mine');
  });
});

describe('the compose file of a new project', () => {
  it('starts the server with the settings that Everloop gives its own', () => {
    const file = readFileSync(join(ROOT, 'template/docker-compose.yml'), 'utf8');
    const { services } = parse(file) as {
      readonly services: { readonly temporal: { readonly command: readonly string[] } };
    };
    const given = services.temporal.command.flatMap(
      (word) => /^--dynamic-config-value=(.*)$/.exec(word)?.[1] ?? [],
    );

    expect(given.toSorted()).toEqual(
      Object.entries(DEVELOPMENT_SETTINGS)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .toSorted(),
    );
  });

  it('opens the console of the package with a token alone, and the worker pushes to it', () => {
    const file = readFileSync(join(ROOT, 'template/docker-compose.yml'), 'utf8');
    const { services } = parse(file, { merge: true }) as {
      readonly services: Readonly<
        Record<
          'worker' | 'console',
          {
            readonly command: readonly string[];
            readonly environment: Readonly<Record<string, string>>;
          }
        >
      >;
    };
    const { environment, command } = services.console;
    const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      readonly bin: { readonly everloop: string };
    };

    expect(command[1]).toBe(join('node_modules/everloop', bin.everloop));
    expect(environment['EVERLOOP_CONSOLE_TOKEN']).toMatch(/^\$\{EVERLOOP_CONSOLE_TOKEN:\?/);
    const { EVERLOOP_STREAM_TOKEN: token, EVERLOOP_STREAM_URL: url = '' } = environment;
    expect(services.worker.environment).toMatchObject({
      EVERLOOP_STREAM_TOKEN: token,
      EVERLOOP_STREAM_LISTEN: `0.0.0.0:${new URL(url).port}`,
    });
  });
});
