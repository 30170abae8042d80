/**
 * The workflow bundle: what runs in the sandbox, as one text. Making it takes one to five seconds,
 * so it is kept in a file together with the hash of every file that went into it; a later start
 * reads it in milliseconds unless one of them has changed.
 *
 * Invariants
 * - B1: a bundle from the cache equals the one that would be made now: same files, same contents,
 *   same SDK, same major version of Node, same preloaded modules.
 * - B2: the file is whole: it is written under another name and then renamed, so processes may race.
 * - B3: all of our own code and the SDK's is preloaded, hence evaluated once per process and not once
 *   per workflow (measured with 80 modules of the core: 11.5 ms and 982 KB for each workflow without,
 *   1.9 ms and 36 KB with; the SDK and `workflows` are 25 KB more). What they import, yaml, comes
 *   along. It works because none of it holds state at module level: the SDK keeps that of a workflow
 *   in its activator, which is global to the sandbox and changed with the workflow.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, type BundleOptions } from '@temporalio/worker';
import { errorText } from '../../core/base/error-text.ts';
import { isPlainObject } from '../../core/base/json.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { smallAndModern } from './bundle-size.ts';

/** What {@link loadWorkflowBundle} takes. */
export interface WorkflowBundleOptions {
  /** Keeps the bundles, made when it is not there: `.everloop/cache`. */
  readonly cacheDir: string;
  /** Absolute path of the file that exports the workflows. Default: Everloop's own. */
  readonly workflowsPath?: string;
  /** Absolute paths of stateless modules to share. Default: {@link preloadedModules}. */
  readonly preloadModules?: readonly string[];
}

/** A bundle; passes as `workflowBundle` of `Worker.create`. */
export interface LoadedBundle {
  readonly code: string;
  /** Whether it was there already. */
  readonly isFromCache: boolean;
}

/** Changes when the cache file gets another shape, or the bundler other settings. */
const CACHE_VERSION = 4;

/** The first errors are what helps; each comes with some lines of search paths. */
const MAX_REASON_LENGTH = 1_500;

/** `.ts` from the sources, `.js` from the build. */
const EXTENSION = extname(fileURLToPath(import.meta.url));

/** The file that exports Everloop's own workflows, from the sources or from the build. */
export const WORKFLOWS_PATH: string = pathBeside(`../../workflows/index${EXTENSION}`);

/** The entry of the program language, from the sources or from the build. */
const LANGUAGE_PATH = pathBeside(`../../lisp${EXTENSION}`);

/** See the file: unreadable payloads must not hang a run. */
const PAYLOAD_CONVERTER_PATH = pathBeside(`../../workflows/payload-converter${EXTENSION}`);

/**
 * The SDK, the language with all that it consists of, then every module of core and workflows, by
 * absolute path and in order. The language is one module here, so that the bundler can join it.
 */
export function preloadedModules(): readonly string[] {
  const folders = ['../../core', '../../workflows'].map(pathBeside).flatMap((folder) =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
          .filter((name) => name.endsWith(EXTENSION) && !name.endsWith(`.d${EXTENSION}`))
          .toSorted()
          .map((name) => join(folder, name))
      : [],
  );
  return [
    createRequire(import.meta.url).resolve('@temporalio/workflow'),
    LANGUAGE_PATH,
    ...folders,
  ];
}

/**
 * The bundle for `workflowsPath`, from the cache or made now and kept.
 *
 * Throws a `UsageError` with code `workflow_bundle` when the workflow code cannot be bundled; its
 * message has what the bundler complained about.
 */
export async function loadWorkflowBundle(options: WorkflowBundleOptions): Promise<LoadedBundle> {
  const workflowsPath = options.workflowsPath ?? WORKFLOWS_PATH;
  const preloadModules = options.preloadModules ?? preloadedModules();
  const cacheFile = bundleFile({ ...options, workflowsPath, preloadModules });
  const cached = await readCache(cacheFile);
  if (cached !== undefined) return { code: cached, isFromCache: true };

  const startedAtMs = Date.now();
  const { code, files } = await makeBundle(workflowsPath, preloadModules);
  const hashes = await hashFiles(files);
  // A file that changed while the bundle was made may be in it in either form (B1).
  const changedAtMs = await newestChange(files);
  if (changedAtMs < startedAtMs) await writeCache(cacheFile, code, hashes);
  return { code, isFromCache: false };
}

