/** `everloop schedule`: runs that begin by the clock. */
import type { Command } from 'commander';
import type { Everloop } from '../../client/everloop-client.ts';
import type { ScheduleHandle } from '../../client/schedule-handle.ts';
import type {
  ScheduleChanges,
  ScheduleOptions,
  ScheduleOverlap,
} from '../../client/schedules/schedule-options.ts';
import { defined } from '../../core/base/defined.ts';
import { isUsageError } from '../../core/base/usage-error.ts';
import {
  collect,
  readCallbacks,
  readCount,
  readJsonObject,
  readLimits,
} from '../terminal/arguments.ts';
import {
  print,
  showResult,
  untilInterrupted,
  withClient,
  type Cli,
  type CommandRunner,
} from '../terminal/cli.ts';
import { EXIT_CODES, exitCodeOfStep } from '../terminal/exit-codes.ts';
import { oneLine, pluralText, valueText } from '../terminal/text.ts';
import { endText } from '../views/run-text.ts';
import { scheduleText, schedulesText } from '../views/schedule-text.ts';
import { runsText } from './ps.ts';

/** Adds `schedule` and its commands. */
export function addScheduleCommand(program: Command, act: CommandRunner): void {
  const schedule = program
    .command('schedule')
    .summary('start runs by the clock')
    .description(
      'Manages schedules of the service, which start runs by the clock. No process of yours has to ' +
        'run for that but the workers.',
    );
  addCreateCommand(schedule, act);
  addListCommand(schedule, act);
  addShowCommand(schedule, act);
  addPauseCommands(schedule, act);
  addTriggerCommand(schedule, act);
  addBackfillCommand(schedule, act);
  addUpdateCommand(schedule, act);
  addRemoveCommand(schedule, act);
  addRunsCommand(schedule, act);
}

/** The options that `create` and `update` share. */
interface ScheduleFlags {
  readonly cron: readonly string[];
  readonly every?: string;
  readonly offset?: string;
  readonly tz?: string;
  readonly jitter?: string;
  readonly startAt?: string;
  readonly endAt?: string;
  readonly overlap?: ScheduleOverlap;
  readonly catchup?: string;
  readonly pauseOnFailure?: boolean;
  readonly previous?: boolean;
  readonly context?: string;
  readonly limit: readonly string[];
  readonly model?: string;
  readonly onEvent: readonly string[];
}

function withFlags(command: Command): Command {
  return command
    .option('--cron <fields>', 'when, as 5 to 7 fields; repeatable', collect, [])
    .option('--every <time>', 'when, as a time such as 90s, 30m, 6h or 1d')
    .option('--offset <time>', 'move --every by this')
    .option('--tz <zone>', 'time zone of --cron and of dates (default: UTC)')
    .option('--jitter <time>', 'be late by a random part of this')
    .option('--start-at <time>', 'start nothing before this ISO time')
    .option('--end-at <time>', 'start nothing after this ISO time')
    .option('--overlap <policy>', OVERLAP_HELP)
    .option('--catchup <time>', 'start what is late by at most this (default: 1h)')
    .option('--pause-on-failure', 'pause when a run fails')
    .option('--previous', 'tell each run how the one before ended')
    .option('--context <json>', "named data as a JSON object, or @ and a file's path")
    .option('--limit <key=value>', 'limit such as totalTokens=200000; repeatable', collect, [])
    .option('--model <id>', "model entry that replaces the agent's own")
    .option('--on-event <url>', 'address to call back; repeatable', collect, []);
}

const OVERLAP_HELP =
  'if a run goes on: skip, buffer-one, buffer-all, cancel-other, terminate-other, allow-all';

async function optionsFrom({ io }: Cli, flags: ScheduleFlags): Promise<ScheduleChanges> {
  const { cron, every, offset, tz, jitter, startAt, endAt, overlap, catchup, limit } = flags;
  return defined({
    cron: cron.length === 0 ? undefined : cron,
    every,
    offset,
    timeZone: tz,
    jitter,
    startAt,
    endAt,
    overlap,
    catchupWindow: catchup,
    pauseOnFailure: flags.pauseOnFailure,
    previous: flags.previous,
    context: await readJsonObject('--context', flags.context, io.cwd),
    limits: readLimits(limit),
    model: flags.model,
    onEvent: await readCallbacks(flags.onEvent, io.cwd),
  });
}

