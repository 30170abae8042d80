/** What is wrong with calls and with tools: the model reads it, the run goes on. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { jsonToolchain } from '../../src/define/agent/reply-layout.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { ToolDefinition } from '../../src/define/definition/definitions.ts';
import { ToolError } from '../../src/core/base/tool-error.ts';
import { extentOf } from '../support/extent.ts';
import { bodiesOf, hasNoGap } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage.close());

const cycle: { self?: unknown } = {};
cycle.self = cycle;
const tries = { flaky: 0, broken: 0 };

function tool(name: string, execute: () => unknown, attempts = 1): ToolDefinition {
  return defineTool({ name, description: 'A tool.', retry: { attempts, initialMs: 10 }, execute });
}

const TOOLS: readonly ToolDefinition[] = [
  defineTool({
    name: 'typed',
    description: 'Takes a number.',
    parameters: z.object({ count: z.number() }),
    execute: ({ count }) => count,
  }) as ToolDefinition,
  tool('refuses', () => {
    throw new ToolError('there is no such booking');
  }),
  tool(
    'flaky',
    () => {
      tries.flaky += 1;
      if (tries.flaky === 1) throw new Error('passing trouble');
      return 'fine';
    },
    3,
  ),
  tool(
    'broken',
    () => {
      tries.broken += 1;
      throw new Error('always trouble');
    },
    3,
  ),
  tool('huge', () => 'x'.repeat(3_000_000)),
  tool('mapped', () => ({ found: new Map([['a', 1]]) })),
  tool('circular', () => cycle),
  tool('silent', () => undefined),
];

const CUT_BYTES = 65_536;

/** Each row is one call in one turn: what the model reads of it, and how often it was tried. */
const CALLS: readonly {
  readonly call: string;
  readonly outcome: string;
  readonly attempts: number;
  readonly text: string;
}[] = [
  {
    call: '{"tool": "tpyed", "args": {}}',
    outcome: 'rejected',
    attempts: 0,
    text: 'Error: unknown tool "tpyed". Did you mean typed? Tools: typed, refuses, flaky, broken, huge, mapped, circular, silent.',
  },
  { call: '{"tool": "silent", "args": {}}', outcome: 'ok', attempts: 1, text: '(no output)' },
  {
    call: '{"tool": "typed", "args": {"count": "many"}}',
    outcome: 'rejected',
    attempts: 1,
    text: 'Error: the arguments do not fit typed.\n- count: expected number, got string "many"\nParameters:\n- count (number, required)',
  },
  {
    call: '{"tool": "flaky", "args": {}}',
    outcome: 'ok',
    attempts: 2,
    text: 'fine',
  },
  {
    call: '{"tool": "refuses", "args": {}}',
    outcome: 'error',
    attempts: 1,
    text: 'Error: there is no such booking',
  },
  {
    call: '{"tool": "broken", "args": {}}',
    outcome: 'error',
    attempts: 3,
    text: 'Error: always trouble',
  },
  {
    call: '{"tool": "huge", "args": {}}',
    outcome: 'ok',
    attempts: 1,
    text: `${'x'.repeat(CUT_BYTES)}\n[cut: ${CUT_BYTES} of 3000000 bytes shown]`,
  },
  {
    call: '{"tool": "mapped", "args": {}}',
    outcome: 'error',
    attempts: 1,
    text: 'Error: the result of mapped is not JSON: found is Map.',
  },
  {
    call: '{"tool": "circular", "args": {}}',
    outcome: 'error',
    attempts: 1,
    text: 'Error: the result of circular is not JSON: self is a cycle.',
  },
];

it('tells the model what became of each bad call, and loses nothing', async () => {
  Object.assign(tries, { flaky: 0, broken: 0 });
  const agent = defineAgent({
    name: 'tester',
    mode: 'react',
    toolchain: jsonToolchain(),
    tools: TOOLS,
    limits: 'unlimited',
    model: {
      id: 'm',
      model: async ({ iteration }) => {
        const row = CALLS[iteration - 1];
        return row === undefined ? '<answer>done</answer>' : `<action>${row.call}</action>`;
      },
    },
  });
  const { everloop } = await stage.serve([agent]);

  const run = await everloop.start('tester', { task: 'Go' });
  const step = await run.result();

  expect(step).toMatchObject({ status: 'success', iterations: CALLS.length + 1 });
  const events = await run.events();
  expect(hasNoGap(events)).toBe(true);
  expect(
    bodiesOf(events, 'agent:tool_call:after').map(({ outcome, attempts }) => ({
      outcome,
      attempts,
    })),
  ).toEqual(CALLS.map(({ outcome, attempts }) => ({ outcome, attempts })));
  const transcript = await run.transcript();
  const read = transcript.slice(0, -1).map(({ messages }) => {
    const part = messages[1]?.parts[0];
    return part?.type === 'sections' ? part.sections[0]?.children?.[0]?.content : part;
  });
  expect(read).toEqual(CALLS.map(({ text }) => text));
  expect(tries).toEqual({ flaky: 2, broken: 3 });
  await stage.replay(run);
});

it.each(
  extentOf<[effect: 'idempotent' | 'once', outcome: object]>([
    ['idempotent', { outcome: 'ok', attempts: 1, losses: expect.any(Number) as number }],
    [
      'once',
      {
        outcome: 'unknown',
        attempts: 1,
        error:
          'Error: it is unknown whether blocks took effect. Find out before you call it again.',
      },
    ],
  ]),
)(
  '[R2] tells what a tool (%s) tried from what it took down with its process',
  async (effect, outcome) => {
    const heartbeatMs = 1_000;
    let tries = 0;
    const blocks = defineTool({
      name: 'blocks',
      description: 'Nothing else runs meanwhile, no heartbeat either.',
      effect,
      execute: () => {
        tries += 1;
        if (tries > 1) return;
        // Until the service has surely noticed that nobody is there.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 * heartbeatMs);
      },
    });
    const agent = defineAgent({
      name: 'tester',
      mode: 'react',
      tools: [blocks],
      model: {
        id: 'm',
        model: async ({ iteration }) =>
          iteration === 1
            ? '<action>\n- tool: blocks\n  args: {}\n</action>'
            : '<answer>done</answer>',
      },
    });
    const { everloop } = await stage.serve([agent], { heartbeatMs });

    const run = await everloop.start('tester', { task: 'Go' });
    expect(await run.result()).toMatchObject({ status: 'success' });

    expect(bodiesOf(await run.events(), 'agent:tool_call:after')).toMatchObject([
      { tool: 'blocks', started: true, ...outcome },
    ]);
    await stage.replay(run);
  },
);
