import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasAgentFile, loadAgents } from '../../src/cli/commands/load-agents.ts';

const INDEX = pathToFileURL(join(import.meta.dirname, '../../src/index.ts')).href;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-agents-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function write(name: string, lines: readonly string[]): Promise<string> {
  await writeFile(
    join(folder, name),
    [`import { defineAgent } from '${INDEX}';`, ...lines].join('\n'),
  );
  return name;
}

describe('an agent file', () => {
  it('gives its agents and models, exported by themselves or in lists, each once', async () => {
    const name = await write('agents.ts', [
      `export const one = defineAgent({ name: 'one', model: 'mine' });`,
      `export const list = [one, defineAgent({ name: 'two', model: 'mine' })];`,
      `export const models = [{ id: 'mine', model: async (): Promise<string> => 'x' }];`,
      `export const other: number = 5;`,
    ]);

    const file = await loadAgents(undefined, folder);

    expect(file.path).toBe(name);
    expect(file.agents.map((agent) => agent.name)).toEqual(['one', 'two']);
    expect(file.models.map((model) => model.id)).toEqual(['mine']);
    expect(hasAgentFile(undefined, folder)).toBe(true);
    expect(hasAgentFile(undefined, '/nowhere')).toBe(false);
  });

  it('is asked for when it is missing', async () => {
    await expect(loadAgents(undefined, '/nowhere')).rejects.toMatchObject({
      code: 'agent_file',
      message:
        'Expected an agent file at `agents.ts`, got none. Create it, or name one with `--agents FILE`.',
    });
  });

  it('must export an agent', async () => {
    const name = await write('without.ts', [
      'export const a = 1;',
      'export const b = defineAgent;',
    ]);

    await expect(loadAgents(name, folder)).rejects.toMatchObject({
      code: 'agent_file',
      message:
        'Expected `without.ts` to export at least one agent made with `defineAgent`, got `a`, `b`. Export the agents by name or in a list.',
    });
  });

  it('must load', async () => {
    const name = await write('throws.ts', [`throw new Error('boom');`]);

    await expect(loadAgents(name, folder)).rejects.toMatchObject({
      code: 'agent_file',
      message: 'Expected `throws.ts` to load, got: boom\nCorrect it; `--debug` shows where.',
    });
  });

  it('tells what is wrong with a definition', async () => {
    const name = await write('unfit.ts', [
      `export const a = defineAgent({ name: 'hello world', model: 'm' });`,
    ]);

    await expect(loadAgents(name, folder)).rejects.toMatchObject({
      code: 'agent_file',
      message:
        'Expected `unfit.ts` to load, got: Agent `hello world`: Expected an agent name of 1 to 64 letters, digits, `_` or `-` that starts with a letter, got `hello world`. Rename it.',
    });
  });
});
