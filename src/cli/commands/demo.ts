import { spawn } from 'node:child_process';
import { access } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { UsageError } from '../../core/base/usage-error.ts';
import type { Act, Cli } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';

/** The demo is a script of the checkout: its mock provider is no dependency of the package. */
const DEMO_FILE = fileURLToPath(new URL('../../../examples/demo/demo.ts', import.meta.url));

/** Adds `demo`: an agent that is killed, goes on, is asked, steered and cancelled. */
export function addDemoCommand(program: Command, act: Act): void {
  program
    .command('demo')
    .summary('watch an agent that survives kill -9')
    .description(
      'Shows an agent that survives kill -9, is asked and steered while it runs, and one that is ' +
        'cancelled. Takes under a minute; needs a checkout of the repository.',
    )
    .action(() => act(runDemo));
}

async function runDemo({ output }: Cli): Promise<number> {
  const isThere = await access(DEMO_FILE).then(
    () => true,
    () => false,
  );
  if (!isThere) {
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
  // Ctrl-C reaches the demo by the terminal; it cleans up and decides the exit code.
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
