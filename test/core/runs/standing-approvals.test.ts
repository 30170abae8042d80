/** Approvals that hold for later calls of a run. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Json, JsonObject } from '../../../src/core/base/json.ts';
import type { Decision } from '../../../src/core/contract/pending.ts';
import { valueOf } from '../../../src/core/contract/stats.ts';
import type { ToolDefinition } from '../../../src/define/definition/definitions.ts';
import { defineTool } from '../../../src/define/tool/define-tool.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import { bodiesOf, START, type StartedRun } from '../../support/runs.ts';

/** A tool that notes what it has paid. */
function payer(paid: Json[], name = 'pay'): ToolDefinition {
  return defineTool({
    name,
    description: 'Pays.',
    parameters: z.object({ amount: z.number(), to: z.string().optional() }),
    effect: 'once',
    approval: 'always',
    execute: (args) => {
      paid.push(args.amount);
      return `paid ${args.amount}`;
    },
  }) as ToolDefinition;
}

/** A run whose model makes one call a reply, each given as its arguments or with its tool. */
function startCalls(
  calls: readonly JsonObject[],
  { paid = [] as Json[], handoverDue = (): boolean => false } = {},
): StartedRun & { readonly paid: Json[] } {
  const clock = createFakeClock(START);
  const script = scriptedModel([
    ...calls.map(({ tool = 'pay', ...args }) => ({
      toolCalls: [{ name: typeof tool === 'string' ? tool : 'pay', args }],
    })),
    'done',
  ]);
  const tools = [payer(paid), payer(paid, 'refund')];
  const limits = { iterations: 200 };
  const agent = defineAgent({ name: 'cashier', model: script.model, tools, limits });
  return { run: startInMemory({ agent, task: 'Go', clock, handoverDue }), script, clock, paid };
}

/** Decides in turn about each call that waits; returns the ids of those that did. */
async function decideAll(
  { run }: Pick<StartedRun, 'run'>,
  decisions: readonly Decision[],
): Promise<readonly string[]> {
  const asked: string[] = [];
  for (;;) {
    const seen = await run.resultOrPending();
    if (seen.kind === 'step') return asked;
    const id = seen.pending[0]?.id ?? '';
    run.decide(id, decisions[asked.length] ?? { deny: 'not decided' });
    asked.push(id);
  }
}

const TOOL: Decision = { approve: true, remember: 'tool' };
const ARGUMENTS: Decision = { approve: true, remember: 'arguments' };

