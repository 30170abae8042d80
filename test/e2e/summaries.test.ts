/** What Temporal's own UI shows for a run, its activities and its children. */
import { defaultPayloadConverter } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { agentTool } from '../../src/define/tool/agent-tool.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { defineValidator } from '../../src/define/tool/define-validator.ts';
import type { ToolDefinition } from '../../src/define/definition/definitions.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

/** Each event that has a summary, and its details: what was scheduled, started or recorded. */
async function summariesOf(id: string): Promise<readonly string[]> {
  const { events } = await stage.client.workflow.getHandle(id).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const { summary, details } = event.userMetadata ?? {};
    const what =
      event.activityTaskScheduledEventAttributes?.activityType?.name ??
      event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowType?.name ??
      event.markerRecordedEventAttributes?.markerName ??
      'start';
    const texts = [summary, details].flatMap((payload) =>
      payload ? [defaultPayloadConverter.fromPayload<string>(payload)] : [],
    );
    return texts.length === 0 ? [] : [[what, ...texts].join(' | ')];
  });
}

const look = (name: string, local: boolean): ToolDefinition =>
  defineTool({
    name,
    description: 'Looks a flight up.',
    parameters: z.object({ flight: z.string() }),
    effect: 'read',
    local,
    execute: ({ flight }) => `${flight} leaves at nine`,
  }) as ToolDefinition;

const polite = defineValidator({ name: 'polite', validate: () => ({ accepted: true }) });

function calling(...calls: readonly (readonly [name: string, args: object])[]): ModelFunction {
  return async ({ iteration }) => {
    const call = calls[iteration - 1];
    if (call === undefined) return 'done';
    return { toolCalls: [{ name: call[0], args: call[1] as never }] };
  };
}

describe('summaries', () => {
  it('name what is called, with its arguments', async () => {
    const helper = defineAgent({
      name: 'helper',
      mode: 'chat',
      description: 'Helps.',
      model: { id: 'small', model: calling() },
    });
    const agent = defineAgent({
      name: 'desk',
      mode: 'chat',
      model: {
        id: 'large',
        model: calling(
          ['lookup', { flight: 'AA100' }],
          ['peek', { flight: 'AA101' }],
          ['helper', { task: 'Find a seat.' }],
        ),
      },
      tools: [look('lookup', false), look('peek', true), agentTool({ agent: helper })],
      validators: [polite],
      // With one, reads do not run beside replies.
      modelMiddleware: [(request, next) => next(request)],
    });
    const { everloop } = await stage.serve([agent, helper]);

    const run = await everloop.start('desk', { task: 'Move my flight.' });
    const step = await run.result();

    expect(step.status).toBe('success');
    expect(await summariesOf(run.id)).toEqual([
      'start | desk: Move my flight.',
      'callModel | large',
      'callTool | lookup(AA100)',
      'callModel | large',
      'core_local_activity | peek(AA101)',
      'callModel | large',
      'agent | helper: Find a seat. | desk/3/helper\n\nFind a seat.',
      'callModel | large',
      'judgeAnswer | polite',
    ]);
    await stage.replay(run);
  });

  it('of long texts in any script do not keep a run or a child from starting', async () => {
    const task = '茶'.repeat(20_000);
    const reader = defineAgent({
      name: 'reader',
      mode: 'chat',
      model: { id: 'small', model: calling() },
    });
    const agent = defineAgent({
      name: 'asker',
      mode: 'chat',
      model: { id: 'large', model: calling(['reader', { task }]) },
      tools: [agentTool({ agent: reader })],
    });
    const { everloop } = await stage.serve([agent, reader]);

    const run = await everloop.start('asker', { task });

    expect(await run.result()).toMatchObject({ status: 'success', children: [{}] });
    const lines = await summariesOf(run.id);
    expect(lines.map((line) => line.length < 1_500)).toEqual([true, true, true, true]);
  });

  it('hold no hidden value that a program passes on', async () => {
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ account: z.string(), cents: z.number() }),
      execute: ({ cents }) => cents,
    });
    const agent = defineAgent({
      name: 'payer',
      mode: 'lisp',
      model: {
        id: 'm',
        model: async () =>
          '```clojure\n(return (tool/pay {:account (str "of " data/_account) :cents 5}))\n```',
      },
      tools: [pay],
    });
    const { everloop } = await stage.serve([agent]);

    const run = await everloop.start('payer', {
      task: 'Pay.',
      context: { _account: 'AT-611-904-300' },
    });

    expect((await run.result()).value).toBe(5);
    expect(await summariesOf(run.id)).toContain('callTool | pay(account: of <hidden>, cents: 5)');
  });
});
