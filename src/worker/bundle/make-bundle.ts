/** Makes a workflow bundle. Loads the bundler, which takes 270 MB, so workers do it in a process. */
import { statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, type BundleOptions } from '@temporalio/worker';
import { errorText } from '../../core/base/error-text.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { CALLBACK_WORKFLOW } from '../../core/contract/callback.ts';
import { AGENT_WORKFLOW, MOMENT_WORKFLOW, PROBE_WORKFLOW } from '../../core/contract/messages.ts';
import { RATE_WORKFLOW } from '../../core/rate/rate.ts';
import { TENANT_WORKFLOW } from '../../core/tenant/tenant-messages.ts';
import { makeFolder, writeWhole } from '../files/write-whole.ts';
import {
  CALLBACKS_PATH,
  MOMENT_PATH,
  RATE_PATH,
  TENANT_PATH,
  FAILURE_CONVERTER_PATH,
  HIDING_CONVERTER_PATH,
  INTERCEPTOR_PATHS,
  PAYLOAD_CONVERTER_PATH,
  WORKFLOWS_PATH,
} from './bundle-paths.ts';
import { smallAndModern } from './bundle-size.ts';
import { hashOf, type MadeBundle } from './kept-bundle.ts';

/** What a bundle is made from; all paths are absolute. */
export interface BundleOrder {
  readonly cacheDir: string;
  readonly workflowsPath: string;
  readonly preloadModules: readonly string[];
  readonly hidesFailures: boolean;
}

/** Enough for the first errors; each comes with some lines of search paths. */
const MAX_REASON_LENGTH = 1_500;

/** Makes a bundle. Throws a `UsageError` with code `workflow_bundle` and the bundler's errors. */
export async function makeBundle({
  workflowsPath,
  preloadModules,
  cacheDir,
  hidesFailures,
}: BundleOrder): Promise<MadeBundle> {
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
      workflowInterceptorModules: [...INTERCEPTOR_PATHS],
      logger,
      webpackConfigHook: (config) => smallAndModern(noteFiles(files)(findSdk(config))),
    });
    // The entry follows from the path, so it is no source whose changes count.
    const isSource = (file: string): boolean =>
      isFile(file) && (file !== entry || entry === workflowsPath);
    return { code: withoutSources(code), files: [...files].filter(isSource).toSorted() };
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
 * delivers callbacks, nor that which looks at moments, so a file beside the bundle adds them, and its
 * `agent` under the name of the probe.
 */
async function entryOf(workflowsPath: string, cacheDir: string): Promise<string> {
  if (workflowsPath === WORKFLOWS_PATH) return workflowsPath;
  const ours = [
    [CALLBACK_WORKFLOW, CALLBACKS_PATH],
    [MOMENT_WORKFLOW, MOMENT_PATH],
    [TENANT_WORKFLOW, TENANT_PATH],
    [RATE_WORKFLOW, RATE_PATH],
  ] as const;
  const required = ours.map(
    ([name, path]) => `const { ${name} } = require(${JSON.stringify(path)});\n`,
  );
  const probe = `...(own.${AGENT_WORKFLOW} && { ${PROBE_WORKFLOW}: own.${AGENT_WORKFLOW} })`;
  const names = ours.map(([name]) => name).join(', ');
  const text = `const own = require(${JSON.stringify(workflowsPath)});\n${required.join('')}module.exports = { ...own, ${probe}, ${names} };\n`;
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

/** The bundler also lists folders, and an entry that exists in memory only. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

const MAP_MARK = 'base64,';

/**
 * `code`, whose source map says where each line comes from, without the texts of the sources: they
 * are half of the bundle, and a worker reads it all at its start.
 */
function withoutSources(code: string): string {
  const start = code.lastIndexOf(MAP_MARK) + MAP_MARK.length;
  const map = JSON.parse(Buffer.from(code.slice(start), 'base64').toString()) as object;
  const small = JSON.stringify({ ...map, sourcesContent: undefined });
  return `${code.slice(0, start)}${Buffer.from(small).toString('base64')}`;
}