function addCreateCommand(schedule: Command, act: CommandRunner): void {
  withFlags(schedule.command('create'))
    .summary('create a schedule')
    .description(
      'Creates a schedule. The task may have placeholders: {{schedule.date}}, {{schedule.time}}, ' +
        '{{schedule.id}}, keys of --context, and with --previous {{previous.value}} and others.',
    )
    .argument('<id>', 'id of the schedule, and how the ids of its runs begin')
    .argument('<agent>', 'name of the agent')
    .argument('[task]', 'the task; an agent with its own template may need none')
    .option('--tenant <name>', 'the tenant of its runs, with which its id begins')
    .option('--paused', 'start nothing until it is resumed')
    .action(
      (id: string, agent: string, task: string | undefined, flags: ScheduleFlags & CreateFlags) =>
        act(async (cli) => {
          const given = (await optionsFrom(cli, flags)) as Partial<ScheduleOptions>;
          const { tenant, paused } = flags;
          const options = { ...given, agent, ...defined({ task, tenant, paused }) };
          const view = await withClient(cli, async (everloop) => {
            const made = await everloop.schedules.create(id, options);
            await noteUnknownAgent(cli, everloop, agent);
            return made.describe();
          });
          return print(cli, scheduleText(view), view);
        }),
    );
}

interface CreateFlags {
  readonly tenant?: string;
  readonly paused?: true;
}

/** Workers may not be there yet, so an agent that none has is worth a line and no more. */
async function noteUnknownAgent({ output }: Cli, everloop: Everloop, agent: string): Promise<void> {
  try {
    const { agents: known, silent } = await everloop.agents();
    if (known.length === 0 || silent.length > 0 || known.some(({ name }) => name === agent)) return;
    output.note(`No worker serves an agent ${oneLine(agent, 80)} yet: runs wait for one.`);
  } catch (error) {
    // Without a way to ask workers there is nothing to say.
    if (!isUsageError(error)) throw error;
  }
}

function addListCommand(schedule: Command, act: CommandRunner): void {
  schedule
    .command('ls')
    .summary('list schedules')
    .description('Lists the schedules of agents.')
    .option('--limit <number>', 'maximum number of schedules', '100')
    .action(({ limit }: { readonly limit: string }) =>
      showResult(
        act,
        ({ schedules }) => schedules.list({ limit: readCount('--limit', limit, 1) }),
        schedulesText,
      ),
    );
}

function addShowCommand(schedule: Command, act: CommandRunner): void {
  schedule
    .command('show')
    .summary('show a schedule, its last starts and its next times')
    .description('Shows a schedule, its last starts, its next times, and what holds it up.')
    .argument('<id>', 'id of the schedule')
    .option('--next <number>', 'how many of the next times, at most 10', '5')
    .action((id: string, { next }: { readonly next: string }) =>
      showResult(
        act,
        ({ schedules }) => schedules.attach(id).describe(),
        (view) => scheduleText(view, readCount('--next', next, 1)),
      ),
    );
}

function addPauseCommands(schedule: Command, act: CommandRunner): void {
  schedule
    .command('pause')
    .summary('start no more runs until it is resumed')
    .description('Pauses a schedule. Its runs go on.')
    .argument('<id>', 'id of the schedule')
    .argument('[note]', 'why; everyone who may list schedules reads it')
    .action((id: string, note?: string) =>
      onSchedule(act, id, async (cli, one) => {
        await one.pause(note);
        return print(cli, `Paused schedule ${id}.`, { id, paused: true });
      }),
    );
  schedule
    .command('resume')
    .summary('go on with a paused schedule')
    .description('Resumes a schedule. What was due meanwhile is not started.')
    .argument('<id>', 'id of the schedule')
    .argument('[note]', 'why; everyone who may list schedules reads it')
    .action((id: string, note?: string) =>
      onSchedule(act, id, async (cli, one) => {
        await one.resume(note);
        return print(cli, `Resumed schedule ${id}.`, { id, paused: false });
      }),
    );
}

