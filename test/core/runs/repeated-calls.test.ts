/** A model that makes the same call with the same result again and again. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { defineTool } from '../../../src/define/tool/define-tool.ts';
import type { AgentOptions } from '../../../src/define/agent/agent-options.ts';
import type { ToolDefinition } from '../../../src/define/definition/definitions.ts';
import type { ToolOptions } from '../../../src/define/tool/tool-options.ts';
import type { ModelReply } from '../../../src/core/contract/model.ts';
import { startInMemory, type MemoryRunOptions } from '../../../src/testing/run-in-memory.ts';
import type { MemoryRun } from '../../../src/testing/memory-run.ts';
import { bodiesOf } from '../../support/runs.ts';

type Reply = ModelReply | string;

function tool(fields: Partial<ToolOptions> = {}): ToolDefinition {
  return defineTool({
    name: 'look',
    description: 'Looks.',
    parameters: z.object({ at: z.string() }),
    execute: () => 'nothing new',
    ...(fields as object),
  }) as ToolDefinition;
}

const look = (at = 'box'): Reply => ({ toolCalls: [{ name: 'look', args: { at } }] });

/** A run whose model gives `replies`, and the last of them for ever. */
function start(
  replies: readonly Reply[],
  {
    agent = {},
    ...options
  }: Partial<Omit<MemoryRunOptions, 'agent'>> & {
    readonly agent?: Partial<AgentOptions>;
  } = {},
): { readonly run: MemoryRun; readonly read: readonly string[] } {
  const read: string[] = [];
  let asked = 0;
  const run = startInMemory({
    agent: defineAgent({
      name: 'looker',
      mode: 'chat',
      tools: [tool()],
      model: async ({ messages }) => {
        read.push(JSON.stringify(messages.slice(-2)));
        return replies[Math.min(asked++, replies.length - 1)] as Reply;
      },
      ...agent,
    }),
    task: 'Look.',
    ...options,
  });
  return { run, read };
}

/** For each request, whether its last message warns. */
const warned = (read: readonly string[]): readonly boolean[] =>
  read.map((text) => text.includes('Warning: this call was made'));

const times = (count: number, reply: Reply): readonly Reply[] =>
  Array.from({ length: count }, () => reply);

