import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { UsageError } from '../../core/base/usage-error.ts';
import type { CommandRunner, Cli } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';

/** A script of the checkout, because its mock provider is no dependency of the package. */
const DEMO_FILE = fileURLToPath(new URL('../../../examples/demo/demo.ts', import.meta.url));

/** Adds `demo`: an agent that survives a kill, is steered and is canceled. */
export function addDemoCommand(program: Command, act: CommandRunner): void {
  program
    .command('demo')
    .summary('watch an agent that survives kill -9')
    .description(
      'Shows an agent that survives kill -9 and is queried and steered while it runs, and one that is ' +
        'canceled. Takes under a minute; needs a checkout of the repository.',
    )
    .action(() => act(runDemo));
}

async function runDemo({ output }: Cli): Promise<number> {
  if (!existsSync(DEMO_FILE)) {
    throw new UsageError(
      'no_demo',
      'Expected a checkout of the repository, got an installed package. Clone it and run `npm ci && npm run demo`.',
    );
  }
  const child = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), DEMO_FILE, ...(output.isJson ? ['--json'] : [])],
    { stdio: 'inherit' },
  );
  // The terminal sends Ctrl-C to the demo too, which cleans up and sets the exit code.
  const ignore = (): void => undefined;
  const forward = (): void => void child.kill('SIGTERM');
  process.on('SIGINT', ignore).on('SIGTERM', forward);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => resolve(code ?? EXIT_CODES.interrupted));
    });
  } finally {
    process.off('SIGINT', ignore).off('SIGTERM', forward);
  }
}
