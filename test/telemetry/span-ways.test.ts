/** Golden span trees of runs that wait, pause, end early or ask again, on the memory host. */
import { expect, test } from 'vitest';
import { counter, summarize } from '../../src/index.ts';
import { agentTool } from '../../src/define/tool/agent-tool.ts';
import { llmTool } from '../../src/define/tool/define-llm-tool.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import type { MemoryRun } from '../../src/testing/memory-run.ts';
import { scriptedModel, type ScriptedReply } from '../../src/testing/scripted-model.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { act, answer, searchTool, START, startRun, type RunOptions } from '../support/runs.ts';
import {
  agree,
  checkSpans,
  spansWhile,
  spanTree,
  traceInMemory,
  type TracedRun,
} from '../support/spans.ts';
import { delegate, player } from '../support/trees.ts';

const HOUR = 3_600_000;
const WEEK = 7 * 24 * HOUR;

/** The spans of `tester`, whose model plays `replies`; a reply may move the run. */
function traced(
  replies: readonly (ScriptedReply | ((run: MemoryRun) => string))[],
  options: RunOptions = {},
): Promise<TracedRun> {
  return spansWhile((note) => {
    const played = replies.map((reply) =>
      typeof reply === 'function' ? () => (reply as (run: MemoryRun) => string)(run) : reply,
    );
    const { run } = startRun(played, { ...options, onEvent: note });
    return run;
  });
}

async function isGolden(name: string, run: TracedRun): Promise<void> {
  checkSpans(run);
  await expect(`${spanTree(run.spans)}\n`).toMatchFileSnapshot(`golden/${name}.txt`);
}

/** How long the only span of this name lasts. */
function lasting({ spans }: TracedRun, name: string): number {
  const found = spans.filter((span) => span.name === name);
  expect(found).toHaveLength(1);
  return (found[0]?.endMs ?? 0) - (found[0]?.startMs ?? 0);
}

const refusal = (statusCode: number): Error =>
  Object.assign(new Error(`status ${statusCode}`), { statusCode });

test('a wait of a week for people and outside work, over a hand-over', async () => {
  const clock = createFakeClock(START);
  const [agent] = peopleAgents();
  if (agent === undefined) throw new Error('Expected an agent that waits, got none.');
  const run = await traceInMemory({
    agent,
    clock,
    handoverDue: (_iteration, place) => place === 'waiting',
    people: (run) => {
      if (clock.now() === START) clock.advance(WEEK);
      agree(run);
    },
  });
  await isGolden('week', run);
  const waits = ['question', 'approval', 'external'].map((kind) => lasting(run, `wait ${kind}`));
  expect(waits).toEqual([WEEK, WEEK, WEEK]);
});

test('a pause of an hour', async () => {
  const clock = createFakeClock(START);
  const pause = (run: MemoryRun): string => {
    run.pause();
    setImmediate(() => {
      clock.advance(HOUR);
      run.resume();
    });
    return act('a');
  };
  const run = await traced([pause, answer()], { clock });
  await isGolden('pause', run);
  expect(lasting(run, 'wait pause')).toBe(HOUR);
});

test('a cancel that finds a run and one below it at work', async () => {
  let cancel = (): void => undefined;
  const child = player('helper', () => {
    cancel();
    return answer();
  });
  const run = await spansWhile((note) => {
    const agent = { tools: [agentTool({ agent: child })] };
    const { run } = startRun([delegate(['helper', 'Help.'])], { agent, onEvent: note });
    cancel = () => run.cancel('enough');
    return run;
  });
  expect(run.step.status).toBe('canceled');
  await isGolden('cancel', run);
});

test('a cancel while people are asked', async () => {
  const [agent] = peopleAgents();
  if (agent === undefined) throw new Error('Expected an agent that waits, got none.');
  const run = await traceInMemory({ agent, people: (of) => of.cancel('enough') });
  expect(run.step.status).toBe('canceled');
  await isGolden('cancel-waiting', run);
});

test('limits of a run and of one below it', async () => {
  const child = player('helper', () => act('again'), { limits: { iterations: 1 } });
  const replies = [delegate(['helper', 'Help.']), act('a'), act('b')];
  const run = await traced(replies, {
    agent: { tools: [agentTool({ agent: child }), searchTool()], limits: { iterations: 2 } },
  });
  expect(run.step.status).toBe('limit_exceeded');
  await isGolden('limits', run);
});

test('fallbacks', async () => {
  const second = scriptedModel([answer('by the second')]);
  const first = scriptedModel([refusal(503), refusal(503)]);
  const run = await traced([], {
    agent: { model: 'first' },
    models: [
      { id: 'first', model: first.model, fallbacks: ['second'] },
      { id: 'second', model: second.model },
    ],
  });
  await isGolden('fallbacks', run);
});

test('an LLM tool whose model refuses a schema', async () => {
  const classify = llmTool({
    name: 'classify',
    prompt: 'Which label fits?\n{{review}}',
    signature: '(review :string) -> {label :string}',
    model: 'small',
  });
  const small = scriptedModel([
    refusal(400),
    { toolCalls: [{ name: 'respond', args: { label: 'x' } }] },
  ]);
  const run = await traced(
    ['<action>\n- tool: classify\n  args: {"review": "Slow."}\n</action>', answer()],
    {
      agent: { tools: [classify] },
      models: [{ id: 'small', model: small.model, structuredOutput: 'schema' }],
    },
  );
  await isGolden('llm-tool', run);
});

test('a compaction that asks a model', async () => {
  const run = await traced(
    [act('a'), act('b'), '<summary>\nBoth were found.\n</summary>', answer()],
    {
      agent: {
        compaction: {
          triggers: [counter('agent:iterations', 1)],
          strategies: [summarize({ keepRecent: 1 })],
        },
      },
    },
  );
  await isGolden('compaction', run);
});
