import type { Command } from 'commander';
import { connectClient } from '../../client/connect.ts';
import { addSearchAttributes } from '../../client/setup.ts';
import { errorText } from '../../core/base/error-text.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { SEARCH_ATTRIBUTES } from '../../core/base/search-attributes.ts';
import { addressFor, print, type CommandRunner } from '../terminal/cli.ts';

/** Adds `setup`: prepares the namespace. */
export function addSetupCommand(program: Command, act: CommandRunner): void {
  program
    .command('setup')
    .summary('add the search attributes of runs to the namespace')
    .description(
      'Adds the search attributes EverloopAgent, EverloopState and EverloopTenant to the namespace, so that the ' +
        'service itself filters lists of runs. Run it once for each namespace; `everloop dev` does ' +
        'it by itself.',
    )
    .action(() =>
      act(async (cli) => {
        const { client, namespace, close } = await connectClient(await addressFor(cli));
        try {
          const { operatorService } = client.connection as Parameters<
            typeof addSearchAttributes
          >[0];
          const added = await addSearchAttributes({ operatorService }, namespace).catch(refused);
          const names = Object.values(SEARCH_ATTRIBUTES).join(', ');
          const text =
            added.length === 0
              ? `Namespace ${namespace} has ${names}.`
              : `Added ${added.join(', ')} to namespace ${namespace}. Runs that start from now on have them.`;
          return print(cli, text, { namespace, added });
        } finally {
          await close();
        }
      }),
    );
}

function refused(error: unknown): never {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const names = Object.values(SEARCH_ATTRIBUTES)
    .map((name) => `\`${name}\``)
    .join(' and ');
  const message =
    `Expected to add search attributes, got: ${errorText(cause).slice(0, 200)}. Add ${names} of type ` +
    'Keyword as an operator, on Temporal Cloud in its web UI or by `tcld namespace search-attributes add`.';
  throw Object.assign(new UsageError('search_attributes', message), { cause: error });
}
