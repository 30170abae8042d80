/**
 * Builds and caches the workflow bundle: the code of the sandbox as one text. A build takes one to
 * five seconds, so the bundle is kept in a file, with the hash of every source file. Later starts
 * read it in milliseconds, unless a source file has changed.
 *
 * I1  A cached bundle equals a new build: same files and contents, same SDK, same major version of
 *     Node, same preloaded modules.
 * I2  The cache file is written as a whole, so processes may race.
 * I3  All of our code that workflows use is preloaded, as is the SDK's: it is evaluated once per
 *     process, not once per workflow. Measured with 80 modules of the core: 11.5 ms and 982 KB per workflow without
 *     preloading, 1.9 ms and 36 KB with it; preloading the SDK and `workflows` saves another 25 KB.
 *     Their dependency yaml is preloaded with them. This works because no module has state that a
 *     run can see: the SDK keeps the state of a workflow in its activator, a global of the sandbox
 *     that is switched with the workflow. A module may keep a pure cache of one value, as
 *     `lisp/base/search.ts` does.
 */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, type BundleOptions } from '@temporalio/worker';
import { errorText } from '../../core/base/error-text.ts';
import { parsedJson } from '../../client/streaming/parsed-json.ts';
import { CALLBACK_WORKFLOW } from '../../core/contract/callback.ts';
import { isPlainObject } from '../../core/base/json.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { makeFolder, writeWhole } from '../files/write-whole.ts';
import { smallAndModern } from './bundle-size.ts';

/** What {@link loadWorkflowBundle} takes. */
export interface WorkflowBundleOptions {
  /** The folder of the bundles, created if missing, such as `.everloop/cache`. */
  readonly cacheDir: string;
  /** Absolute path of the module that exports the workflows. Default: Everloop's. */
  readonly workflowsPath?: string;
  /** Absolute paths of stateless modules to preload. Default: {@link preloadedModules}. */
  readonly preloadModules?: readonly string[];
  /** Whether the texts of failures are payloads, which a codec encrypts. Default false. */
  readonly hidesFailures?: boolean;
}

/** A bundle; fits `workflowBundle` of `Worker.create`. */
export interface LoadedBundle {
  readonly code: string;
  /** Whether it comes from the cache. */
  readonly isFromCache: boolean;
}

/** Increase it when the format of the cache file or the settings of the bundler change. */
const CACHE_VERSION = 7;

/** Enough for the first errors; each comes with some lines of search paths. */
const MAX_REASON_LENGTH = 1_500;

/** `.ts` from the sources, `.js` from the build. */
const EXTENSION = extname(fileURLToPath(import.meta.url));

/** The module that exports Everloop's workflows, in the sources or in the build. */
export const WORKFLOWS_PATH: string = pathBeside(`../../workflows/index${EXTENSION}`);

/** The module of the workflow that delivers callbacks. */
const CALLBACKS_PATH = pathBeside(`../../workflows/deliver-callbacks${EXTENSION}`);

/** The entry of the program language, in the sources or in the build. */
const LANGUAGE_PATH = pathBeside(`../../lisp${EXTENSION}`);

/** What workflows of your own import, `everloop/workflow`. */
const PARTS_PATH = pathBeside(`../../workflow${EXTENSION}`);

/** Makes promises in the sandbox cheap. */
const UNTRACKED_PROMISES_PATH = pathBeside(`../../workflows/untracked-promises${EXTENSION}`);

/** Keeps a run from hanging on an unreadable payload; see the file. */
const PAYLOAD_CONVERTER_PATH = pathBeside(`../../workflows/payload-converter${EXTENSION}`);

/** Makes the texts of failures well-formed. */
const FAILURE_CONVERTER_PATH = pathBeside(`../../workflows/converters${EXTENSION}`);

/** Hides the texts of failures in payloads, too. */
const HIDING_CONVERTER_PATH = pathBeside(`../../workflows/failure-converter${EXTENSION}`);

