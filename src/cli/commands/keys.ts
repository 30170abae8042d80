/** The command `keys`: makes keys that encrypt what runs hold. */
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { UsageError } from '../../core/base/usage-error.ts';
import { shown } from '../../core/text/shown.ts';
import { isKeyId, KEY_BYTES, KEY_ID_FORM } from '../../protection/key-ring.ts';
import { print, type CommandRunner } from '../terminal/cli.ts';

/** Adds `keys`. */
export function addKeysCommand(program: Command, act: CommandRunner): void {
  const keys = program.command('keys').summary('make keys that encrypt what runs hold');
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
}
