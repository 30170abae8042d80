/** The command `keys`: makes keys that encrypt what runs hold, and says which are needed. */
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { connectClient } from '../../client/connect.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { shown } from '../../core/text/shown.ts';
import { isKeyId, KEY_BYTES, KEY_ID_FORM } from '../../protection/key-ring.ts';
import { archiveDirOf } from '../../worker/config/config-of.ts';
import { keysInUse, type KeyUse } from '../../worker/retention/keys-in-use.ts';
import { addressFor, configFor, print, type Cli, type CommandRunner } from '../terminal/cli.ts';
import { tableText } from '../terminal/text.ts';

/** Adds `keys`. */
export function addKeysCommand(program: Command, act: CommandRunner): void {
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
  const { dataDir, protection } = configFor(cli);
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
