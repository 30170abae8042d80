/** `doctor`: looks for what keeps runs from going on. */
import type { Command } from 'commander';
import { join, resolve } from 'node:path';
import { connectClient } from '../../client/connect.ts';
import { isUsageError } from '../../core/base/usage-error.ts';
import type { DoctorWorld, NamedModel } from '../../doctor/checks/check.ts';
import { runDoctor, type DoctorReport } from '../../doctor/run-doctor.ts';
import { doctorService } from '../../doctor/service.ts';
import { readServerState } from '../../worker/server/server-state.ts';
import { addressFor, folderConfig, print, type Cli, type CommandRunner } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { doctorText } from '../views/doctor-text.ts';
import { loadAgents, type AgentFile } from '../commands/load-agents.ts';

/** Adds `doctor`. */
export function addDoctorCommand(program: Command, act: CommandRunner): void {
  program
    .command('doctor')
    .summary('look for what keeps runs from going on')
    .description(
      'Checks server, fleet, runs, settings and packages. It changes nothing, unless you give ' +
        '--fix. With an agent file, it also checks the keys of its models. The exit code is 1 if ' +
        'there is an error.',
    )
    .option('--agents <file>', 'agent file whose models are checked')
    .option('--fix', 'make the fixes that are marked so')
    .action((options: { readonly agents?: string; readonly fix?: boolean }) =>
      act(async (cli) => {
        const report = await withWorld(cli, options.agents, (world) =>
          runDoctor(world, { fix: options.fix === true }),
        );
        const code = print(cli, doctorText(report), report);
        return report.errors === 0 ? code : EXIT_CODES.runFailed;
      }),
    );
}

async function withWorld(
  cli: Cli,
  agentFile: string | undefined,
  work: (world: DoctorWorld) => Promise<DoctorReport>,
): Promise<DoctorReport> {
  const config = await folderConfig(cli);
  const { env, cwd } = cli.io;
  const models = agentFile === undefined ? [] : modelsOf(await loadAgents(agentFile, cwd));
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const here = { env, cwd, config, models, timeZone, hasLibc: hasLibc() };
  const opened = await addressFor(cli).then(connectClient).catch(noServer);
  if (typeof opened === 'string') {
    const none = { service: null, noServer: opened, isOwnServer: false };
    return work({ ...here, ...none, now: Date.now() });
  }
  const { client, address, close } = opened;
  try {
    const name = config.version?.name ?? env['EVERLOOP_DEPLOYMENT']?.trim();
    const service = doctorService(client, name === '' ? undefined : name);
    const own = await readServerState(join(resolve(cwd, config.dataDir), 'server.json'));
    const isOwnServer = own?.address === address;
    return await work({ ...here, service, noServer: '', isOwnServer, now: Date.now() });
  } finally {
    await close();
  }
}

/** The models of providers that an agent file has, and those that its agents name by id only. */
function modelsOf({ agents, models }: AgentFile): readonly NamedModel[] {
  const entries = [...models, ...agents.flatMap(({ model }) => model ?? [])];
  const known = new Set(entries.flatMap((one) => (typeof one === 'string' ? [] : [one.id])));
  const named = entries.flatMap((one): readonly NamedModel[] => {
    if (typeof one === 'string') return known.has(one) ? [] : [{ id: one }];
    const { id, model } = one;
    if (typeof model === 'function') return [];
    return [{ id, provider: typeof model === 'string' ? model : model.provider }];
  });
  return [...new Map(named.map((one) => [one.id, one])).values()];
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
