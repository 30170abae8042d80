/** Agents whose person says what they do: every kind of part that a message of a page can have. */
import { agentTool } from '../../src/define/tool/agent-tool.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { clientTool } from '../../src/define/tool/client-tool.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { toolResult } from '../../src/define/tool/tool-result.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { textOf, type Message } from '../../src/core/base/message.ts';
import type { ModelFunction, ModelReply, ModelRequest } from '../../src/core/contract/model.ts';
import { searchTool } from './runs.ts';

const PIXEL = 'iVBORw0KGgo=';

const draw = defineTool({
  name: 'draw',
  description: 'Draws.',
  effect: 'read',
  execute: () =>
    toolResult({
      output: 'drawn',
      media: [{ type: 'media', mediaType: 'image/png', data: PIXEL }],
    }),
});

const broken = defineTool({
  name: 'broken',
  description: 'Never works.',
  effect: 'read',
  execute: () => {
    throw new Error('No paper.');
  },
});

const track = defineTool({
  name: 'track',
  description: 'Shows where a parcel is.',
  effect: 'read',
  execute: (_args, { emit }) => {
    emit('shop:parcel', { at: 'Rome' }, { id: 'p1', keep: true });
    emit('shop:parcel', { at: 'Pisa' }, { id: 'p1', keep: true });
    return 'in Pisa';
  },
});

const place = clientTool({ name: 'place', description: 'Where the user is.' });

/** What was booked, in all tests of this process. */
export const booked: string[] = [];

const book = defineTool({
  name: 'book',
  description: 'Books.',
  effect: 'once',
  approval: 'always',
  parameters: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] },
  execute: (args) => {
    const { what } = args as { readonly what: string };
    booked.push(what);
    return `${what} is booked`;
  },
});

/** Asks for a colour, books what it is told in it, and says so. */
const helper = defineAgent({
  name: 'helper',
  description: 'Books in a colour.',
  tools: [book],
  askUser: true,
  model: {
    id: 'helper-model',
    model: async ({ messages }) => {
      const results = resultsIn(messages);
      if (results.length === 0) return call('ask_user', { question: 'Which colour?' });
      if (results.length === 1) return call('book', { what: `the ${results[0]} one` });
      return `Done: ${results[1]}.`;
    },
  },
});

/** An agent that a page talks with, and what it was asked. */
export interface Clerk {
  readonly agent: AgentDefinition;
  readonly requests: readonly ModelRequest[];
}

/** It does what the last message says; `held` is what it waits for after "wait". */
export function clerk(name: string, held: Promise<void> = Promise.resolve()): Clerk {
  const requests: ModelRequest[] = [];
  const model: ModelFunction = async (request, { onChunk }) => {
    requests.push(request);
    const said = request.messages.findLastIndex(({ role, parts }) => {
      return role === 'user' && parts.some(({ type }) => type === 'text');
    });
    const results = resultsIn(request.messages.slice(said));
    const text = textOf(request.messages[said] ?? { role: 'user', parts: [] });
    const isFirst = results.length === 0;
    switch (isFirst ? text : '') {
      case 'look up':
        onChunk({ kind: 'reasoning', delta: 'Where? ' });
        onChunk({ kind: 'text', delta: 'I ' });
        onChunk({ kind: 'text', delta: 'look.' });
        return {
          parts: [
            { type: 'reasoning', text: 'Where? ' },
            { type: 'text', text: 'I look.' },
          ],
          toolCalls: [
            { name: 'search', args: { query: 'x' } },
            { name: 'broken', args: {} },
          ],
        };
      case 'draw':
        return call('draw', {});
      case 'track':
        return call('track', {});
      case 'place':
        return call('place', {});
      case 'ask':
        return call('ask_user', { question: 'Tea or coffee?', options: ['tea', 'coffee'] });
      case 'book':
        return { ...call('book', { what: 'a table' }), content: 'I book.' };
      case 'delegate':
        return call('helper', { task: 'Book it.' });
      case 'fail':
        throw Object.assign(new Error('no'), { statusCode: 400 });
      case 'wait':
        onChunk({ kind: 'text', delta: 'Half' });
        await held;
        return { content: 'Half and half.', usage: { inputTokens: 10, outputTokens: 2 } };
      default:
        return {
          content: isFirst ? `re: ${text}` : `Got ${results.join(', ')}.`,
          usage: { inputTokens: 10, outputTokens: 2 },
        };
    }
  };
  const agent = defineAgent({
    name,
    tools: [searchTool(), draw, broken, track, place, book, agentTool({ agent: helper })],
    askUser: true,
    model: { id: `${name}-model`, model, price: { input: 1, output: 5 } },
  });
  return { agent, requests };
}

function call(
  name: string,
  args: Readonly<Record<string, string | readonly string[]>>,
): ModelReply {
  return { toolCalls: [{ name, args }], usage: { inputTokens: 10, outputTokens: 2 } };
}

function resultsIn(messages: readonly Message[]): readonly string[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === 'tool_result' ? [textOf({ role: 'tool', parts: part.parts })] : [],
    ),
  );
}
