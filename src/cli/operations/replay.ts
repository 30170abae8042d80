/** `replay`: tries this code on the histories of runs. */
import type { Command } from 'commander';
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Client } from '@temporalio/client';
import { connectClient } from '../../client/connect.ts';
import { defined } from '../../core/base/defined.ts';
import type { ReplayParts } from '../../replay/report.ts';
import type { RunHistory } from '../../replay/run-history.ts';
import { readCount } from '../terminal/arguments.ts';
import { addressFor, configFor, print, type Cli, type CommandRunner } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { replayText } from '../views/replay-text.ts';
import { workflowsFile } from '../commands/load-agents.ts';

interface ReplayFlags {
  readonly from?: string;
  readonly query?: string;
  readonly sample: string;
  readonly save?: string;
  readonly raw?: boolean;
  readonly workflows?: string;
}

/** Adds `replay`. */
export function addReplayCommand(program: Command, act: CommandRunner): void {
  program
    .command('replay')
    .summary('try this code on the histories of runs')
    .description(
      'Replays histories with this code, and exits with 1 if one does not fit. It changes no run ' +
        'and needs no worker. Without runs it takes a sample of all agents, states and ages.',
    )
    .argument('[run...]', 'ids of runs; all links that the service still has')
    .option('--from <place>', 'a namespace of the server, or a folder of saved histories')
    .option(
      '--query <filter>',
      'a list filter for the sample, such as "StartTime > \'2026-11-01\'"',
    )
    .option('--sample <number>', 'maximum number of links in the sample', '200')
    .option('--save <folder>', 'save the links as files, with filler in place of texts')
    .option('--raw', 'save all texts as they are')
    .option('--workflows <file>', 'the file of your own loops')
    .action((runs: readonly string[], flags: ReplayFlags) =>
      act(async (cli) => {
        const sample = readCount('--sample', flags.sample, 1);
        // Loading the native code of a worker takes a second.
        const [{ replayAll }, choose] = await Promise.all([
          import('../../replay/report.ts'),
          import('../../replay/choose.ts'),
        ]);
        const parts = await partsOf(cli, flags);
        const { query } = flags;
        const folder = folderOf(cli, flags.from);
        const report =
          folder === undefined
            ? await withService(cli, flags.from, (client) =>
                replayAll(
                  runs.length > 0
                    ? choose.linksOf(client, runs)
                    : choose.sampleOf(client, defined({ sample, query })),
                  parts,
                ),
              )
            : await replayAll(ofRuns(choose.linksIn(folder), runs), parts);
        const code = print(cli, replayText(report), report);
        return report.failures.length === 0 ? code : EXIT_CODES.runFailed;
      }),
    );
}

/** The folder that `--from` names, if it is one. */
function folderOf({ io }: Cli, from: string | undefined): string | undefined {
  if (from === undefined) return undefined;
  const path = resolve(io.cwd, from);
  return existsSync(path) && statSync(path).isDirectory() ? path : undefined;
}

async function* ofRuns(
  links: AsyncIterable<RunHistory>,
  runs: readonly string[],
): AsyncGenerator<RunHistory> {
  for await (const link of links) {
    if (runs.length === 0 || runs.includes(link.workflowId)) yield link;
  }
}

async function withService<Result>(
  cli: Cli,
  namespace: string | undefined,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const place = await addressFor(cli);
  const { client, close } = await connectClient(
    namespace === undefined ? place : { ...place, namespace },
  );
  try {
    return await work(client);
  } finally {
    await close();
  }
}

async function partsOf(
  cli: Cli,
  { save, raw = false, workflows }: ReplayFlags,
): Promise<ReplayParts> {
  const { loadWorkflowBundle } = await import('../../worker/bundle/bundle.ts');
  const { markOf } = await import('../../worker/bundle/bundle-mark.ts');
  const { dataDir, protection } = await configFor(cli);
  const cacheDir = join(resolve(cli.io.cwd, dataDir), 'cache');
  const workflowsPath = workflowsFile(workflows, cli.io.cwd);
  const bundle = await loadWorkflowBundle({ cacheDir });
  const own =
    workflowsPath === undefined
      ? undefined
      : {
          bundle: await loadWorkflowBundle({ cacheDir, workflowsPath }),
          mark: await markOf(workflowsPath),
        };
  const folder = save === undefined ? undefined : resolve(cli.io.cwd, save);
  return defined({
    bundle,
    own,
    protection,
    save: folder === undefined ? undefined : { folder, raw },
  });
}