describe('an approval that is remembered', () => {
  it('for a tool holds for all its later calls, over hand-overs, and for no other tool [chat 13]', async () => {
    const calls = [{ amount: 1 }, { amount: 2 }, { tool: 'refund', amount: 3 }, { amount: 4 }];
    const started = startCalls(calls, { handoverDue: () => true });
    const asked = await decideAll(started, [TOOL, { approve: true }]);
    const { run, paid } = started;
    const step = await run.result;

    expect(asked).toEqual(['1.1', '3.1']);
    expect(paid).toEqual([1, 2, 3, 4]);
    expect(run.state.standing).toEqual([{ id: '1.1', tool: 'pay', since: START }]);
    expect(bodiesOf(run.events, 'agent:approval:decided')).toEqual([
      {
        type: 'agent:approval:decided',
        callId: '1.1',
        waitedMs: 0,
        decision: 'approve',
        remember: 'tool',
      },
      { type: 'agent:approval:decided', callId: '2.1', decision: 'approve', standing: '1.1' },
      { type: 'agent:approval:decided', callId: '3.1', waitedMs: 0, decision: 'approve' },
      { type: 'agent:approval:decided', callId: '4.1', decision: 'approve', standing: '1.1' },
    ]);
    expect(valueOf(step.stats, 'agent:approvals_requested')).toBe(2);
  });

  it('for arguments holds for equal ones in any order, and no others', async () => {
    const calls = [
      { amount: 1, to: 'ada' },
      { to: 'ada', amount: 1 },
      { amount: 1, to: 'bob' },
      { amount: 1 },
    ];
    const started = startCalls(calls);
    const asked = await decideAll(started, [ARGUMENTS]);

    expect(asked).toEqual(['1.1', '3.1', '4.1']);
    expect(started.paid).toEqual([1, 1]);
    expect(started.run.state.standing).toEqual([
      { id: '1.1', tool: 'pay', args: { amount: 1, to: 'ada' }, since: START },
    ]);
  });

  it('ends when it is revoked', async () => {
    const started = startCalls([{ amount: 1 }, { tool: 'refund', amount: 2 }, { amount: 3 }]);
    const { run } = started;
    await run.resultOrPending();
    run.decide('1.1', TOOL);
    await run.resultOrPending();
    expect(() => run.revoke('9.9')).toThrow(
      'Expected `revoke` to be the id of a standing approval, got `9.9`. Choose one of: 1.1.',
    );
    run.revoke('1.1');
    const asked = await decideAll(started, [{ approve: true }, { deny: 'no' }]);

    expect(asked).toEqual(['2.1', '3.1']);
    expect(started.paid).toEqual([1, 2]);
    expect(run.state.standing).toEqual([]);
    expect(bodiesOf(run.events, 'agent:approval:revoked')).toEqual([
      { type: 'agent:approval:revoked', callId: '1.1' },
    ]);
    expect(() => run.revoke('1.1')).toThrow('Choose one of: there is none.');
  });

  it.each<{ readonly name: string; readonly decision: object; readonly message: string }>([
    {
      name: 'an unknown scope',
      decision: { approve: true, remember: 'everything' },
      message: 'remember with { approve: true, remember: "tool" }',
    },
    {
      name: 'edited arguments',
      decision: { args: {}, remember: 'tool' },
      message: 'remember with',
    },
    { name: 'a refusal', decision: { deny: 'no', remember: 'tool' }, message: 'remember with' },
  ])('is refused with $name', async ({ decision, message }) => {
    const { run } = startCalls([{ amount: 1 }]);
    await run.resultOrPending();

    expect(() => run.decide('1.1', decision as Decision)).toThrow(message);
  });

  it('is refused for arguments that are too large, and when there are too many', async () => {
    const large = startCalls([{ amount: 1, to: 'x'.repeat(4_096) }]);
    await large.run.resultOrPending();
    expect(() => large.run.decide('1.1', ARGUMENTS)).toThrow('at most 4096 are remembered');
    large.run.decide('1.1', TOOL);

    const many = startCalls(Array.from({ length: 101 }, (_, amount) => ({ amount })));
    for (let call = 1; call <= 100; call++) {
      await many.run.resultOrPending();
      many.run.decide(`${call}.1`, ARGUMENTS);
    }
    await many.run.resultOrPending();
    expect(() => many.run.decide('101.1', ARGUMENTS)).toThrow('at most 100 approvals');
    many.run.decide('101.1', { approve: true });
    await many.run.result;
    expect(many.run.state.standing).toHaveLength(100);
  });

  it('is not one of a fork', async () => {
    const started = startCalls([{ amount: 1 }, { amount: 2 }]);
    await decideAll(started, [TOOL]);
    const fork = started.run.fork({ iteration: 3 });

    expect(fork.state.standing).toBeUndefined();
    fork.cancel();
  });

  it('asks for exactly the calls for which none holds (property)', async () => {
    const call = fc.record({
      tool: fc.constantFrom('pay', 'refund'),
      amount: fc.integer({ min: 1, max: 2 }),
    });
    const scope = fc.constantFrom<'tool' | 'arguments' | undefined>('tool', 'arguments', undefined);
    const steps = fc.array(fc.tuple(call, scope), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const allowed = new Set<string>();
        const expected: string[] = [];
        const decisions: Decision[] = [];
        all.forEach(([{ tool, amount }, remember], at) => {
          const key = `${tool} ${amount}`;
          if (allowed.has(tool) || allowed.has(key)) return;
          expected.push(`${at + 1}.1`);
          decisions.push({ approve: true, ...(remember && { remember }) });
          if (remember !== undefined) allowed.add(remember === 'tool' ? tool : key);
        });
        const started = startCalls(all.map(([one]) => one));

        expect(await decideAll(started, decisions)).toEqual(expected);
        expect(started.paid).toEqual(all.map(([{ amount }]) => amount));
      }),
      { numRuns: 20 },
    );
  });
});