describe('the same call with the same result', () => {
  test('is told to the model from the fifth on, and ends the run at the eighth', async () => {
    const { run, read } = start([look()]);
    const step = await run.result;

    expect(step).toMatchObject({
      status: 'limit_exceeded',
      reason: 'agent:repeated_calls',
      message:
        'limit exceeded: agent:repeated_calls is 8, the limit is 7: the model made the same call ' +
        'with the same result in so many replies in a row. If it may, set `repeatable: true` on ' +
        'the tool, or another limit under `custom`',
    });
    expect(step.usage.toolCalls).toBe(8);
    expect(warned(read)).toEqual([false, false, false, false, false, true, true, true]);
    expect(read[5]).toContain(
      'Warning: this call was made in 5 replies in a row with the same arguments, and each time the ' +
        'result was the same. Do not make it again: use what you know, or do something else. ' +
        'At 8 the run ends.',
    );
    expect(read[5]).toContain('nothing new');
    expect(bodiesOf(run.events, 'agent:warning')).toEqual([
      expect.objectContaining({ code: 'repeated_calls' }),
    ]);
    expect(bodiesOf(run.events, 'agent:tool_call:after').map(({ repeats }) => repeats)).toEqual([
      undefined,
      2,
      3,
      4,
      5,
      6,
      7,
      8,
    ]);
  });

  test('counts over hand-overs, through JSON', async () => {
    const { run, read } = start([look()], {
      handoverDue: (_iteration, place) => place === 'boundary',
    });
    const step = await run.result;

    expect([step.reason, step.usage.toolCalls]).toEqual(['agent:repeated_calls', 8]);
    expect(warned(read).filter(Boolean)).toHaveLength(3);
    expect(run.state.link).toBeGreaterThan(5);
  });

  test('begins anew after another call, another result, and what a person says', async () => {
    const other = start([...times(4, look()), look('shelf'), ...times(4, look()), 'done']);
    expect((await other.run.result).status).toBe('success');
    expect(warned(other.read)).not.toContain(true);

    let calls = 0;
    const changing = tool({ execute: () => `news ${Math.floor(calls++ / 4)}` });
    const results = start([...times(12, look()), 'done'], { agent: { tools: [changing] } });
    expect((await results.run.result).status).toBe('success');
    expect(warned(results.read)).not.toContain(true);

    const said = start([...times(8, look()), 'done'], {
      onEvent: (event, run) => {
        if (event.type === 'agent:iteration:before' && event.iteration === 4) run.send('Again.');
      },
    });
    expect((await said.run.result).status).toBe('success');
    expect(said.run.state.stats.gauges['agent:repeated_calls']).toBeLessThan(5);
  });

  test('is no matter for a tool that says `repeatable`', async () => {
    const agent = { tools: [tool({ repeatable: true })] };
    const { run, read } = start([...times(20, look()), 'done'], { agent });

    expect((await run.result).status).toBe('success');
    expect(warned(read)).not.toContain(true);
    expect(run.state.head.spec.tools[0]?.repeatable).toBe(true);
  });

  test('has a limit that can be set, adjusted and lifted', async () => {
    const custom = [{ kind: 'exact', key: 'agent:repeated_calls', max: 20 }] as const;
    const set = start([...times(15, look()), 'done'], { limits: { custom } });
    expect((await set.run.result).status).toBe('success');
    expect(set.read.at(-1)).toContain('in 15 replies in a row');
    expect(set.read.at(-1)).toContain('At 21 the run ends.');

    const adjusted = start([...times(15, look()), 'done'], {
      onEvent: (event, run) => {
        if (event.type === 'agent:iteration:before' && event.iteration === 6) {
          run.adjust({ custom });
        }
      },
    });
    expect((await adjusted.run.result).status).toBe('success');
    const lifted = start([...times(15, look()), 'done'], { limits: 'unlimited' });
    expect((await lifted.run.result).status).toBe('success');
    expect(lifted.read.at(-1)).not.toContain('the run ends');
  });

  test.each([
    { mode: 'react', toolchain: 'yaml', reply: '<action>\ntool: look\nargs: {at: box}\n</action>' },
    {
      mode: 'react',
      toolchain: 'json',
      reply: '<action>{"tool": "look", "args": {"at": "box"}}</action>',
    },
  ] as const)(
    'counts in mode $mode with calls as $toolchain',
    async ({ mode, toolchain, reply }) => {
      const { run, read } = start([reply], { agent: { mode, toolchain, format: 'xml' } });
      const step = await run.result;

      expect([step.reason, step.usage.toolCalls]).toEqual(['agent:repeated_calls', 8]);
      expect(warned(read).filter(Boolean)).toHaveLength(3);
    },
  );

  test('of one reply counts once', async () => {
    const batch: Reply = {
      toolCalls: times(8, '').map(() => ({ name: 'look', args: { at: 'box' } })),
    };
    const once = start([batch, 'done']);
    expect(await once.run.result).toMatchObject({ status: 'success' });
    expect(warned(once.read)).not.toContain(true);

    const { run, read } = start([batch]);
    expect(await run.result).toMatchObject({ reason: 'agent:repeated_calls', iterations: 8 });
    expect(warned(read).filter(Boolean)).toHaveLength(3);
    expect(bodiesOf(run.events, 'agent:warning')).toHaveLength(1);
  });

  test('counts failures that the model may repeat', async () => {
    const failing = tool({
      retry: { attempts: 1 },
      execute: () => {
        throw new Error('closed');
      },
    });
    const limits = {
      custom: [{ kind: 'exact', key: 'agent:tool_calls_error_consecutive', max: 50 }],
    } as const;
    const failed = start([look()], { agent: { tools: [failing] }, limits });
    expect(await failed.run.result).toMatchObject({ reason: 'agent:repeated_calls' });
    expect(failed.read.at(-1)).toMatch(/Error: closed\\nWarning: this call was made in 7 replies/);
  });

  test('keeps a digest, whatever the size of the call and its result', async () => {
    const large = tool({ execute: () => 'x'.repeat(60_000) });
    const { run } = start([look('y'.repeat(50_000)), 'done'], { agent: { tools: [large] } });
    await run.result;

    expect(JSON.stringify(run.state.repeated).length).toBeLessThan(60);
  });

  test('of programs is none: their calls do not count', async () => {
    const program =
      '```clojure\n(do (dotimes [_ 12] (tool/look {:at "box"})) (return "done"))\n```';
    const { run } = start([program], { agent: { mode: 'lisp' } });

    expect(await run.result).toMatchObject({ status: 'success', value: 'done' });
    expect(run.state.stats.gauges['agent:repeated_calls']).toBeUndefined();
  });
});
