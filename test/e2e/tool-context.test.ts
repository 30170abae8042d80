/** What tools know of their run, on a server. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { agentTool } from '../../src/define/tool/agent-tool.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { ToolDefinition } from '../../src/define/definition/definitions.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import type { ToolEffect } from '../../src/core/contract/spec.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

/** What each tool has seen; of its context, what a failing test can print. */
const seen: Record<string, { readonly run: string; readonly [field: string]: unknown }> = {};

function look(name: string, effect: ToolEffect): ToolDefinition {
  return defineTool({
    name,
    description: 'Looks around.',
    effect,
    readsContext: true,
    execute: (_args, { run, runId, conversation, context }) => {
      const { city, _token, notes } = context ?? {};
      seen[name] = {
        run,
        runId,
        conversation,
        city,
        _token,
        length: JSON.stringify(notes ?? '').length - 2,
      };
    },
  }) as ToolDefinition;
}

const calling =
  (...names: readonly string[]): ModelFunction =>
  async ({ iteration }) =>
    iteration > 1
      ? 'done'
      : {
          toolCalls: names.map((name) => ({
            name,
            args: name === 'helper' ? { task: 'Help.', city: 'Bonn' } : {},
          })),
        };

describe('[R18] the tools of a run', () => {
  it('know its address, conversation and context, and those of a child know theirs', async () => {
    const helper = defineAgent({
      name: 'helper',
      mode: 'chat',
      description: 'Helps.',
      model: { id: 'small', model: calling('deep') },
      tools: [look('deep', 'read')],
    });
    const parameters = {
      type: 'object',
      properties: { task: { type: 'string' }, city: { type: 'string' } },
      required: ['task', 'city'],
    } as const;
    const agent = defineAgent({
      name: 'desk',
      mode: 'chat',
      model: { id: 'large', model: calling('here', 'once', 'helper') },
      tools: [look('here', 'read'), look('once', 'once'), agentTool({ agent: helper, parameters })],
    });
    const { everloop } = await stage.serve([agent, helper]);
    const context = { city: 'Ulm', _token: 'sesame', notes: 'x'.repeat(50_000) };

    const chat = everloop.conversation('desk', { context });
    const { run } = chat;
    const step = await (await chat.say('Look around.')).result();

    expect(step).toMatchObject({ status: 'success' });
    const told = { city: 'Ulm', _token: 'sesame', length: 50_000 };
    const own = { run: run.id, runId: step.runId, conversation: chat.id, ...told };
    expect(seen['here']).toEqual(own);
    expect(seen['once']).toEqual(own);
    const deep = seen['deep'] as (typeof seen)[string];
    expect(deep).toMatchObject({ conversation: chat.id, city: 'Bonn' });
    const child = await everloop.attach(deep.run).result();
    expect([child.agent, child.runId]).toEqual(['helper', deep['runId']]);
    // The context entered history with the message, and not with each call.
    const { events } = await stage.client.workflow.getHandle(run.id).fetchHistory();
    const copies = (events ?? []).filter((event) => JSON.stringify(event).length > 50_000);
    expect(copies.length).toBeLessThanOrEqual(2);
  });
});
