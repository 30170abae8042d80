import { Command } from 'commander';
import { expect, it } from 'vitest';
import {
  COMMAND_MODULES,
  commandsOf,
  meantCommand,
  OTHER_WORDS,
} from '../../src/cli/command-table.ts';

/** The names of the commands that a command line has, to find its own among them. */
async function namesFor(...argv: readonly string[]): Promise<readonly string[]> {
  const program = new Command();
  for (const add of await commandsOf(argv)) add(program, async () => undefined);
  return program.commands.map((command) => command.name());
}

it('each module adds the commands that the table names, in this order', async () => {
  for (const { names } of COMMAND_MODULES) {
    for (const name of names) expect(await namesFor(name)).toEqual(names);
  }
});

it('options before a command do not hide it', async () => {
  expect(await namesFor('--json', '--debug', 'ps', 'stats')).toEqual(['ps']);
});

it('help, and a name that no command has, have all commands', async () => {
  const all = COMMAND_MODULES.flatMap(({ names }) => names);
  expect(await namesFor('--help')).toEqual(all);
  expect(await namesFor()).toEqual(all);
  expect(await namesFor('help', 'ps')).toEqual(all);
  expect(await namesFor('pss')).toEqual(all);
});

it('words of other tools stand for commands that there are, and hide none', () => {
  const all = COMMAND_MODULES.flatMap(({ names }) => names);
  expect(all).toEqual(expect.arrayContaining([...OTHER_WORDS.values()]));
  expect(all.filter((name) => OTHER_WORDS.has(name))).toEqual([]);
  expect(meantCommand(['--json', 'list'])).toBe('ps');
  expect(meantCommand(['show', 'list'])).toBeUndefined();
});

it('the version needs no command', async () => {
  expect(await namesFor('--version')).toEqual([]);
});
