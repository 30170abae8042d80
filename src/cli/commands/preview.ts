import type { Command } from 'commander';
import type { AgentDefinition } from '../../define/definition/definitions.ts';
import {
  previewPrompt,
  type PreviewOptions,
  type PromptPreview,
} from '../../registry/preview-prompt.ts';
import { defined } from '../../core/base/defined.ts';
import { loadMcpTools } from '../../mcp/load-mcp-tools.ts';
import { nearestName } from '../../core/text/nearest.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import type { Part } from '../../core/base/message.ts';
import type { ModelRequest } from '../../core/contract/model.ts';
import { readJsonObject } from '../terminal/arguments.ts';
import { print, type CommandRunner, type Cli } from '../terminal/cli.ts';
import { importModule, loadAgents, workflowsFile } from './load-agents.ts';

interface PreviewArguments {
  readonly task?: string;
  readonly context?: string;
  readonly workflows?: string;
}

/** Adds `preview`: shows the first request of an agent. */
export function addPreviewCommand(program: Command, act: CommandRunner): void {
  program
    .command('preview')
    .summary('show the first model request of an agent, without sending it')
    .description(
      'Shows the first request that an agent sends to its model. Needs no server and no API key, but asks MCP servers of the agent for their tools.',
    )
    .argument('<file>', 'the file that defines the agent')
    .argument('<agent>', 'name of the agent')
    .option('--task <text>', 'the task')
    .option('--context <json>', "named data as a JSON object, or @ and a file's path")
    .option('--workflows <file>', 'the file that adds formats, sections, … of your own')
    .action((file: string, agent: string, options: PreviewArguments) =>
      act((cli) => preview(cli, file, agent, options)),
    );
}

async function preview(
  cli: Cli,
  path: string,
  name: string,
  { task, context, workflows }: PreviewArguments,
): Promise<number> {
  const module = workflowsFile(workflows, cli.io.cwd);
  if (module !== undefined) await importModule(module, workflows ?? module);
  const { agents, models } = await loadAgents(path, cli.io.cwd);
  const agent = agents.find((it) => it.name === name);
  if (agent === undefined) {
    const names = agents.map((it) => it.name);
    throw notFound(path, name, names);
  }
  const data = await readJsonObject('--context', context, cli.io.cwd);
  const shown = await previewOf(agent, defined({ agents, models, task, context: data }));
  for (const { code, message } of shown.warnings) cli.output.note(`warning: ${code}: ${message}`);
  return print(cli, requestText(shown.request), shown);
}

/** The preview; servers of the agent are asked for their tools, and closed. */
async function previewOf(agent: AgentDefinition, given: PreviewOptions): Promise<PromptPreview> {
  const { servers } = agent;
  if (servers === undefined) return previewPrompt(agent, given);
  const { createMcpTools } = await loadMcpTools();
  const mcp = createMcpTools({ servers });
  try {
    return await previewPrompt(agent, { ...given, mcp });
  } finally {
    await mcp.close();
  }
}

function notFound(path: string, name: string, names: readonly string[]): UsageError {
  const near = nearestName(name, names);
  const advice = near === undefined ? 'Choose one of them.' : `Did you mean \`${near}\`?`;
  const text = `Expected an agent of \`${path}\` (${names.join(', ')}), got \`${name}\`. ${advice}`;
  return new UsageError('agent_not_found', text);
}

/** A request as text: its messages, tools, tool choice and schema. */
function requestText({ messages, tools = [], toolChoice, schema }: ModelRequest): string {
  return [
    ...messages.map(({ role, parts }) => [`--- ${role} ---`, ...parts.map(partText)].join('\n')),
    ...tools.map(
      (tool) =>
        `--- tool ${tool.name} ---\n${tool.description}\n${JSON.stringify(tool.parameters)}`,
    ),
    ...(toolChoice === undefined ? [] : [`--- tool choice ---\n${JSON.stringify(toolChoice)}`]),
    ...(schema === undefined ? [] : [`--- schema ---\n${JSON.stringify(schema)}`]),
  ].join('\n');
}

function partText(part: Part): string {
  if (part.type === 'text') return part.text;
  if ('mediaType' in part && part.type !== 'source') return `[${part.mediaType}]`;
  return JSON.stringify(part);
}
