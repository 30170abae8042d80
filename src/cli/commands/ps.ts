import { Option, type Command } from 'commander';
import { LISTED_STATES, type ListedState } from '../../client/reading/listed-states.ts';
import type { RunSummary } from '../../client/run-list.ts';
import { readCount, readDuration } from '../terminal/arguments.ts';
import { showResult, type CommandRunner } from '../terminal/cli.ts';
import { cellText, durationText, oneLine, tableText } from '../terminal/text.ts';

/** Characters of a task; a line should fit on a terminal. */
const TASK_WIDTH = 50;

interface PsOptions {
  readonly running?: true;
  readonly roots?: true;
  readonly agent?: string;
  readonly state?: ListedState;
  readonly tenant?: string;
  readonly since?: string;
  readonly schedule?: string;
  readonly limit: string;
}

/** Adds `ps`: lists runs. */
export function addPsCommand(program: Command, act: CommandRunner): void {
  program
    .command('ps')
    .summary('list runs')
    .description(
      'Lists runs, newest first; a conversation is one run, `open` until it ends. All filters ' +
        'together must fit.',
    )
    .option('--running', 'only live runs')
    .option('--roots', 'only runs that no other run started')
    .option('--agent <name>', 'only runs of this agent')
    .addOption(new Option('--state <state>', 'only runs in this state').choices(LISTED_STATES))
    .option('--schedule <id>', 'only runs that this schedule started')
    .option('--tenant <name>', 'only runs of this tenant')
    .option('--since <time>', 'only runs that began within this time, such as 1d')
    .option('--limit <number>', 'maximum number of runs', '100')
    .action(({ limit, since, ...filters }: PsOptions) => {
      const options = {
        ...filters,
        ...(since === undefined
          ? undefined
          : { since: Date.now() - readDuration('--since', since) }),
        limit: readCount('--limit', limit, 1),
      };
      return showResult(
        act,
        (everloop) => everloop.list(options),
        (runs) => runsText(runs, Date.now()),
      );
    });
}

/** Lists do not know whether a live conversation is in a turn, or waits for a message. */
function stateText({ state, conversation }: Pick<RunSummary, 'state' | 'conversation'>): string {
  return conversation !== undefined && state === 'running' ? 'open' : state;
}

/** The list as a table; ages are relative to `nowMs`. Schedules have a column if any started one. */
export function runsText(runs: readonly RunSummary[], nowMs: number): string {
  if (runs.length === 0) return 'No runs.';
  const hasForks = runs.some(({ forkedFrom }) => forkedFrom !== undefined);
  const isScheduled = runs.some(({ schedule }) => schedule !== undefined);
  return tableText(
    [
      'ID',
      ...(hasForks ? ['FORK OF'] : []),
      'AGENT',
      ...(isScheduled ? ['SCHEDULE'] : []),
      'STATE',
      'AGE',
      'TASK',
    ],
    runs.map(({ id, forkedFrom = '-', agent, schedule = '-', startedAt, task, ...run }) => [
      cellText(id),
      ...(hasForks ? [cellText(forkedFrom)] : []),
      cellText(agent),
      ...(isScheduled ? [cellText(schedule)] : []),
      stateText(run),
      durationText(Math.max(0, nowMs - startedAt.getTime())),
      oneLine(task, TASK_WIDTH),
    ]),
  );
}
