/**
 * `programs`: what programs save compared with native calls, and what they cost compared with a
 * bare workflow.
 *
 * - `token_ratio`, `time_ratio`: one task over twelve customers as a `lisp` agent and as a `chat`
 *   agent, each with the replies that a good model would give. The models take a second for a reply
 *   and count four bytes of a request as a token.
 * - `local_read_ms`, `parallel_read_ms`: a program of a hundred calls of a `local` tool, one after
 *   another and in `pmap`, minus the same run without calls.
 * - `program_ratio`: a turn with a program of ten calls compared with a bare workflow that makes
 *   the same calls of a worker's activities.
 */
import { defineAgent } from '../src/define/agent/define-agent.ts';
import { defineTool } from '../src/define/tool/define-tool.ts';
import type { AgentDefinition, ToolDefinition } from '../src/define/definition/definitions.ts';
import type { Everloop } from '../src/client/everloop-client.ts';
import type { Step } from '../src/core/contract/step.ts';
import { serveBare } from './support/bare-worker.ts';
import { withStage, type Stage } from './support/bench-stage.ts';
import {
  CUSTOMER_TASK,
  customerAnswer,
  customerTools,
  nativeModel,
  programModel,
} from './support/customers.ts';
import { figure, median, type Bench, type Figure } from './support/figure.ts';
import { sameActivities } from './support/same-activities.ts';

const READS = 100;
const CALLS = 10;
const TURNS = 20;
const ROUNDS = 5;
const RESULT_BYTES = 1_024;

/** The benchmark `programs`. */
export const programsBench: Bench = {
  name: 'programs',
  about: 'tokens and time of a program over native calls; reads; a turn over a bare workflow',
  run: () =>
    withStage(async (stage) => [
      ...(await savings(stage)),
      ...(await reads(stage)),
      ...(await turns(stage)),
    ]),
};

async function savings(stage: Stage): Promise<readonly Figure[]> {
  const signature = '-> {count :int, total :int}';
  const tools = customerTools();
  const agents = [
    defineAgent({ name: 'native', mode: 'chat', model: nativeModel, signature, tools }),
    defineAgent({ name: 'program', mode: 'lisp', model: programModel, signature, tools }),
  ];
  const { everloop, stop } = await stage.serve(agents, { taskQueue: 'customers' });
  const native = await measured(everloop, 'native');
  const program = await measured(everloop, 'program');
  await stop();
  const tokens = (step: Step): number => step.usage.inputTokens + step.usage.outputTokens;
  return [
    figure('token_ratio', tokens(program.step) / tokens(native.step), 'x', '<= 0.35', 1),
    figure('time_ratio', program.ms / native.ms, 'x', '<= 0.5', 1),
    figure('model_calls', program.step.usage.modelCalls, '', '', native.step.usage.modelCalls),
    figure('input_tokens', program.step.usage.inputTokens, '', '', native.step.usage.inputTokens),
    figure(
      'output_tokens',
      program.step.usage.outputTokens,
      '',
      '',
      native.step.usage.outputTokens,
    ),
    figure('task_ms', program.ms, 'ms', '', native.ms),
  ];
}

/** The median of three runs, each of which must return the right answer. */
async function measured(
  everloop: Everloop,
  agent: string,
): Promise<{ readonly step: Step; readonly ms: number }> {
  const steps: Step[] = [];
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    const startedAt = performance.now();
    const step = await (await everloop.start(agent, { task: CUSTOMER_TASK })).result();
    times.push(performance.now() - startedAt);
    const [got, wanted] = [step.value, customerAnswer()].map((value) => JSON.stringify(value));
    if (got !== wanted) {
      throw new Error(`Expected ${agent} to answer ${wanted}, got ${got} (${step.message}).`);
    }
    steps.push(step);
  }
  return { step: steps[0] as Step, ms: median(times) };
}

/** An agent that answers each turn with the next of `programs`. */
function programAgent(
  name: string,
  tools: readonly ToolDefinition[],
  programs: (iteration: number) => string,
): AgentDefinition {
  return defineAgent({
    name,
    mode: 'lisp',
    maxTurns: TURNS + 1,
    tools,
    model: async ({ iteration }) => ({
      content: `\`\`\`clojure\n${programs(iteration)}\n\`\`\``,
      usage: { inputTokens: 100, outputTokens: 10 },
    }),
  });
}

function readTool(local: boolean): ToolDefinition {
  const result = 'r'.repeat(RESULT_BYTES);
  return defineTool({
    name: 'read',
    description: 'Reads a part.',
    parameters: { type: 'object', properties: { part: { type: 'integer' } }, required: ['part'] },
    effect: 'read',
    local,
    ...(local ? { timeoutMs: 2_000 } : {}),
    execute: () => result,
  });
}

async function reads(stage: Stage): Promise<readonly Figure[]> {
  const tools = [readTool(true)];
  const read = '(fn [part] (tool/read {:part part}))';
  const programs = {
    none: `(return (count (mapv str (range ${READS}))))`,
    sequential: `(return (count (mapv ${read} (range ${READS}))))`,
    parallel: `(return (count (pmap ${read} (range ${READS}))))`,
  };
  const names = ['none', 'sequential', 'parallel'] as const;
  const { everloop, stop } = await stage.serve(
    names.map((name) => programAgent(name, tools, () => programs[name])),
    { taskQueue: 'reads' },
  );
  const times: Record<(typeof names)[number], number[]> = {
    none: [],
    sequential: [],
    parallel: [],
  };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const name of names) {
      const startedAt = performance.now();
      const step = await (await everloop.start(name, { task: 'go' })).result();
      if (step.value !== READS) throw new Error(`Expected ${READS} reads, got ${step.message}.`);
      if (round > 0) times[name].push(performance.now() - startedAt);
    }
  }
  await stop();
  const none = median(times.none);
  const perRead = (all: readonly number[]): number => (median(all) - none) / READS;
  return [
    figure('local_read_ms', perRead(times.sequential), 'ms', '<= 8'),
    figure('parallel_read_ms', perRead(times.parallel), 'ms', '<= 4'),
  ];
}

async function turns(stage: Stage): Promise<readonly Figure[]> {
  const program = `(count (mapv (fn [part] (tool/read {:part part})) (range ${CALLS})))`;
  const agent = programAgent('instant-program', [readTool(false)], (iteration) =>
    iteration <= TURNS ? program : '(return :done)',
  );
  const agentSide = await stage.serve([agent], { taskQueue: 'program-turns' });
  const bareSide = await serveBare(stage, RESULT_BYTES, await sameActivities(RESULT_BYTES, CALLS));
  const agentMs: number[] = [];
  const bareMs: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const startedAt = performance.now();
    const step = await (await agentSide.everloop.start('instant-program', { task: 'go' })).result();
    const between = performance.now();
    await bareSide.run(TURNS);
    if (step.value !== 'done') throw new Error(`Expected an answer, got ${step.message}.`);
    if (round === 0) continue;
    agentMs.push((between - startedAt) / TURNS);
    bareMs.push((performance.now() - between) / TURNS);
  }
  await bareSide.stop();
  const ratios = agentMs.map((ms, round) => ms / (bareMs[round] ?? Number.NaN));
  return [
    figure('program_ratio', median(ratios), 'x', '<= 1.2', 1),
    figure('program_turn_ms', median(agentMs), 'ms', '', median(bareMs)),
  ];
}
