/** `doctor`: looks for what keeps runs from going on. */
import type { Command } from 'commander';
import { connectClient } from '../../client/connect.ts';
import { isUsageError } from '../../core/base/usage-error.ts';
import type { DoctorWorld } from '../../doctor/checks/check.ts';
import { runDoctor, type DoctorReport } from '../../doctor/run-doctor.ts';
import { doctorService } from '../../doctor/service.ts';
import { addressFor, folderConfig, print, type Cli, type CommandRunner } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { doctorText } from '../views/doctor-text.ts';

/** Adds `doctor`. */
export function addDoctorCommand(program: Command, act: CommandRunner): void {
  program
    .command('doctor')
    .summary('look for what keeps runs from going on')
    .description(
      'Checks server, fleet, runs, settings and packages. It changes nothing, unless you give ' +
        '--fix. The exit code is 1 if there is an error.',
    )
    .option('--fix', 'make the fixes that are marked so')
    .action((options: { readonly fix?: boolean }) =>
      act(async (cli) => {
        const report = await withWorld(cli, (world) =>
          runDoctor(world, { fix: options.fix === true }),
        );
        const code = print(cli, doctorText(report), report);
        return report.errors === 0 ? code : EXIT_CODES.runFailed;
      }),
    );
}

async function withWorld(
  cli: Cli,
  work: (world: DoctorWorld) => Promise<DoctorReport>,
): Promise<DoctorReport> {
  const config = await folderConfig(cli);
  const { env, cwd } = cli.io;
  const world = { env, cwd, config, now: Date.now(), hasLibc: hasLibc() };
  const opened = await addressFor(cli).then(connectClient).catch(noServer);
  if (typeof opened === 'string') return work({ ...world, service: null, noServer: opened });
  const { client, close } = opened;
  try {
    const service = doctorService(client, config.version?.name);
    return await work({ ...world, service, noServer: '' });
  } finally {
    await close();
  }
}

/** Why there is none; any other error is one of the command. */
function noServer(error: unknown): string {
  if (isUsageError(error)) return error.message;
  throw error;
}

function hasLibc(): boolean {
  if (process.platform !== 'linux') return true;
  const { header } = process.report.getReport() as { readonly header?: object };
  return header !== undefined && 'glibcVersionRuntime' in header;
}
