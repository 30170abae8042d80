/** An agent whose `once` tool asks twice before it begins, and notes what it does in a file. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { ask } from '../../src/define/tool/ask.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';

/** What a tool has done, in the order in which it did: `asks`, `asks giro`, `sent`, `paid 1`. */
export function doneIn(folder: string): readonly string[] {
  const file = join(folder, 'done');
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
}

/** The agent `teller`. Its process kills itself as soon as it has noted `diesAt`. */
export function tellerAgents(folder: string, diesAt?: string): readonly AgentDefinition[] {
  const note = (text: string): void => {
    appendFileSync(join(folder, 'done'), `${text}\n`);
    if (text === diesAt) process.kill(process.pid, 'SIGKILL');
  };
  const send = defineTool({
    name: 'send',
    description: 'Sends money.',
    parameters: z.object({ amount: z.number() }),
    effect: 'once',
    asks: ({ amount }, { answer, state }) => {
      note(['asks', ...(answer === undefined ? [] : [JSON.stringify(answer)])].join(' '));
      if (answer === undefined) {
        return ask({
          question: 'From where?',
          schema: z.object({ from: z.enum(['giro', 'cash']) }),
        });
      }
      if (state !== undefined) return undefined;
      return ask({ question: `Send ${amount}?`, schema: z.boolean(), state: answer });
    },
    execute: (_args, { answer, state, idempotencyKey }) => {
      note('sent');
      return { answer, state, key: idempotencyKey.split('/').at(-1) };
    },
  }) as ToolDefinition;
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.number() }),
    effect: 'once',
    approval: 'always',
    execute: ({ amount }) => {
      note(`paid ${amount}`);
      return 'paid';
    },
  }) as ToolDefinition;
  const turns = [
    { name: 'send', args: { amount: 5_000 } },
    { name: 'pay', args: { amount: 1 } },
    { name: 'pay', args: { amount: 2 } },
    { name: 'pay', args: { amount: 3 } },
  ];
  const model = async ({ iteration }: { readonly iteration: number }) => {
    const turn = turns[iteration - 1];
    return turn === undefined ? 'done' : { toolCalls: [turn] };
  };
  return [defineAgent({ name: 'teller', model: { id: 't', model }, tools: [send, pay] })];
}
