/** Agents for the pages of the console: they write, ask, wait and work until a test lets them go on. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { textOf } from '../../src/core/base/message.ts';
import { peopleAgents } from './people-agents.ts';
import { delegate, player } from './trees.ts';

const PRICE = { input: 1, output: 5 };
const USAGE = { inputTokens: 400, outputTokens: 50 };

/** What models and tools of the agent `hostile` say. */
const HOSTILE: string = [
  '<img src=x onerror="document.title=1"><script>document.title=2</script>',
  '[click](javascript:alert(1)) ![pixel](http://elsewhere.invalid/a.png)',
  '[bank](https://evil.example/login)',
  'safe\u202Etxt.exe',
].join('\n\n');

/** The agents; a file in `gateDir` with the name of a gate opens it. */
export function consoleAgents(gateDir: string): readonly AgentDefinition[] {
  const opened = async (gate: string, signal: AbortSignal): Promise<void> => {
    while (!existsSync(join(gateDir, gate))) await sleep(20, undefined, { signal });
  };
  const nap = defineTool({
    name: 'nap',
    description: 'Waits until the gate is open.',
    parameters: z.object({ gate: z.string() }),
    effect: 'read',
    execute: async ({ gate }, { signal }) => {
      await opened(gate, signal);
      return 'rested';
    },
  }) as ToolDefinition;
  return [
    ...peopleAgents(),
    writer(opened),
    refunder(),
    patient(nap),
    hostile(),
    talker(opened),
    player('top', ({ iteration }) => (iteration === 1 ? BRANCHES : '<answer>whole</answer>'), {
      children: [
        player(
          'leaf',
          ({ iteration }) => (iteration === 1 ? napping('tree') : '<answer>green</answer>'),
          { tools: [nap] },
        ),
      ],
      limits: { totalTokens: 1_000 },
    }),
  ];
}

const BRANCHES = delegate(['leaf', 'the left branch'], ['leaf', 'the right branch']);

const napping = (gate: string): string =>
  `<thinking>I wait.</thinking>\n<action>\ntool: nap\nargs:\n  gate: ${gate}\n</action>`;

/** Writes half of its answer, and the rest when the gate `writer` is open. */
function writer(opened: (gate: string, signal: AbortSignal) => Promise<void>): AgentDefinition {
  const model: ModelFunction = async (_request, { onChunk, signal }) => {
    onChunk({ kind: 'text', delta: '<answer>The refund of May is ' });
    await opened('writer', signal);
    onChunk({ kind: 'text', delta: 'paid.</answer>' });
    return { content: '<answer>The refund of May is paid.</answer>', usage: USAGE };
  };
  return defineAgent({
    name: 'writer',
    mode: 'react',
    model: { id: 'writer/m', price: PRICE, model },
    limits: { costUsd: 0.5 },
  });
}

/** Repeats what was said last; after `hold`, when the gate `talker` is open. */
function talker(opened: (gate: string, signal: AbortSignal) => Promise<void>): AgentDefinition {
  const model: ModelFunction = async ({ messages }, { signal }) => {
    const said = messages.findLast(({ role }) => role === 'user');
    const text = said === undefined ? '' : textOf(said);
    if (text === 'hold') await opened('talker', signal);
    return { content: `You said: ${text}`, usage: USAGE };
  };
  return defineAgent({
    name: 'talker',
    mode: 'chat',
    model: { id: 'talker/m', price: PRICE, model },
  });
}

const PROGRAM = `I refund what came late.

\`\`\`clojure
(def orders (tool/orders {:month "may"}))
(def late (filter (fn [o] (> (:days o) 3)) orders))
(def paid (tool/refund {:order (:id (first late)) :amount 120}))
(return (str "refunded " (:refunded paid)))
\`\`\``;

/** Refunds an order by a program of four forms; the refund waits for a person. */
function refunder(): AgentDefinition {
  const orders = defineTool({
    name: 'orders',
    description: 'Lists the orders of a month.',
    parameters: z.object({ month: z.string() }),
    effect: 'read',
    execute: () => [
      { id: 'A-1', days: 1 },
      { id: 'A-2', days: 6 },
    ],
  }) as ToolDefinition;
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds an order.',
    parameters: z.object({ order: z.string(), amount: z.number() }),
    effect: 'once',
    approval: 'always',
    execute: ({ order }) => ({ refunded: order }),
  }) as ToolDefinition;
  return defineAgent({
    name: 'refunder',
    mode: 'lisp',
    model: {
      id: 'refunder/m',
      price: PRICE,
      model: async () => ({ content: PROGRAM, usage: USAGE }),
    },
    tools: [orders, refund],
  });
}

/** Naps until it hears of plan Z, and says when it has heard of plan B. */
function patient(nap: ToolDefinition): AgentDefinition {
  const model: ModelFunction = async ({ messages }) => {
    const hears = (words: string): boolean => messages.some((each) => textOf(each).includes(words));
    const content = hears('plan Z')
      ? '<answer>Enough waited.</answer>'
      : napping('patient').replace('I wait.', hears('plan B') ? 'On to the other.' : 'I wait.');
    return { content, usage: USAGE };
  };
  return defineAgent({
    name: 'patient',
    mode: 'react',
    model: { id: 'patient/m', price: PRICE, model },
    tools: [nap],
    limits: { iterations: 8, costUsd: 0.5 },
  });
}

/** Says and reads {@link HOSTILE}, and a line of a megabyte; then asks with the same words. */
function hostile(): AgentDefinition {
  const fetch = defineTool({
    name: 'fetch',
    description: 'Fetches a page.',
    parameters: z.record(z.string(), z.unknown()),
    effect: 'read',
    execute: () => `${HOSTILE}\n${'x'.repeat(1_000_000)}`,
  }) as ToolDefinition;
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.record(z.string(), z.unknown()),
    effect: 'once',
    approval: 'always',
    execute: () => 'paid',
  }) as ToolDefinition;
  const called = (tool: string): string =>
    `<thinking>${HOSTILE}</thinking>\n<action>\n${JSON.stringify({
      tool,
      args: JSON.parse(`{"__proto__":{"admin":true},"constructor":${JSON.stringify(HOSTILE)}}`),
    })}\n</action>`;
  return defineAgent({
    name: 'hostile',
    mode: 'react',
    model: {
      id: 'hostile/m',
      price: PRICE,
      model: async ({ iteration }) => ({
        content:
          iteration === 1
            ? called('fetch')
            : iteration === 2
              ? called('pay')
              : `<answer>${HOSTILE}</answer>`,
        usage: USAGE,
      }),
    },
    tools: [fetch, pay],
  });
}