/**
 * The absolute paths of the SDK, the entry of the language, the entries through which workflow code
 * uses Everloop, and a module that takes effect when it is loaded. What they import is preloaded with
 * them, and the bundler can join it; modules that no workflow needs stay out.
 */
export function preloadedModules(): readonly string[] {
  return [
    createRequire(import.meta.url).resolve('@temporalio/workflow'),
    LANGUAGE_PATH,
    UNTRACKED_PROMISES_PATH,
    PARTS_PATH,
    WORKFLOWS_PATH,
    PAYLOAD_CONVERTER_PATH,
    FAILURE_CONVERTER_PATH,
  ];
}

/**
 * The bundle for `workflowsPath`, from the cache or newly built and cached.
 *
 * Throws a `UsageError` with code `workflow_bundle` and the bundler's errors when the build fails.
 */
export async function loadWorkflowBundle(options: WorkflowBundleOptions): Promise<LoadedBundle> {
  const workflowsPath = options.workflowsPath ?? WORKFLOWS_PATH;
  const preloadModules = options.preloadModules ?? preloadedModules();
  const { hidesFailures = false } = options;
  const cacheFile = bundleFile({ ...options, workflowsPath, preloadModules });
  const cached = await readCache(cacheFile);
  if (cached !== undefined) return { code: cached, isFromCache: true };

  const startedAtMs = Date.now();
  const { code, files } = await makeBundle({
    ...options,
    workflowsPath,
    preloadModules,
    hidesFailures,
  });
  const hashes = await hashFiles(files);
  // A file that changed during the build may be in the bundle in either version (I1).
  const changedAtMs = await newestChange(files);
  if (changedAtMs < startedAtMs) await writeCache(cacheFile, code, hashes);
  return { code, isFromCache: false };
}

/** The file that keeps a bundle. */
export function bundleFile({
  cacheDir,
  workflowsPath = WORKFLOWS_PATH,
  preloadModules = preloadedModules(),
  hidesFailures = false,
}: WorkflowBundleOptions): string {
  const hiding = hidesFailures ? '-hiding' : '';
  return join(cacheDir, `workflows-${keyOf(workflowsPath, preloadModules)}${hiding}.json`);
}

/**
 * The mark of a module with workflows, such as `loops@4f2a9c01`: the name of its file, by which a
 * replay knows it again after a change, and 8 digits that follow from its text.
 *
 * @throws UsageError `workflow_bundle` if it cannot be read.
 */
export async function markOf(workflowsPath: string): Promise<string> {
  const text = await readFile(workflowsPath).catch((error: unknown) => {
    throw new UsageError(
      'workflow_bundle',
      `Expected the workflows of \`${workflowsPath}\` to be a file, got: ${errorText(error)}`,
    );
  });
  // The sources and the build of a module differ in the ending.
  const stem = basename(workflowsPath).replace(/\.[cm]?[jt]sx?$/, '');
  const name = stem.replaceAll(/[^\w.+-]/g, '_').slice(0, MAX_MARK_NAME);
  return `${name}@${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
}

/** Every run of these workflows records it, in each link. */
const MAX_MARK_NAME = 64;

async function makeBundle({
  workflowsPath,
  preloadModules,
  cacheDir,
  hidesFailures,
}: Required<WorkflowBundleOptions>): Promise<{
  readonly code: string;
  readonly files: readonly string[];
}> {
  const entry = await entryOf(workflowsPath, cacheDir);
  const complaints: string[] = [];
  const files = new Set<string>();
  const logger = new DefaultLogger('ERROR', ({ message }) => complaints.push(message));
  try {
    const { code } = await bundleWorkflowCode({
      workflowsPath: entry,
      payloadConverterPath: PAYLOAD_CONVERTER_PATH,
      failureConverterPath: hidesFailures ? HIDING_CONVERTER_PATH : FAILURE_CONVERTER_PATH,
      preloadModules: [...preloadModules],
      logger,
      webpackConfigHook: (config) => smallAndModern(noteFiles(files)(findSdk(config))),
    });
    // The entry follows from the path, so it is no source whose changes count.
    const isSource = (file: string): boolean =>
      isFile(file) && (file !== entry || entry === workflowsPath);
    return { code, files: [...files].filter(isSource).toSorted() };
  } catch (error) {
    const reason = complaints.map(errorsOf).find((text) => text !== undefined);
    throw new UsageError(
      'workflow_bundle',
      `Expected the workflows of \`${workflowsPath}\` to be bundled, got: ` +
        `${reason ?? errorText(error)}`,
    );
  }
}

