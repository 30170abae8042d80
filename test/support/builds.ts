/** What is built once for a run of tests on a server, and used by all of its processes. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The environment variable with the folder of it; set by `server-setup.ts`. */
export const BUILDS_FOLDER = 'TESTED_BUILDS';

const FIXTURES = fileURLToPath(new URL('fixtures', import.meta.url));

/** The folder of the examples. */
export const EXAMPLES: string = fileURLToPath(new URL('../../examples', import.meta.url));

/** The program `everloop`. */
export const CLI_FILE: string = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** What Node is started with for the other commands: an agent file in TypeScript needs its loader. */
export function servingProgram(): readonly string[] {
  return fromSource(CLI_FILE);
}

/** What Node is started with for a fixture. */
export function fixtureProgram(name: string): readonly string[] {
  return builtProgram(name) ?? fromSource(join(FIXTURES, `${name}.ts`));
}

/** What Node is started with for an example. */
export function exampleProgram(name: string): readonly string[] {
  return builtProgram(name) ?? fromSource(join(EXAMPLES, `${name}.ts`));
}

/** What Node is started with for a command of `everloop` that loads no agent file. */
export function cliProgram(): readonly string[] {
  return builtProgram('main') ?? servingProgram();
}

function builtProgram(name: string): readonly string[] | undefined {
  const folder = process.env[BUILDS_FOLDER];
  if (folder === undefined) return undefined;
  const file = join(folder, `${name}.mjs`);
  return existsSync(file) ? [file] : undefined;
}

function fromSource(file: string): readonly string[] {
  return ['--import', import.meta.resolve('tsx'), file];
}
