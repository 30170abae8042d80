/** The agents of a fleet as text. Pure. */
import type { AgentsView, AgentVersion } from '../../client/agents.ts';
import type { Limit } from '../../core/contract/limit.ts';
import { cellText, fieldsText, oneLine, pluralText, tableText } from '../terminal/text.ts';

/** Characters of a list of models, of a description, and of an address. */
const MODELS_WIDTH = 40;
const TEXT_WIDTH = 60;

/** Identities and addresses that are shown. */
const MAX_SHOWN = 5;

/** A line for each version of each agent, then what is not known. */
export function agentsText({ agents, silent, more }: AgentsView): string {
  const table =
    agents.length === 0
      ? 'No worker has said which agents it serves.'
      : tableText(['AGENT', 'QUEUE', 'MODE', 'MODELS', 'TOOLS', 'WORKERS'], agents.map(rowOf));
  const notes = [
    ...versionNotes(agents),
    ...(more === 0 ? [] : [`${pluralText(more, 'agent')} more: workers left them out.`]),
    ...(silent.length === 0 ? [] : [`No answer from ${listText(silent)}.`]),
  ];
  return [table, ...(notes.length === 0 ? [] : [notes.join('\n')])].join('\n\n');
}

function rowOf({
  name,
  taskQueue,
  mode,
  models,
  tools,
  moreTools,
  workers,
}: AgentVersion): string[] {
  return [
    cellText(name),
    cellText(taskQueue),
    cellText(mode),
    oneLine(models.join(', '), MODELS_WIDTH),
    String(tools.length + (moreTools ?? 0)),
    String(workers.length),
  ];
}

/** Which agents the workers of one queue serve in several versions. */
function versionNotes(agents: readonly AgentVersion[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { name, taskQueue } of agents) {
    const place = `${cellText(name)} on ${cellText(taskQueue)}`;
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > 1)
    .map(([place, count]) => `${place}: ${count} versions, which \`everloop agents NAME\` shows.`);
}

/** One version of an agent: what it is, its tools, its limits. */
export function agentText(agent: AgentVersion): string {
  const { name, taskQueue, description, mode, models, signature, servers, workers } = agent;
  const { tools, moreTools = 0, limits } = agent;
  const fields: (readonly [string, string])[] = [
    ['agent', cellText(name)],
    ['queue', cellText(taskQueue)],
    ['workers', listText(workers)],
    ['description', oneLine(description, TEXT_WIDTH)],
    ['mode', cellText(mode)],
    ['models', oneLine(models.join(', '), TEXT_WIDTH)],
    ['signature', oneLine(signature ?? '', TEXT_WIDTH)],
    ['servers', oneLine(servers.join(', '), TEXT_WIDTH)],
    ['limits', limits.map(limitText).join(', ')],
  ];
  const known = fieldsText(fields.filter(([, text]) => text !== ''));
  if (tools.length === 0) return known;
  const rows = tools.map((tool) => [
    cellText(tool.name),
    cellText(tool.effect),
    cellText(tool.approval ?? '-'),
    oneLine(tool.description, TEXT_WIDTH),
  ]);
  const table = tableText(['TOOL', 'EFFECT', 'APPROVAL', 'DESCRIPTION'], rows);
  return [known, moreTools === 0 ? table : `${table}\nand ${moreTools} more`].join('\n\n');
}

function limitText({ key, max }: Limit): string {
  return `${cellText(key)} ${max}`;
}

function listText(items: readonly string[]): string {
  const shown = items.slice(0, MAX_SHOWN).map((item) => cellText(item));
  const left = items.length - shown.length;
  return left === 0 ? shown.join(', ') : `${shown.join(', ')} and ${left} more`;
}
