/** `archive save`: keeps whole histories of runs, so that their moments can be reached for ever. */
import type { Command } from 'commander';
import { connectClient } from '../../client/connect.ts';
import { archiveDirOf } from '../../client/reading/archive-reader.ts';
import { createDirectoryArchive } from '../../worker/files/directory-archive.ts';
import { saveHistories } from '../../worker/files/save-histories.ts';
import { addressFor, configFor, print, type CommandRunner } from '../terminal/cli.ts';

/** Adds `save` to the command `archive`. */
export function addSaveCommand(archive: Command, act: CommandRunner): void {
  archive
    .command('save')
    .summary('save whole histories of runs, for time travel and forks')
    .description(
      'Saves the histories of runs in the archive of the data folder, as far as the service still ' +
        'has them. Then each of their moments can be looked at and forked when the service has ' +
        'forgotten the link. With keys they are encrypted as all lines of the archive are.',
    )
    .argument('<run...>', 'ids of runs')
    .action((runs: readonly string[]) =>
      act(async (cli) => {
        const { dataDir, protection } = await configFor(cli);
        const target = createDirectoryArchive(archiveDirOf(dataDir), protection);
        const { client, close } = await connectClient(await addressFor(cli));
        try {
          const saved = [];
          for (const id of runs) saved.push({ id, ...(await saveHistories(client, target, id)) });
          const text = saved.map(
            ({ id, links, events }) => `Saved ${links} links of run ${id}, ${events} events.`,
          );
          return print(cli, text.join('\n'), { saved });
        } finally {
          await close();
        }
      }),
    );
}
