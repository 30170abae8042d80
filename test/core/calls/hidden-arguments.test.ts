/** What a program hands to an agent: nothing hidden under a name that the agent's model reads. */
import { describe, expect, it, test } from 'vitest';
import { agentTool } from '../../../src/define/tool/agent-tool.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../../src/define/definition/definitions.ts';
import type { Json } from '../../../src/core/base/json.ts';
import type { Step } from '../../../src/core/contract/step.ts';
import { holdsHidden } from '../../../src/core/program-text/hidden-values.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';

const KEY = 'key-81c2d4';
const PIN = 48_151_623;
const TOKEN = 'tok-9f3a77';

const program = (source: string): string => `\`\`\`clojure\n${source}\n\`\`\``;

/** Gives a token that no model may see. */
function login(): AgentDefinition {
  return defineAgent({
    name: 'login',
    mode: 'lisp',
    maxTurns: 1,
    model: async () => program(`(return {:user "ann" :_token "${TOKEN}"})`),
    signature: '{user :string, _token :string}',
  });
}

/** Runs `sources` as the programs of an agent that can call `buyer`, and keeps all that models read. */
async function play(
  sources: readonly string[],
): Promise<{ readonly step: Step; readonly bought: number; readonly read: string }> {
  const buyer = scriptedModel([program('(return (count (str data/_token)))')]);
  const script = scriptedModel(sources.map(program));
  const agent = defineAgent({
    name: 'boss',
    mode: 'lisp',
    model: { id: 'm', model: script.model },
    tools: [
      agentTool({ agent: login() }),
      agentTool({
        agent: defineAgent({
          name: 'buyer',
          mode: 'lisp',
          maxTurns: 1,
          model: { id: 'b', model: buyer.model },
        }),
        parameters: { type: 'object', properties: { task: { type: 'string' } } },
      }),
    ],
  });
  const run = startInMemory({ agent, task: 'Buy.', context: { _key: KEY, _pin: PIN, shop: 'A' } });
  const step = await run.result;
  const bought = run.children.filter(({ state }) => state.head.spec.name === 'buyer').length;
  return { step, bought, read: JSON.stringify([script.requests, buyer.requests]) };
}

const SECRETS = new RegExp([KEY, PIN, TOKEN].join('|'));

describe('hidden values in the arguments of an agent [sub 19]', () => {
  const expected = (name: string): string =>
    `- ${name}: expected no hidden value, got one. Give it under a name that begins with \`_\`, or leave it out.`;

  it.each([
    { name: 'a text', args: '{:task "Buy." :token data/_key}', refused: ['token'] },
    {
      name: 'part of the task',
      args: '{:task (str "Buy with " data/_key ".")}',
      refused: ['task'],
    },
    { name: 'a number', args: '{:task "Buy." :pin data/_pin}', refused: ['pin'] },
    {
      name: 'deep in data, and as a key',
      args: '{:task "Buy." :orders [{:id 1 :by {:_key data/_key}}] :keys {data/_key 1} :n 1}',
      refused: ['keys', 'orders'],
    },
    {
      name: 'what another agent gave',
      args: '{:task "Buy." :token (:_token (tool/login {:task "in"}))}',
      refused: ['token'],
    },
  ])('are refused, and no agent starts: $name', async ({ args, refused }) => {
    const { step, bought, read } = await play([
      `(let [got (attempt (tool/buyer ${args}))] (return [(:reason (:error got)) (:message (:error got))]))`,
    ]);

    const [reason, message] = step.value as readonly string[];
    expect(reason).toBe('invalid_tool_args');
    const lines = String(message).split('\n');
    expect(lines[0]).toBe('the arguments do not fit buyer.');
    expect(lines.filter((line) => line.includes('hidden')).toSorted()).toEqual(
      refused.map(expected),
    );
    expect(bought).toBe(0);
    expect(read).not.toMatch(SECRETS);
  });

  it('are refused in the next programs, too, and the model reads why', async () => {
    const { step, bought, read } = await play([
      '(def token (:_token (tool/login {:task "in"})))',
      '(tool/buyer {:task "Buy." :token token})',
      '(return (tool/buyer {:task "Buy." :_token token}))',
    ]);

    expect([step.value, bought]).toEqual([TOKEN.length, 1]);
    expect(read).toContain('token: expected no hidden value, got one.');
    expect(read).not.toMatch(SECRETS);
  });

  it('reach it under a name with `_`, and what else a program makes of them is its own', async () => {
    const { step, bought, read } = await play([
      '(return (tool/buyer {:task "Buy." :_token {:key data/_key} :length (count data/_key) :shop data/shop}))',
    ]);

    expect(step.status).toBe('success');
    expect(bought).toBe(1);
    expect(read).not.toMatch(SECRETS);
  });
});

test.each<{ name: string; value: Json; holds: boolean }>([
  { name: 'the text', value: 'tok-9f3a77', holds: true },
  { name: 'a text around it', value: 'Bearer tok-9f3a77!', holds: true },
  { name: 'its beginning', value: 'tok-9f3a', holds: false },
  { name: 'the number', value: 48_151_623, holds: true },
  { name: 'the number as text', value: 'pin 48151623', holds: true },
  { name: 'a longer number', value: 481_516_230, holds: false },
  { name: 'an item', value: [1, ['tok-9f3a77']], holds: true },
  { name: 'a value of a map', value: { a: { b: 'tok-9f3a77' } }, holds: true },
  { name: 'a name in a map', value: { a: { 'tok-9f3a77': 1 } }, holds: true },
  { name: 'nothing of it', value: [null, true, 1.5, '', {}, 'token'], holds: false },
])('data holds a hidden value: $name', ({ value, holds }) => {
  expect(holdsHidden(value, [TOKEN, String(PIN)])).toBe(holds);
});
