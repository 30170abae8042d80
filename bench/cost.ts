/**
 * `cost`: the actions that a turn costs on Temporal Cloud, and its bytes of history.
 *
 * A turn is a model call and its tool. Each scenario plays a run with one turn and a run without
 * one, in which the model answers at once. The figure is their difference; what every run costs, its
 * start and its end, is `actions_per_run`.
 *
 * - `actions_instant`, `actions_local`: model and tool answer at once; each call of the tool is an
 *   activity, or the tool is a read in its default and the model one that streams. Several turns,
 *   divided by their number.
 * - `actions_10s_call`, `actions_30s_call`: the model thinks for so long, and the worker sends
 *   heartbeats as it does in production.
 * - `actions_tree_4`: a turn whose model starts three children, with one turn each; the children and
 *   their starts are in it.
 * - `actions_program_10`: a turn with a program that calls a tool ten times.
 *
 * The figures are the server's own metric `action`, less what Temporal Cloud does not bill (see
 * `history-actions.ts`). The metric has what no history shows, such as the heartbeats that reached
 * the service. `uncounted` is the difference between the metric, without heartbeats and queries,
 * and the count from histories, over all runs: more than 0 means that one of the two counts wrongly.
 *
 * The stage gives workers the settings for a real service, as Temporal Cloud has them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Everloop } from '../src/client/everloop-client.ts';
import { defineAgent } from '../src/define/agent/define-agent.ts';
import type { AgentDefinition, ToolDefinition } from '../src/define/definition/definitions.ts';
import type { ModelRequest } from '../src/core/contract/model.ts';
import { agentTool } from '../src/define/tool/agent-tool.ts';
import { defineTool } from '../src/define/tool/define-tool.ts';
import { WORKER_DEFAULTS } from '../src/worker/serve/create-worker.ts';
import { findFreePort } from '../src/worker/server/server-probe.ts';
import { streamingModel } from '../test/support/streamed-calls.ts';
import { withStage, type Stage } from './support/bench-stage.ts';
import { figure, type Bench, type Figure } from './support/figure.ts';
import { actionsIn } from './support/history-actions.ts';
import { readLinks } from './support/history-reader.ts';
import { instantAgent } from './support/instant-agent.ts';
import { actionsSince, readActions, sumOf, type ActionCounts } from './support/server-metrics.ts';

const TURNS = 20;
const CHILDREN = 3;
const CALLS = 10;

/** Types of the metric that leave no event in a history. */
const WITHOUT_EVENT = ['RecordActivityTaskHeartbeat', 'QueryWorkflow'] as const;

/** One kind of turn. */
interface Scenario {
  readonly name: string;
  readonly agent: AgentDefinition;
  /** The tasks of the run with turns and of the one without; a number is that of turns. */
  readonly task: string;
  readonly idleTask: string;
  readonly turns: number;
  readonly goal: string;
}

/** What one run cost. */
interface RunCost {
  /** What the metric says, with what is not billed. */
  readonly counts: ActionCounts;
  /** The same without it. */
  readonly actions: number;
  readonly inHistory: number;
  readonly bytes: number;
}

/** The benchmark `cost`. */
export const costBench: Bench = {
  name: 'cost',
  about: 'actions on Temporal Cloud and bytes of history that a turn costs, in six scenarios',
  run: async () => {
    const metricsPort = await findFreePort('127.0.0.1');
    return withStage((stage) => measure(stage, metricsPort), {}, metricsPort);
  },
};

async function measure(stage: Stage, metricsPort: number): Promise<readonly Figure[]> {
  const all = scenarios();
  const { heartbeatMs } = WORKER_DEFAULTS;
  const agents = all.map(({ agent }) => agent);
  const { everloop } = await stage.serve(agents, { heartbeatMs });
  const figures: Figure[] = [];
  const runs: RunCost[] = [];
  const costOf = async (agent: string, task: string): Promise<RunCost> => {
    const cost = await playedRun(stage, everloop, metricsPort, agent, task);
    runs.push(cost);
    return cost;
  };
  for (const { name, agent, task, idleTask, turns, goal } of all) {
    const idle = await costOf(agent.name, idleTask);
    const busy = await costOf(agent.name, task);
    if (figures.length === 0) figures.push(figure('actions_per_run', idle.actions, ''));
    const actions = (busy.actions - idle.actions) / turns;
    const beats = (beatsOf(busy) - beatsOf(idle)) / turns;
    process.stdout.write(`  ${name}: ${JSON.stringify(actionsSince(idle.counts, busy.counts))}\n`);
    figures.push(
      figure(`actions_${name}`, actions, '', goal),
      figure(`heartbeats_${name}`, beats, ''),
      figure(`history_bytes_${name}`, (busy.bytes - idle.bytes) / turns, 'B'),
    );
  }
  const uncounted = runs.reduce((sum, run) => sum + Math.abs(withEvents(run) - run.inHistory), 0);
  return [...figures, figure('uncounted', uncounted, '', '<= 0')];
}

