/**
 * The commands and the modules that add them. A command line loads the module of its own command
 * only; help, and names that no command has, need all of them.
 */
import type { AddCommand } from './terminal/cli.ts';

/** A module, and the names of the commands that it adds. */
export interface CommandModule {
  readonly names: readonly string[];
  readonly load: () => Promise<readonly AddCommand[]>;
}

/** In the order of the help. */
export const COMMAND_MODULES: readonly CommandModule[] = [
  { names: ['init'], load: async () => [(await import('./commands/init.ts')).addInitCommand] },
  {
    names: ['dev', 'worker'],
    load: async () => {
      const { addDevCommand, addWorkerCommand } = await import('./operations/serve.ts');
      return [addDevCommand, addWorkerCommand];
    },
  },
  { names: ['run'], load: async () => [(await import('./commands/run.ts')).addRunCommand] },
  { names: ['chat'], load: async () => [(await import('./commands/chat.ts')).addChatCommand] },
  {
    names: ['console'],
    load: async () => [(await import('./operations/console.ts')).addConsoleCommand],
  },
  {
    names: ['preview'],
    load: async () => [(await import('./commands/preview.ts')).addPreviewCommand],
  },
  {
    names: ['agents'],
    load: async () => [(await import('./commands/agents.ts')).addAgentsCommand],
  },
  {
    names: ['schedule'],
    load: async () => [(await import('./commands/schedule.ts')).addScheduleCommand],
  },
  { names: ['ps'], load: async () => [(await import('./commands/ps.ts')).addPsCommand] },
  { names: ['show'], load: async () => [(await import('./commands/show.ts')).addShowCommand] },
  {
    names: ['at', 'fork', 'diff'],
    load: async () => {
      const { addAtCommand, addForkCommand, addDiffCommand } = await import('./commands/forks.ts');
      return [addAtCommand, addForkCommand, addDiffCommand];
    },
  },
  { names: ['eval'], load: async () => [(await import('./commands/eval.ts')).addEvalCommand] },
  { names: ['stats'], load: async () => [(await import('./commands/stats.ts')).addStatsCommand] },
  { names: ['trace'], load: async () => [(await import('./commands/trace.ts')).addTraceCommand] },
  {
    names: ['logs', 'attempts', 'stream-token'],
    load: async () => {
      const module = await import('./commands/logs.ts');
      const { addLogsCommand, addAttemptsCommand, addStreamTokenCommand } = module;
      return [addLogsCommand, addAttemptsCommand, addStreamTokenCommand];
    },
  },
  {
    names: ['tree', 'budget'],
    load: async () => {
      const { addTreeCommand, addBudgetCommand } = await import('./commands/tree.ts');
      return [addTreeCommand, addBudgetCommand];
    },
  },
  {
    names: ['program'],
    load: async () => [(await import('./commands/program.ts')).addProgramCommand],
  },
  {
    names: ['inbox', 'answer', 'approve', 'deny', 'revoke'],
    load: async () => (await import('./commands/people.ts')).PEOPLE_COMMANDS,
  },
  {
    names: ['send', 'cancel', 'pause', 'resume', 'adjust', 'retry'],
    load: async () => (await import('./commands/steer.ts')).STEER_COMMANDS,
  },
  {
    names: ['deploy'],
    load: async () => [(await import('./operations/deploy.ts')).addDeployCommand],
  },
  { names: ['mcp'], load: async () => [(await import('./commands/mcp.ts')).addMcpCommand] },
  {
    names: ['replay'],
    load: async () => [(await import('./operations/replay.ts')).addReplayCommand],
  },
  {
    names: ['doctor'],
    load: async () => [(await import('./operations/doctor.ts')).addDoctorCommand],
  },
  {
    names: ['tenants'],
    load: async () => [(await import('./operations/tenants.ts')).addTenantsCommand],
  },
  { names: ['setup'], load: async () => [(await import('./operations/setup.ts')).addSetupCommand] },
  { names: ['prune'], load: async () => [(await import('./operations/prune.ts')).addPruneCommand] },
  {
    names: ['gc', 'forget'],
    load: async () => (await import('./operations/retention.ts')).RETENTION_COMMANDS,
  },
  {
    names: ['keys', 'archive'],
    load: async () => (await import('./operations/keys.ts')).KEY_COMMANDS,
  },
  { names: ['codec'], load: async () => [(await import('./operations/codec.ts')).addCodecCommand] },
  { names: ['lisp'], load: async () => [(await import('./commands/lisp.ts')).addLispCommand] },
  { names: ['demo'], load: async () => [(await import('./commands/demo.ts')).addDemoCommand] },
];

/** What people call a command who know other tools. */
export const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ['list', 'ps'],
  ['ls', 'ps'],
  ['runs', 'ps'],
  ['status', 'show'],
  ['describe', 'show'],
  ['events', 'logs'],
  ['watch', 'logs'],
  ['start', 'run'],
  ['serve', 'worker'],
  ['stop', 'cancel'],
  ['kill', 'cancel'],
  ['ui', 'console'],
]);

/** The command that this command line means by a word of another tool; undefined: none. */
export function meantCommand(argv: readonly string[]): string | undefined {
  return OTHER_WORDS.get(nameIn(argv) ?? '');
}

/** What adds the command of this command line; what adds all, if it names none that there is. */
export async function commandsOf(argv: readonly string[]): Promise<readonly AddCommand[]> {
  if (argv[0] === '--version') return [];
  const name = nameIn(argv);
  const own = COMMAND_MODULES.find(({ names }) => names.some((it) => it === name));
  const loaded = await Promise.all((own === undefined ? COMMAND_MODULES : [own]).map(loadModule));
  return loaded.flat();
}

function nameIn(argv: readonly string[]): string | undefined {
  return argv.find((argument) => !argument.startsWith('-'));
}

function loadModule({ load }: CommandModule): Promise<readonly AddCommand[]> {
  return load();
}