function addTriggerCommand(schedule: Command, act: CommandRunner): void {
  schedule
    .command('trigger')
    .summary('start a run now')
    .description('Starts a run of a schedule now, also while it is paused.')
    .argument('<id>', 'id of the schedule')
    .option('--overlap <policy>', `${OVERLAP_HELP} (default: as the schedule)`)
    .option('--wait', 'wait for the answer of the run')
    .action((id: string, { overlap, wait = false }: TriggerFlags) =>
      onSchedule(act, id, async (cli, one) => {
        const run = await one.trigger(defined({ overlap }));
        if (run === null) {
          print(cli, 'Started no run: another one goes on.', { id, run: null });
          return EXIT_CODES.runFailed;
        }
        if (!wait) return print(cli, run.id, { id, run: run.id });
        cli.output.note(cli.output.paintNote('dim', `run ${run.id}`));
        return untilInterrupted(cli, async () => {
          const step = await run.result();
          cli.output.note(endText(step));
          if (step.status === 'success') cli.output.text(cli.output.safe(valueText(step.value)));
          cli.output.json(step);
          return exitCodeOfStep(step);
        });
      }),
    );
}

interface TriggerFlags {
  readonly overlap?: ScheduleOverlap;
  readonly wait?: boolean;
}

function addBackfillCommand(schedule: Command, act: CommandRunner): void {
  schedule
    .command('backfill')
    .summary('start the runs of times that are over')
    .description(
      'Starts the runs of times that are over, each with the time at which it would have been due.',
    )
    .argument('<id>', 'id of the schedule')
    .requiredOption('--from <time>', 'ISO time, included')
    .requiredOption('--until <time>', 'ISO time, included')
    .option('--overlap <policy>', `${OVERLAP_HELP} (default: buffer-all)`)
    .action((id: string, { from, until, overlap }: BackfillFlags) =>
      onSchedule(act, id, async (cli, one) => {
        const times = await one.backfill({ from, until, ...defined({ overlap }) });
        const text = `Starts ${pluralText(times, 'run')} of schedule ${id}.`;
        return print(cli, text, { id, times });
      }),
    );
}

interface BackfillFlags {
  readonly from: string;
  readonly until: string;
  readonly overlap?: ScheduleOverlap;
}

function addUpdateCommand(schedule: Command, act: CommandRunner): void {
  withFlags(schedule.command('update'))
    .summary('change a schedule')
    .description(
      'Changes what is given. --cron and --every replace all times. Runs that go on keep what they ' +
        'were started with.',
    )
    .argument('<id>', 'id of the schedule')
    .option('--agent <name>', 'name of the agent')
    .option('--task <text>', 'the task')
    .option('--no-previous', 'do not tell runs how the one before ended')
    .option('--no-pause-on-failure', 'go on when a run fails')
    .action((id: string, flags: ScheduleFlags & UpdateFlags) =>
      onSchedule(act, id, async (cli, one) => {
        const { agent, task } = flags;
        await one.update({ ...(await optionsFrom(cli, flags)), ...defined({ agent, task }) });
        const view = await one.describe();
        return print(cli, scheduleText(view), view);
      }),
    );
}

interface UpdateFlags {
  readonly agent?: string;
  readonly task?: string;
}

function addRemoveCommand(schedule: Command, act: CommandRunner): void {
  schedule
    .command('rm')
    .summary('delete a schedule')
    .description('Deletes a schedule. Its runs go on.')
    .argument('<id>', 'id of the schedule')
    .action((id: string) =>
      onSchedule(act, id, async (cli, one) => {
        await one.delete();
        return print(cli, `Deleted schedule ${id}.`, { id, deleted: true });
      }),
    );
}

function addRunsCommand(schedule: Command, act: CommandRunner): void {
  schedule
    .command('runs')
    .summary('list the runs of a schedule')
    .description('Lists the runs of a schedule, newest first.')
    .argument('<id>', 'id of the schedule')
    .option('--limit <number>', 'maximum number of runs', '100')
    .action((id: string, { limit }: { readonly limit: string }) =>
      showResult(
        act,
        ({ schedules }) => schedules.attach(id).runs({ limit: readCount('--limit', limit, 1) }),
        (runs) => runsText(runs, Date.now()),
      ),
    );
}

function onSchedule(
  act: CommandRunner,
  id: string,
  work: (cli: Cli, schedule: ScheduleHandle) => Promise<number>,
): Promise<void> {
  return act((cli) => withClient(cli, ({ schedules }) => work(cli, schedules.attach(id))));
}