function scenarios(): readonly Scenario[] {
  const turns = { task: String(TURNS), idleTask: '0', turns: TURNS };
  const turn = { task: '1', idleTask: '0', turns: 1 };
  const child = instantAgent('child', { mode: 'chat' });
  return [
    { name: 'instant', agent: instantAgent('plain', { mode: 'chat' }), ...turns, goal: '' },
    {
      name: 'local',
      agent: nearAgent(),
      ...turns,
      goal: '<= 1.5',
    },
    { name: '10s_call', agent: slowAgent('slow', 10), ...turn, goal: '<= 4' },
    { name: '30s_call', agent: slowAgent('slower', 30), ...turn, goal: '' },
    { name: 'tree_4', agent: treeAgent(child), task: 'go', idleTask: 'rest', turns: 1, goal: '' },
    { name: 'program_10', agent: programAgent(), task: 'go', idleTask: 'rest', turns: 1, goal: '' },
  ];
}

/** Its tool is a quick read, and its model streams, as models of providers do. */
function nearAgent(): AgentDefinition {
  const model = streamingModel(({ replies, said }) => {
    const turns = Number(said.find((text) => /^\s*\d+\s*$/.test(text)));
    return replies < turns ? [{ call: 'read', args: { part: replies } }] : [{ text: 'done' }];
  });
  return defineAgent({
    name: 'near',
    mode: 'chat',
    model: { id: 'near', model },
    tools: [readTool('auto')],
  });
}

/** Its model thinks for so long before it calls the tool, and answers at once. */
function slowAgent(name: string, seconds: number): AgentDefinition {
  return instantAgent(name, {
    mode: 'chat',
    beforeReply: async ({ iteration, messages }) => {
      const isIdle = messages.some(({ parts }) =>
        parts.some((part) => part.type === 'text' && part.text.trim() === '0'),
      );
      if (iteration === 1 && !isIdle) await sleep(seconds * 1_000);
    },
  });
}

/** A parent that starts its children in its first turn; with the task `rest` it only answers. */
function treeAgent(child: AgentDefinition): AgentDefinition {
  const toolCalls = Array.from({ length: CHILDREN }, (_, place) => ({
    id: `child-${place}`,
    name: child.name,
    args: { task: '1' },
  }));
  return defineAgent({
    name: 'tree',
    mode: 'chat',
    tools: [agentTool({ agent: child })],
    maxCallsPerTurn: CHILDREN,
    model: async ({ iteration, messages }) => ({
      ...(iteration === 1 && !isToRest(messages)
        ? { content: 'next', toolCalls }
        : { content: 'done' }),
      usage: { inputTokens: 100, outputTokens: 10 },
    }),
  });
}

function readTool(local: 'auto' | false): ToolDefinition {
  return defineTool({
    name: 'read',
    description: 'Reads a part.',
    parameters: { type: 'object', properties: { part: { type: 'integer' } }, required: ['part'] },
    effect: 'read',
    local,
    execute: () => 'r'.repeat(1_024),
  }) as ToolDefinition;
}

/** Its program calls a tool ten times; with the task `rest` it only answers. */
function programAgent(): AgentDefinition {
  const calls = `(count (mapv (fn [part] (tool/read {:part part})) (range ${CALLS})))`;
  return defineAgent({
    name: 'program',
    mode: 'lisp',
    tools: [readTool(false)],
    model: async ({ iteration, messages }) => {
      const program = iteration === 1 && !isToRest(messages) ? calls : '(return :done)';
      return {
        content: `\`\`\`clojure\n${program}\n\`\`\``,
        usage: { inputTokens: 100, outputTokens: 10 },
      };
    },
  });
}

/** Whether the task is `rest`, with or without tags around it. */
function isToRest(messages: ModelRequest['messages']): boolean {
  return messages.some(({ parts }) =>
    parts.some((part) => part.type === 'text' && /(?:^|<task>)\s*rest\b/.test(part.text)),
  );
}

/** Plays one run, alone on the server, and reads what it and its children cost. */
async function playedRun(
  { client }: Stage,
  everloop: Everloop,
  metricsPort: number,
  agent: string,
  task: string,
): Promise<RunCost> {
  const before = await readActions(metricsPort);
  const run = await everloop.start(agent, { task, limits: 'unlimited' });
  const { status, message, children } = await run.result();
  if (status !== 'success') throw new Error(`Expected ${agent} to succeed, got ${message}.`);
  const counts = actionsSince(before, await readActions(metricsPort));
  const ids = [run.id, ...children.map(({ childId }) => childId)];
  const links = (await Promise.all(ids.map((id) => readLinks(client, id)))).flat();
  const inHistories = links.map(({ history }) => actionsIn(history));
  const exempt = inHistories.reduce((sum, each) => sum + each.exempt, 0);
  return {
    counts,
    actions: sumOf(counts) - exempt,
    inHistory: inHistories.reduce((sum, each) => sum + each.actions, 0),
    bytes: links.reduce((sum, link) => sum + link.bytes, 0),
  };
}

/** Heartbeats that reached the service. */
function beatsOf({ counts }: RunCost): number {
  return counts['RecordActivityTaskHeartbeat'] ?? 0;
}

/** The actions that leave an event in a history. */
function withEvents({ actions, counts }: RunCost): number {
  return WITHOUT_EVENT.reduce((rest, type) => rest - (counts[type] ?? 0), actions);
}
