import {
  appendFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadWorkflowBundle, type LoadedBundle } from '../../src/worker/bundle/bundle.ts';
import { preloadedModules } from '../../src/worker/bundle/bundle-paths.ts';
import { RUNS_ALL } from '../support/extent.ts';

const FIXTURES = fileURLToPath(new URL('../support/fixtures/workflows', import.meta.url));

/** What a bundle puts into the sandbox. */
interface SandboxGlobals {
  readonly __TEMPORAL__: {
    readonly importWorkflows: () => Readonly<Record<string, () => Promise<unknown>>>;
  };
}

let folder: string;
let cacheDir: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-bundle-'));
  cacheDir = join(folder, 'cache');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The files that keep bundles. */
async function bundles(): Promise<readonly string[]> {
  return (await readdir(cacheDir)).filter((name) => name.endsWith('.json'));
}

/** The bundle of a fixture. */
function load(name = 'hello', workflows = FIXTURES): Promise<LoadedBundle> {
  return loadWorkflowBundle({
    cacheDir,
    workflowsPath: join(workflows, `${name}.ts`),
    preloadModules: [],
  });
}

describe('loadWorkflowBundle', () => {
  it('makes a bundle once; the second start reads it, and makes it again when it is broken', async () => {
    const made = await load();
    const [name = ''] = await bundles();
    const { mtimeMs, ino } = await stat(join(cacheDir, name));
    const found = await load();

    expect([made.isFromCache, found.isFromCache]).toEqual([false, true]);
    expect(found.code).toBe(made.code);
    expect(await bundles()).toEqual([name]);
    expect(await stat(join(cacheDir, name))).toMatchObject({ mtimeMs, ino });

    await writeFile(join(cacheDir, name), '{"v":1,"code":"cut o');
    expect((await load()).isFromCache).toBe(false);
    expect((await load()).isFromCache).toBe(true);
  });

  it.runIf(RUNS_ALL)(
    'keeps the names of workflows, by which the SDK finds child workflows, in a folder that is linked and named from here',
    async () => {
      const real = join(folder, 'real');
      await mkdir(real);
      await symlink(real, cacheDir);
      cacheDir = relative(process.cwd(), cacheDir);
      const { code, isFromCache } = await load('two-greetings');
      expect(isFromCache).toBe(false);
      const context = vm.createContext({ __webpack_module_cache__: {} });
      new vm.Script(code).runInContext(context);
      const { importWorkflows } = (context as unknown as SandboxGlobals).__TEMPORAL__;

      expect(Object.entries(importWorkflows()).map(([key, { name }]) => [key, name])).toEqual([
        ['greet', 'greet'],
        ['wave', 'wave'],
        // What every bundle has, whatever its module exports.
        ['deliverCallbacks', 'deliverCallbacks'],
        ['readMoment', 'readMoment'],
        ['tenant', 'tenant'],
        ['rate', 'rate'],
      ]);
    },
  );

  it('makes it again when a file that went into it changed, meanwhile or later, and not for another file', async () => {
    const workflows = await copyIntoRepository();
    try {
      const greeting = join(workflows, 'greeting.ts');
      const inOneHour = Date.now() / 1000 + 3_600;
      await utimes(greeting, inOneHour, inOneHour);
      await load('hello', workflows);
      await utimes(greeting, 1, 1);
      const afterMeanwhile = await load('hello', workflows);
      await appendFile(join(workflows, 'forbidden.ts'), '// changed\n');
      const afterOther = await load('hello', workflows);
      await appendFile(greeting, '// changed\n');
      await utimes(greeting, 1, 1);
      const afterOwn = await load('hello', workflows);
      const afterThat = await load('hello', workflows);

      const all = [afterMeanwhile, afterOther, afterOwn, afterThat];
      expect(all.map((bundle) => bundle.isFromCache)).toEqual([false, true, false, true]);
    } finally {
      await rm(workflows, { recursive: true, force: true });
    }
  });

  it('survives a race', async () => {
    const [first, second] = await Promise.all([load(), load()]);

    expect(first?.code).toBe(second?.code);
    expect((await load()).isFromCache).toBe(true);
    expect(await bundles()).toHaveLength(1);
  });

  it('says what workflow code must not import', async () => {
    await expect(load('forbidden')).rejects.toMatchObject({
      code: 'workflow_bundle',
      message: expect.stringMatching(
        /^Expected the workflows of `.+forbidden\.ts` to be bundled, got: ERROR in node:fs/,
      ) as string,
    });
  });
});

describe('preloadedModules', () => {
  it('names the SDK, the language, and the entries that reach all that a workflow uses', () => {
    const [sdk, language, ...own] = preloadedModules();

    expect(sdk).toMatch(/\/@temporalio\/workflow\/lib\/index\.js$/);
    expect(language).toMatch(/\/src\/lisp\.ts$/);
    expect(own.map((path) => path.split('/src/')[1])).toEqual([
      'workflows/untracked-promises.ts',
      'workflow.ts',
      'workflows/index.ts',
      'workflows/payload-converter.ts',
      'workflows/converters.ts',
      'workflows/sending/outgoing.ts',
      'workflows/recorded/interceptors.ts',
    ]);
  });
});

/** A copy of the fixtures inside of this repository, where the bundler finds the SDK. */
async function copyIntoRepository(): Promise<string> {
  const copy = await mkdtemp(`${FIXTURES}-copy-`);
  await cp(FIXTURES, copy, { recursive: true });
  // Files that are as new as the bundle are not cached.
  for (const name of await readdir(copy)) await utimes(join(copy, name), 1, 1);
  return copy;
}
