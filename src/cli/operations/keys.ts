/** The commands of keys: keys makes and counts them, archive encrypts old pages with them. */
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { connectClient } from '../../client/connect.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { shown } from '../../core/text/shown.ts';
import { unreadableError } from '../../protection/key-errors.ts';
import { isKeyId, KEY_BYTES, KEY_ID_FORM } from '../../protection/key-ring.ts';
import { archiveDirOf } from '../../client/reading/archive-reader.ts';
import { sealArchive } from '../../worker/files/sealed-archive.ts';
import { keysInUse, type KeyUse } from '../../worker/retention/keys-in-use.ts';
import {
  addressFor,
  configFor,
  print,
  type AddCommand,
  type Cli,
  type CommandRunner,
} from '../terminal/cli.ts';
import { tableText } from '../terminal/text.ts';
import { addSaveCommand } from './save-history.ts';

/** In the order of the help. */
export const KEY_COMMANDS: readonly AddCommand[] = [addKeysCommand, addArchiveCommand];

function addKeysCommand(program: Command, act: CommandRunner): void {
  const keys = program
    .command('keys')
    .summary('make and count the keys that encrypt what runs hold');
  keys
    .command('new')
    .summary('print a new key')
    .description(
      'Prints a new key of 32 random bytes as ID=BASE64, for EVERLOOP_KEYS. It is stored nowhere: ' +
        'who loses it cannot read the runs that it encrypts.',
    )
    .argument('[id]', 'id of the key (default: k and this month, such as k2026-11)')
    .action((id?: string) =>
      act(async (cli) => {
        const keyId = id ?? `k${new Date().toISOString().slice(0, 7)}`;
        if (!isKeyId(keyId)) {
          throw new UsageError(
            'argument',
            `Expected the id of a key to be ${KEY_ID_FORM}, got ${shown(keyId)}. Choose another.`,
          );
        }
        const key = randomBytes(KEY_BYTES).toString('base64');
        return print(cli, `${keyId}=${key}`, { id: keyId, key });
      }),
    );
  keys
    .command('in-use')
    .summary('count what each key has encrypted')
    .description(
      'Counts the open runs, the lines of the archive and the blobs that each key has encrypted, so ' +
        'that you know when nothing needs an old key. Reads the history of every open run.',
    )
    .action(() => act(countKeys));
}

async function countKeys(cli: Cli): Promise<number> {
  const { dataDir, protection } = await configFor(cli);
  const held = protection?.keys?.ids ?? [];
  const { client, close } = await connectClient(await addressFor(cli));
  try {
    const archiveDir = archiveDirOf(dataDir);
    const keys = await keysInUse({ client, archiveDir, blobs: protection?.blobs }, held);
    return print(cli, keysText(keys, held), { keys });
  } finally {
    await close();
  }
}

function keysText(keys: readonly KeyUse[], held: readonly string[]): string {
  const rows = keys.map(({ id, openRuns, archivedLines, blobs }) => [
    id ?? '(not encrypted)',
    String(openRuns),
    String(archivedLines),
    String(blobs),
    id === null || held.includes(id) ? '' : 'this process does not have it',
  ]);
  const table = tableText(['key', 'open runs', 'archived lines', 'blobs', ''], rows);
  const unused = keys.filter(
    ({ id, openRuns, archivedLines, blobs }) =>
      id !== null && id !== held[0] && openRuns + archivedLines + blobs === 0,
  );
  if (unused.length === 0) return table;
  const ids = unused.map(({ id }) => id).join(', ');
  return `${table}\n\nNothing open needs ${ids}. Ended runs that it has encrypted cannot be read without it.`;
}

function addArchiveCommand(program: Command, act: CommandRunner): void {
  const archive = program.command('archive').summary('encrypt archived pages, save histories');
  addSaveCommand(archive, act);
  archive
    .command('encrypt')
    .summary('encrypt archived pages that are not')
    .description(
      'Encrypts the lines of the archive in the data folder that are not encrypted, with the first ' +
        'key of EVERLOOP_KEYS, or as EVERLOOP_KEY_FOR says. Workers may run meanwhile. You can interrupt it and run it again.',
    )
    .option('--rekey', 'encrypt lines of other keys again, too, so that those can be dropped')
    .action(({ rekey = false }: { readonly rekey?: boolean }) =>
      act((cli) => encryptArchive(cli, rekey)),
    );
}

async function encryptArchive(cli: Cli, rekey: boolean): Promise<number> {
  const { dataDir, protection } = await configFor(cli);
  if (protection?.keys === undefined) {
    throw new UsageError(
      'keys_missing',
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