/** The file that keeps a bundle. */
export function bundleFile({
  cacheDir,
  workflowsPath = WORKFLOWS_PATH,
  preloadModules = preloadedModules(),
}: WorkflowBundleOptions): string {
  return join(cacheDir, `workflows-${keyOf(workflowsPath, preloadModules)}.json`);
}

async function makeBundle(
  workflowsPath: string,
  preloadModules: readonly string[],
): Promise<{ readonly code: string; readonly files: readonly string[] }> {
  const complaints: string[] = [];
  const files = new Set<string>();
  const logger = new DefaultLogger('ERROR', ({ message }) => complaints.push(message));
  try {
    const { code } = await bundleWorkflowCode({
      workflowsPath,
      payloadConverterPath: PAYLOAD_CONVERTER_PATH,
      preloadModules: [...preloadModules],
      logger,
      webpackConfigHook: (config) => smallAndModern(noteFiles(files)(config)),
    });
    return { code, files: [...files].filter(isFile).toSorted() };
  } catch (error) {
    const reason = complaints.map(errorsOf).find((text) => text !== undefined);
    throw new UsageError(
      'workflow_bundle',
      `Expected the workflows of \`${workflowsPath}\` to be bundled, got: ` +
        `${reason ?? errorText(error)}`,
    );
  }
}

/** The errors in what the bundler prints, without its table of modules and its stack traces. */
function errorsOf(output: string): string | undefined {
  const start = output.indexOf('ERROR in ');
  if (start < 0) return undefined;
  const lines = output.slice(start).split('\n');
  return lines
    .filter((line) => !/^\s+at /.test(line))
    .join('\n')
    .slice(0, MAX_REASON_LENGTH);
}

/** Makes the bundler put the path of every file that it read into `files`. */
function noteFiles(files: Set<string>): NonNullable<BundleOptions['webpackConfigHook']> {
  return (config) => ({
    ...config,
    plugins: [
      ...(config.plugins ?? []),
      (compiler) => {
        compiler.hooks.done.tap('everloop', ({ compilation }) => {
          for (const file of compilation.fileDependencies) files.add(file);
        });
      },
    ],
  });
}

/** The cached code, unless there is none or a file that went into it differs. */
async function readCache(cacheFile: string): Promise<string | undefined> {
  let cached: unknown;
  try {
    cached = JSON.parse(await readFile(cacheFile, 'utf8'));
  } catch {
    // None yet, or not readable: then it is made again.
    return undefined;
  }
  if (!isPlainObject(cached) || cached['v'] !== CACHE_VERSION) return undefined;
  const { code, hashes } = cached;
  if (typeof code !== 'string' || !isPlainObject(hashes)) return undefined;
  try {
    const found = await hashFiles(Object.keys(hashes));
    return Object.entries(found).every(([file, hash]) => hashes[file] === hash) ? code : undefined;
  } catch {
    // One of the files is gone.
    return undefined;
  }
}

async function writeCache(
  cacheFile: string,
  code: string,
  hashes: Readonly<Record<string, string>>,
): Promise<void> {
  const draft = `${cacheFile}.${randomUUID()}`;
  await mkdir(join(cacheFile, '..'), { recursive: true });
  try {
    await writeFile(draft, JSON.stringify({ v: CACHE_VERSION, hashes, code }));
    await rename(draft, cacheFile);
  } finally {
    await rm(draft, { force: true });
  }
}

async function hashFiles(files: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const hashes = await Promise.all(
    files.map(async (file) => [file, hashOf(await readFile(file))] as const),
  );
  return Object.fromEntries(hashes);
}

async function newestChange(files: readonly string[]): Promise<number> {
  const times = await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs));
  return Math.max(0, ...times);
}

/** Names what a bundle depends on beside the contents of files: one cache file for each. */
function keyOf(workflowsPath: string, preloadModules: readonly string[]): string {
  const require = createRequire(import.meta.url);
  const { version } = JSON.parse(
    readFileSync(require.resolve('@temporalio/worker/package.json'), 'utf8'),
  ) as { readonly version: string };
  const node = process.versions.node.split('.')[0] ?? '';
  return hashOf(JSON.stringify([workflowsPath, preloadModules, version, node])).slice(0, 16);
}

/** The bundler also names folders that it looked into, and an entry that it has in memory only. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function pathBeside(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
