/** The commands of operators of a fleet with versions: promote, status, drain, rescue. */
import type { Command } from 'commander';
import { defined } from '../../core/base/defined.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import type { ConnectedDeployment } from '../../versioning/deployment.ts';
import { readDuration } from '../terminal/arguments.ts';
import {
  addressFor,
  print,
  untilInterrupted,
  type Cli,
  type CommandRunner,
} from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import {
  drainText,
  promotionText,
  rescueText,
  statusText,
  stayingText,
} from '../views/deployment-text.ts';

interface DeployOptions {
  readonly deployment?: string;
}

interface PromoteFlags extends DeployOptions {
  readonly ramp?: string;
  readonly force?: boolean;
}

interface DrainFlags extends DeployOptions {
  readonly wait: string;
}

/** Adds `deploy` and its commands. */
export function addDeployCommand(program: Command, act: CommandRunner): void {
  const deploy = program
    .command('deploy')
    .summary('manage the versions of a fleet of workers')
    .description(
      'Manages the versions of a fleet. Workers with EVERLOOP_BUILD_ID are part of the version of ' +
        'that name. Runs stay on their version until they hand over.',
    );
  addPromoteCommand(deploy, act);
  addStatusCommand(deploy, act);
  addDrainCommand(deploy, act);
  addRescueCommand(deploy, act);
}

function addPromoteCommand(deploy: Command, act: CommandRunner): void {
  withDeployment(deploy.command('promote'))
    .summary('give new runs to a version')
    .description('Gives new runs to a version, all of them or a part.')
    .argument('<build>', 'the EVERLOOP_BUILD_ID of its workers')
    .option('--ramp <percent>', 'give it only this part of the new runs, from 0 to 100')
    .option(
      '--force',
      'also while workers without a version poll, and if it does not serve every queue',
    )
    .action((build: string, options: PromoteFlags) =>
      act((cli) =>
        withFleet(cli, options, async (fleet) => {
          const { ramp, force } = options;
          const percent = ramp === undefined ? undefined : readPercent(ramp);
          const promotion = await fleet.promote(build, defined({ ramp: percent, force }));
          return print(cli, promotionText(promotion), promotion);
        }),
      ),
    );
}

function addStatusCommand(deploy: Command, act: CommandRunner): void {
  withDeployment(deploy.command('status'))
    .summary('list versions, their workers and their runs')
    .description('Lists the versions of a fleet with their workers and open runs, newest first.')
    .action((options: DeployOptions) =>
      act((cli) =>
        withFleet(cli, options, async (fleet) => {
          const status = await fleet.status();
          return print(cli, statusText(status, Date.now()), status);
        }),
      ),
    );
}

function addDrainCommand(deploy: Command, act: CommandRunner): void {
  withDeployment(deploy.command('drain'))
    .summary('move the runs of a version to the current one')
    .description(
      'Asks the runs of a version to hand over to the current one, until none is left. Runs with ' +
        'children or calls in flight do so when these have ended. Exit code 1: some are left.',
    )
    .argument('<build>', 'a version that gets no new runs')
    .option('--wait <time>', 'how long to go on, such as 90s, 30m or 2h', '1h')
    .action((build: string, options: DrainFlags) =>
      act((cli) =>
        withFleet(cli, options, (fleet) =>
          untilInterrupted(cli, async (signal) => {
            const result = await fleet.drain(build, {
              waitMs: readDuration('--wait', options.wait),
              signal,
              onRound: (progress) => cli.output.note(stayingText(progress)),
            });
            print(cli, drainText(result), result);
            return result.left === 0 ? EXIT_CODES.success : EXIT_CODES.runFailed;
          }),
        ),
      ),
    );
}

function addRescueCommand(deploy: Command, act: CommandRunner): void {
  withDeployment(deploy.command('rescue'))
    .summary('move one run to the current version at once')
    .description(
      'Moves one run to the current version at once, in the middle of its work. For a run whose own ' +
        'version has no workers left. Exit code 1: no worker took it within 30 s, and it stays where it was.',
    )
    .argument('<id>', 'id of the run')
    .action((id: string, options: DeployOptions) =>
      act((cli) =>
        withFleet(cli, options, async (fleet) => {
          const result = await fleet.rescue(id);
          print(cli, rescueText(result), result);
          return result.to === null ? EXIT_CODES.runFailed : EXIT_CODES.success;
        }),
      ),
    );
}

function withDeployment(command: Command): Command {
  return command.option(
    '--deployment <name>',
    'name of the fleet (default: EVERLOOP_DEPLOYMENT, else everloop)',
  );
}

/** Calls `work` with the deployment on the running server, then closes the connection. */
async function withFleet(
  cli: Cli,
  { deployment: name }: DeployOptions,
  work: (deployment: ConnectedDeployment) => Promise<number>,
): Promise<number> {
  const deployment = await cli.io.connectDeployment({
    ...(await addressFor(cli)),
    ...defined({ name }),
  });
  try {
    return await work(deployment);
  } finally {
    await deployment.close();
  }
}

function readPercent(text: string): number {
  const percent = text.trim() === '' ? Number.NaN : Number(text);
  if (percent >= 0 && percent <= 100) return percent;
  throw new UsageError(
    'argument',
    `Expected \`--ramp\` to be a number from 0 to 100, got \`${text.slice(0, 200)}\`. Correct it.`,
  );
}