/**
 * The module that the bundle begins with. A module of your own need not export the workflow that
 * delivers callbacks, so a file beside the bundle adds it.
 */
async function entryOf(workflowsPath: string, cacheDir: string): Promise<string> {
  if (workflowsPath === WORKFLOWS_PATH) return workflowsPath;
  const [own, ours] = [workflowsPath, CALLBACKS_PATH].map((path) => JSON.stringify(path));
  const text = `const { ${CALLBACK_WORKFLOW} } = require(${ours});\nmodule.exports = { ...require(${own}), ${CALLBACK_WORKFLOW} };\n`;
  await makeFolder(cacheDir);
  // The bundler follows links, and adds a file beside this one that exists in memory only.
  const folder = await realpath(cacheDir);
  const file = join(folder, `workflows-${hashOf(text).slice(0, 16)}.cjs`);
  await writeWhole(file, text);
  return file;
}

/** An entry that is in no project finds the SDK where Everloop does. */
function findSdk(config: WebpackConfig): WebpackConfig {
  const { modules = ['node_modules'] } = config.resolve ?? {};
  const sdk = createRequire(import.meta.url).resolve('@temporalio/workflow/package.json');
  const folder = dirname(dirname(dirname(sdk)));
  return { ...config, resolve: { ...config.resolve, modules: [...modules, folder] } };
}

type WebpackConfig = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

/** The errors in the bundler's output, without its table of modules and its stack traces. */
function errorsOf(output: string): string | undefined {
  const start = output.indexOf('ERROR in ');
  if (start < 0) return undefined;
  const lines = output.slice(start).split('\n');
  return lines
    .filter((line) => !/^\s+at /.test(line))
    .join('\n')
    .slice(0, MAX_REASON_LENGTH);
}

/** Makes the bundler add the path of every file that it reads to `files`. */
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

/** The cached code; undefined if there is none or a source file has changed. */
async function readCache(cacheFile: string): Promise<string | undefined> {
  // Missing or unreadable: build again.
  const cached = parsedJson(await readFile(cacheFile, 'utf8').catch(() => ''));
  if (!isPlainObject(cached) || cached['v'] !== CACHE_VERSION) return undefined;
  const { code, hashes } = cached;
  if (typeof code !== 'string' || !isPlainObject(hashes)) return undefined;
  try {
    const found = await hashFiles(Object.keys(hashes));
    return Object.entries(found).every(([file, hash]) => hashes[file] === hash) ? code : undefined;
  } catch {
    // A source file is gone.
    return undefined;
  }
}

async function writeCache(
  cacheFile: string,
  code: string,
  hashes: Readonly<Record<string, string>>,
): Promise<void> {
  await makeFolder(dirname(cacheFile));
  await writeWhole(cacheFile, JSON.stringify({ v: CACHE_VERSION, hashes, code }));
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

/** The key of a cache file: everything that a bundle depends on besides the contents of files. */
function keyOf(workflowsPath: string, preloadModules: readonly string[]): string {
  const require = createRequire(import.meta.url);
  const { version } = JSON.parse(
    readFileSync(require.resolve('@temporalio/worker/package.json'), 'utf8'),
  ) as { readonly version: string };
  const node = process.versions.node.split('.')[0] ?? '';
  return hashOf(JSON.stringify([workflowsPath, preloadModules, version, node])).slice(0, 16);
}

/** The bundler also lists folders, and an entry that exists in memory only. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function pathBeside(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
