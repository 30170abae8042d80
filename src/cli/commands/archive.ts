/** The command `archive`: encrypts pages that were archived before there were keys. */
import type { Command } from 'commander';
import { UsageError } from '../../core/base/usage-error.ts';
import { unreadableError } from '../../protection/key-errors.ts';
import { archiveDirOf } from '../../worker/config/config-of.ts';
import { sealArchive } from '../../worker/files/sealed-archive.ts';
import { configFor, print, type Cli, type CommandRunner } from '../terminal/cli.ts';

/** Adds `archive`. */
export function addArchiveCommand(program: Command, act: CommandRunner): void {
  const archive = program.command('archive').summary('encrypt archived pages');
  archive
    .command('encrypt')
    .summary('encrypt archived pages that are not')
    .description(
      'Encrypts the lines of the archive in the data folder that are not encrypted, with the first ' +
        'key of EVERLOOP_KEYS. Workers may run meanwhile. You can interrupt it and run it again.',
    )
    .option('--rekey', 'encrypt lines of other keys again, too, so that those can be dropped')
    .action(({ rekey = false }: { readonly rekey?: boolean }) =>
      act((cli) => encryptArchive(cli, rekey)),
    );
}

async function encryptArchive(cli: Cli, rekey: boolean): Promise<number> {
  const { dataDir, protection } = configFor(cli);
  if (protection?.keys === undefined) {
    throw new UsageError(
      'key_missing',
      'Expected keys to encrypt with, got none. Set EVERLOOP_KEYS to the keys of the workers.',
    );
  }
  const directory = archiveDirOf(dataDir);
  try {
    const { files, lines } = await sealArchive(directory, protection, { rekey });
    return print(cli, `Encrypted ${lines} lines of ${files} files in ${directory}.`, {
      files,
      lines,
    });
  } catch (error) {
    throw unreadableError(error, `to encrypt the archive in \`${directory}\` again`) ?? error;
  }
}
