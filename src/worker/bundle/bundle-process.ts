/**
 * Makes a bundle in a process of its own: the bundler takes a second of processor time and 270 MB,
 * which a worker would keep for as long as it runs.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../core/base/usage-error.ts';
import { typeScriptFlags } from '../../tools/isolate/transport.ts';
import { EXTENSION } from './bundle-paths.ts';
import type { BundleOrder } from './make-bundle.ts';

/** What the process is sent. */
export interface BundleJob {
  readonly order: BundleOrder;
  readonly cacheFile: string;
}

/** What the process answers. */
export type BundleAnswer =
  { readonly code: string } | { readonly problem: string; readonly isUsage: boolean };

const ENTRY = fileURLToPath(new URL(`./bundle-entry${EXTENSION}`, import.meta.url));

/** Makes the bundle, and keeps it in `cacheFile`. */
export async function bundleInProcess(order: BundleOrder, cacheFile: string): Promise<string> {
  const answer = await answerOf({ order, cacheFile });
  if ('code' in answer) return answer.code;
  if (answer.isUsage) throw new UsageError('workflow_bundle', answer.problem);
  throw new Error(answer.problem);
}

async function answerOf(job: BundleJob): Promise<BundleAnswer> {
  const { NODE_OPTIONS: _flagsOfThisProcess, ...withoutFlags } = process.env;
  // Yarn's Plug'n'Play finds packages by one of them.
  const env = process.versions['pnp'] === undefined ? withoutFlags : process.env;
  const execArgv = EXTENSION === '.ts' ? [...typeScriptFlags()] : [];
  const child = fork(ENTRY, [], { env, execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  try {
    return await new Promise((resolve, reject) => {
      child.once('message', (answer) => resolve(answer as BundleAnswer));
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        const how = signal ?? `exit code ${code}`;
        reject(new Error(`Expected the process that bundles workflows to answer, got ${how}.`));
      });
      child.send(job, (error) => (error === null ? undefined : reject(error)));
    });
  } finally {
    child.kill();
  }
}
