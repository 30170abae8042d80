import type { Command } from 'commander';
import { previewPrompt } from '../../registry/preview-prompt.ts';
import { nearestName } from '../../core/text/nearest.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import type { Message, Part } from '../../core/base/message.ts';
import type { ModelRequest } from '../../core/contract/model.ts';
import { readJsonObject } from '../terminal/arguments.ts';
import type { Act, Cli } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { loadAgents } from './load-agents.ts';

interface PreviewArguments {
  readonly task?: string;
  readonly context?: string;
}

/** Adds `preview`: shows the first request of an agent. */
export function addPreviewCommand(program: Command, act: Act): void {
  program
    .command('preview')
    .summary('show the first request of an agent, without asking a model')
    .description(
      'Shows what the model of an agent would be asked first. Needs no server and no key.',
    )
    .argument('<file>', 'the file that defines the agent')
    .argument('<agent>', 'its name')
    .option('--task <text>', 'what to do')
    .option('--context <json>', 'named data: a JSON object, or @FILE')
    .action((file: string, agent: string, options: PreviewArguments) =>
      act((cli) => preview(cli, file, agent, options)),
    );
}

async function preview(
  cli: Cli,
  path: string,
  name: string,
  { task, context }: PreviewArguments,
): Promise<number> {
  const { agents, models } = await loadAgents(path, cli.io.cwd);
  const agent = agents.find((it) => it.name === name);
  if (agent === undefined)
    throw notFound(
      path,
      name,
      agents.map((it) => it.name),
    );
  const data = await readJsonObject('--context', context, cli.io.cwd);
  const shown = await previewPrompt(agent, {
    agents,
    models,
    ...(task === undefined ? {} : { task }),
    ...(data === undefined ? {} : { context: data }),
  });
  for (const { code, message } of shown.warnings) cli.output.note(`warning: ${code}: ${message}`);
  cli.output.text(requestText(shown.request));
  cli.output.json(shown);
  return EXIT_CODES.success;
}

function notFound(path: string, name: string, names: readonly string[]): UsageError {
  const near = nearestName(name, names);
  const advice = near === undefined ? 'Choose one of them.' : `Did you mean \`${near}\`?`;
  const text = `Expected an agent of \`${path}\` (${names.join(', ')}), got \`${name}\`. ${advice}`;
  return new UsageError('agent_not_found', text);
}

/** A request as text: messages under their roles, then what stands beside them. */
function requestText({ messages, tools = [], toolChoice, schema }: ModelRequest): string {
  return [
    ...messages.map(messageText),
    ...tools.map(
      (tool) =>
        `--- tool ${tool.name} ---\n${tool.description}\n${JSON.stringify(tool.parameters)}`,
    ),
    ...(toolChoice === undefined ? [] : [`--- tool choice ---\n${JSON.stringify(toolChoice)}`]),
    ...(schema === undefined ? [] : [`--- schema ---\n${JSON.stringify(schema)}`]),
  ].join('\n');
}

function messageText({ role, parts }: Message): string {
  return [`--- ${role} ---`, ...parts.map(partText)].join('\n');
}

function partText(part: Part): string {
  if (part.type === 'text') return part.text;
  if (part.type === 'media') return `[${part.mediaType}]`;
  return JSON.stringify(part);
}
