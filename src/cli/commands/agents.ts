import type { Command } from 'commander';
import { UsageError } from '../../core/base/usage-error.ts';
import { nearestName } from '../../core/text/nearest.ts';
import type { AgentsView } from '../../client/agents.ts';
import { showResult, type CommandRunner } from '../terminal/cli.ts';
import { agentsText, agentText } from '../views/agents-text.ts';

/** Adds `agents`: which agents workers serve. */
export function addAgentsCommand(program: Command, act: CommandRunner): void {
  program
    .command('agents')
    .summary('list the agents that workers serve')
    .description(
      'Asks the workers on this machine with the same data folder, and those of EVERLOOP_STREAM_URL, ' +
        'which agents they serve. Workers with different versions of an agent give a line each. With ' +
        'a name, shows the models, tools and limits of that agent.',
    )
    .argument('[name]', 'name of one agent')
    .action((name?: string) =>
      showResult(
        act,
        async (everloop) => {
          const view = await everloop.agents();
          return name === undefined ? view : versionsOf(view, name);
        },
        (found) => ('silent' in found ? agentsText(found) : found.map(agentText).join('\n\n')),
      ),
    );
}

/** @throws UsageError `agent_not_found` if no worker has said that it serves the agent. */
function versionsOf({ agents, silent }: AgentsView, name: string): AgentsView['agents'] {
  const versions = agents.filter((agent) => agent.name === name);
  if (versions.length > 0) return versions;
  const near = nearestName(
    name,
    agents.map((agent) => agent.name),
  );
  const hint = near === undefined ? '' : ` Did you mean \`${near}\`?`;
  const others = silent.length === 0 ? '' : ` ${silent.length} workers did not answer.`;
  throw new UsageError(
    'agent_not_found',
    `Expected an agent that a worker serves, got \`${name.slice(0, 80)}\`.${hint}${others} \`everloop agents\` lists them.`,
  );
}
