/** `prune`: deletes the builds of Temporal's native core that are for other machines. */
import type { Command } from 'commander';
import { readdir, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { print, type CommandRunner } from '../terminal/cli.ts';

/** Adds `prune`. */
export function addPruneCommand(program: Command, act: CommandRunner): void {
  program
    .command('prune')
    .summary("delete the builds of Temporal's native core for other machines")
    .description(
      "The package of Temporal's native core has builds for five machines, of which a machine loads " +
        'one. This deletes the others from node_modules. For images, where each megabyte counts: ' +
        'run it where the image runs.',
    )
    .action(() =>
      act(async (cli) => {
        const machine = { system: process.platform, architecture: process.arch };
        const { deleted, kept, bytes } = await pruneBuilds(releasesFolder(), machine);
        const text =
          deleted.length === 0
            ? `Deleted nothing: ${kept.length === 1 ? 'one build is there' : 'no build is for this machine'}, ${kept.join(', ')}.`
            : `Deleted ${deleted.join(', ')}, ${Math.round(bytes / 1_000_000)} MB. Kept ${kept.join(', ')}.`;
        return print(cli, text, { deleted, kept, bytes });
      }),
    );
}

/** The machine that runs the program, in Node's words. */
interface Machine {
  readonly system: string;
  readonly architecture: string;
}

/** Names of builds, and the size of what was deleted. */
interface PrunedBuilds {
  readonly deleted: readonly string[];
  readonly kept: readonly string[];
  readonly bytes: number;
}

/** How the core names what Node calls `process.arch` and `process.platform`. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' };
const SYSTEMS: Readonly<Record<string, string>> = {
  linux: '-linux-',
  darwin: '-darwin',
  win32: '-windows-',
};

/** Deletes the builds in `folder` that are not for `machine`; none, if none is for it. */
export async function pruneBuilds(
  folder: string,
  { system, architecture }: Machine,
): Promise<PrunedBuilds> {
  const start = `${ARCHITECTURES[architecture] ?? architecture}-`;
  const middle = SYSTEMS[system] ?? `-${system}-`;
  const builds = (await readdir(folder)).toSorted();
  const kept = builds.filter((build) => build.startsWith(start) && build.includes(middle));
  if (kept.length === 0) return { deleted: [], kept: builds, bytes: 0 };
  const deleted = builds.filter((build) => !kept.includes(build));
  let bytes = 0;
  for (const build of deleted) {
    bytes += await sizeOf(join(folder, build));
    await rm(join(folder, build), { recursive: true });
  }
  return { deleted, kept, bytes };
}

/** Where the core has its builds: it is found from the package that needs it. */
function releasesFolder(): string {
  const worker = createRequire(import.meta.url).resolve('@temporalio/worker/package.json');
  const core = createRequire(worker).resolve('@temporalio/core-bridge/package.json');
  return join(dirname(core), 'releases');
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
