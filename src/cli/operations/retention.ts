/** The commands that delete what is no longer needed: gc, forget. */
import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import { connectClient } from '../../client/connect.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { collectBlobs, type CollectedRun } from '../../protection/blobs/collect-blobs.ts';
import { archiveDirOf } from '../../client/reading/archive-reader.ts';
import { collectArchive, type ArchivedBytes } from '../../worker/retention/collect-archive.ts';
import { MIN_AGE_MS } from '../../worker/retention/collect-hourly.ts';
import { forgetRun } from '../../worker/retention/forget-run.ts';
import { knownWithForks } from '../../worker/retention/kept-by-fork.ts';
import { knownRuns } from '../../worker/retention/known-runs.ts';
import { checkOwner } from '../../worker/retention/store-owner.ts';
import { readDuration } from '../terminal/arguments.ts';
import {
  addressFor,
  configFor,
  print,
  type AddCommand,
  type Cli,
  type CommandRunner,
} from '../terminal/cli.ts';

/** In the order of the help. */
export const RETENTION_COMMANDS: readonly AddCommand[] = [addGcCommand, addForgetCommand];

/** A start stores its blobs before the service knows the run. */
const LEAST_AGE_MS = 3_600_000;

interface GcOptions {
  readonly olderThan?: string;
  readonly dryRun?: boolean;
}

function addGcCommand(program: Command, act: CommandRunner): void {
  program
    .command('gc')
    .summary('delete blobs of runs that the service has forgotten, and old archived pages')
    .description(
      'Deletes blobs of runs that the service no longer knows. Blobs of runs that it knows stay, ' +
        'however old they are. With EVERLOOP_ARCHIVE_KEEP, also deletes archived pages of runs ' +
        'that ended so long ago. Workers do the same each hour, unless EVERLOOP_GC is off.',
    )
    .option('--older-than <time>', 'keep blobs that are younger, at least 1h; default 7d')
    .option('--dry-run', 'say what would be deleted, and delete nothing')
    .action((options: GcOptions) =>
      act((cli) =>
        withService(cli, async (client) => {
          const { dryRun = false } = options;
          const olderThanMs = ageOf(options);
          const { protection, archiveKeepMs: keepMs, dataDir } = await configFor(cli);
          const store = protection?.blobs;
          if (store === undefined && keepMs === undefined) throw noStore();
          const { namespace } = client.options;
          const directory = archiveDirOf(dataDir);
          const known = knownWithForks(knownRuns(client), { directory, namespace });
          const runs: CollectedRun[] = [];
          if (store !== undefined) {
            await checkOwner(client.workflowService, namespace, store);
            const parts = { store, namespace, known, olderThanMs, dryRun };
            for await (const run of collectBlobs(parts)) runs.push(run);
          }
          const archived: ArchivedBytes[] = [];
          if (keepMs !== undefined) {
            const parts = { directory, namespace, open: known, keepMs, dryRun };
            for await (const run of collectArchive(parts)) archived.push(run);
          }
          const texts = [
            ...(store === undefined
              ? []
              : [`${gcText(runs, dryRun)} forgotten runs in ${store.place}`]),
            ...(keepMs === undefined
              ? []
              : [`${gcText(archived, dryRun)} ended runs in the archive`]),
          ];
          const text = texts.map((line) => `${line}.`).join('\n');
          return print(cli, text, { dryRun, runs, archived });
        }),
      ),
    );
}

function ageOf({ olderThan }: GcOptions): number {
  if (olderThan === undefined) return MIN_AGE_MS;
  const ms = readDuration('--older-than', olderThan);
  if (ms >= LEAST_AGE_MS) return ms;
  throw new UsageError(
    'argument',
    `Expected \`--older-than\` to be at least 1h, got \`${olderThan}\`. A run that starts stores its blobs first.`,
  );
}

function noStore(): UsageError {
  return new UsageError(
    'no_blobs',
    'Expected a blob store or a time for archived pages, got none. Set EVERLOOP_BLOBS to the store of the workers, or EVERLOOP_ARCHIVE_KEEP.',
  );
}

function gcText(runs: readonly { readonly bytes: number }[], dryRun: boolean): string {
  const bytes = runs.reduce((sum, run) => sum + run.bytes, 0);
  return `${dryRun ? 'Would delete' : 'Deleted'} ${bytes} bytes of ${runs.length}`;
}

function addForgetCommand(program: Command, act: CommandRunner): void {
  program
    .command('forget')
    .summary('delete an ended run and all that is stored of it')
    .description(
      'Deletes a run that has ended, and all runs below it: their histories, archived pages and ' +
        'blobs. This cannot be undone.',
    )
    .argument('<id>', 'id of the run')
    .option('--yes', 'delete it; without this, nothing is deleted')
    .action((id: string, { yes = false }: { readonly yes?: boolean }) =>
      act((cli) =>
        withService(cli, async (client) => {
          if (!yes) {
            throw new UsageError(
              'argument',
              `Expected \`--yes\` to delete run \`${id}\` for good, got none. Add it if you are sure.`,
            );
          }
          const { dataDir, protection } = await configFor(cli);
          const archiveDir = archiveDirOf(dataDir);
          const gone = await forgetRun({ client, archiveDir, blobs: protection?.blobs }, id);
          const text = `Deleted run ${id}: ${gone.executions} histories of ${gone.runs.length} runs, and ${gone.blobs} blobs.`;
          return print(cli, text, gone);
        }),
      ),
    );
}

async function withService(cli: Cli, work: (client: Client) => Promise<number>): Promise<number> {
  const { client, close } = await connectClient(await addressFor(cli));
  try {
    return await work(client);
  } finally {
    await close();
  }
}
