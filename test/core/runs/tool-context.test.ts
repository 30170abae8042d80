/** What tools know of their run, and what they may do to gauges of their own. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agentTool } from '../../../src/define/tool/agent-tool.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { defineTool } from '../../../src/define/tool/define-tool.ts';
import { defineValidator } from '../../../src/define/tool/define-validator.ts';
import type {
  AgentDefinition,
  ToolContext,
  ToolDefinition,
} from '../../../src/define/definition/definitions.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import { scriptedModel, type ScriptedModel } from '../../../src/testing/scripted-model.ts';

type Act = (args: { readonly what: string }, context: ToolContext) => unknown;

function workTool(execute: Act, options: { readonly readsContext?: boolean } = {}): ToolDefinition {
  return defineTool({
    name: 'work',
    description: 'Works.',
    parameters: z.object({ what: z.string() }),
    ...options,
    execute,
  }) as ToolDefinition;
}

const work = (what: string) => ({ name: 'work', args: { what } });

/** An agent whose only tool does `act`. */
function shop({ model }: ScriptedModel, act: Act): AgentDefinition {
  return defineAgent({ name: 'shop', mode: 'chat', model, tools: [workTool(act)] });
}

describe('[R18] a tool', () => {
  test('knows the address, the conversation and the context of its run', async () => {
    const seen: unknown[] = [];
    const tool = workTool(
      (_args, { run, conversation, context }) => {
        seen.push({ run, conversation, context });
        return 'done';
      },
      { readsContext: true },
    );
    const script = scriptedModel([{ toolCalls: [work('look')] }, 'fine']);
    const agent = defineAgent({ name: 'desk', mode: 'chat', model: script.model, tools: [tool] });
    const context = { city: 'Ulm', _token: 'sesame' };
    const run = startInMemory({ agent, task: 'Look.', conversation: 'guest-42', context });

    expect(await run.result).toMatchObject({ status: 'success' });
    expect(seen).toEqual([{ run: run.address, conversation: 'guest-42', context }]);
    expect(JSON.stringify(script.requests)).not.toContain('sesame');
  });

  test('gets no context unless it asks for it', async () => {
    const seen: unknown[] = [];
    const tool = workTool((_args, context) => void seen.push('context' in context));
    const script = scriptedModel([{ toolCalls: [work('look')] }, 'fine']);
    const agent = defineAgent({ name: 'desk', mode: 'chat', model: script.model, tools: [tool] });
    await startInMemory({ agent, task: 'Look.', context: { city: 'Ulm' } }).result;

    expect(seen).toEqual([false]);
  });

  test('of a child, and a validator, know their own run and the conversation of the root', async () => {
    const seen: unknown[] = [];
    const note = ({ run, conversation }: Pick<ToolContext, 'run' | 'conversation'>): void =>
      void seen.push([run, conversation]);
    const helper = defineAgent({
      name: 'helper',
      mode: 'chat',
      description: 'Helps.',
      model: scriptedModel([{ toolCalls: [work('look')] }, 'helped']).model,
      tools: [workTool((_args, context) => note(context))],
    });
    const polite = defineValidator({
      name: 'polite',
      validate: (_answer, context) => {
        note(context);
        return { accepted: true };
      },
    });
    const calls = [{ name: 'helper', args: { task: 'Help.' } }];
    const agent = defineAgent({
      name: 'desk',
      mode: 'chat',
      model: scriptedModel([{ toolCalls: calls }, 'fine']).model,
      tools: [agentTool({ agent: helper })],
      validators: [polite],
    });
    const run = startInMemory({ agent, task: 'Look.', conversation: 'guest-42' });
    await run.result;

    expect(seen).toEqual([
      [run.children[0]?.address, 'guest-42'],
      [run.address, 'guest-42'],
    ]);
  });

  test('raises, resets and reads gauges, over a hand-over and beside other calls', async () => {
    const read: number[] = [];
    const act: Act = ({ what }, { gauge, raise, reset, read: valueOf }) => {
      if (what === 'open') raise('shop:open', 2);
      if (what === 'close') raise('shop:open', -1);
      if (what === 'set') {
        gauge('shop:open', 10);
        raise('shop:open');
      }
      if (what === 'reset') reset('shop:open');
      read.push(valueOf('shop:open'));
    };
    const script = scriptedModel([
      { toolCalls: [work('open'), work('open')] },
      { toolCalls: [work('close')] },
      { toolCalls: [work('set')] },
      { toolCalls: [work('reset')] },
      { toolCalls: [work('open')] },
      'fine',
    ]);
    const agent = shop(script, act);
    const run = startInMemory({
      agent,
      task: 'Open.',
      handoverDue: (_iteration, place) => place === 'boundary',
    });
    const { stats } = await run.result;

    // The two calls of the first turn overlap: each knows its own raise, and both count.
    expect(read).toEqual([2, 2, 3, 11, 0, 2]);
    expect(stats.gauges['shop:open']).toBe(2);
  });

  test('reads gauges of at most 8 KB, and says so for what is left out', async () => {
    const problems: string[] = [];
    const act: Act = ({ what }, { gauge, read }) => {
      if (what === 'fill') for (let i = 0; i < 500; i++) gauge(`shop:${'x'.repeat(20)}${i}`, i);
      else {
        try {
          expect(read(`shop:${'x'.repeat(20)}1`)).toBe(1);
          read('shop:none');
        } catch (error) {
          problems.push(String(error));
        }
      }
    };
    const script = scriptedModel([
      { toolCalls: [work('fill')] },
      { toolCalls: [work('read')] },
      'fine',
    ]);
    const agent = shop(script, act);
    await startInMemory({ agent, task: 'Fill.' }).result;

    expect(problems).toEqual([
      'UsageError: Expected at most 8 KB of gauges, so that `shop:none` can be read, got more. Use fewer keys, or shorter ones.',
    ]);
  });

  test('cannot raise a gauge beyond what counts exactly', async () => {
    const act: Act = (_args, { raise }) => {
      for (let i = 0; i < 3; i++) raise('shop:debt', -Number.MAX_VALUE);
    };
    const script = scriptedModel([{ toolCalls: [work('a')] }, { toolCalls: [work('b')] }, 'fine']);
    const agent = shop(script, act);
    const { stats } = await startInMemory({ agent, task: 'Borrow.' }).result;

    expect(stats.gauges['shop:debt']).toBe(Number.MIN_SAFE_INTEGER);
  });
});

describe('the id of a conversation', () => {
  test.each([
    ['', 'be text of 1 to 255 characters'],
    ['x'.repeat(256), 'be text of 1 to 255 characters'],
    ['é'.repeat(501), 'be text of 1 to 255 characters'],
    ['\ud800', 'have no control characters'],
    ['a ', 'have no space'],
    [7, 'be text of 1 to 255 characters'],
  ])('is refused at the start: %j', (conversation, expected) => {
    const agent = defineAgent({ name: 'desk', mode: 'chat', model: scriptedModel([]).model });
    expect(() => startInMemory({ agent, task: 'x', conversation: conversation as string })).toThrow(
      `Expected \`conversation\` to ${expected}`,
    );
  });
});
