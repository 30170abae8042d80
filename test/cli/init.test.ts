import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
