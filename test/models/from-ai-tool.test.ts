/** Tools of the AI SDK as tools of agents. */
import * as ai6 from 'ai';
import * as ai7 from '@ai-sdk-7/ai';
import * as anthropic6 from '@ai-sdk/anthropic';
import * as anthropic7 from '@ai-sdk-7/anthropic';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, fromAiTool, type AiTool } from '../../src/index.ts';
import { scriptedModel, startInMemory } from '../../src/testing.ts';
import { AI_SDK } from '../support/aimock.ts';

const { tool, jsonSchema } = AI_SDK === 7 ? (ai7 as unknown as typeof ai6) : ai6;
const { anthropic } = AI_SDK === 7 ? anthropic7 : anthropic6;

/** What the model reads of a call of `given` with `args`. */
async function resultOf(given: AiTool, args: object): Promise<string> {
  const requests: string[] = [];
  const model = scriptedModel([
    { toolCalls: [{ name: 'look', args: args as never }] },
    (request) => {
      requests.push(JSON.stringify(request.messages.slice(-2)));
      return 'Done.';
    },
  ]);
  const look = fromAiTool('look', given, { effect: 'read' });
  const agent = defineAgent({ name: 'a', mode: 'chat', model: model.model, tools: [look] });
  const step = await startInMemory({ agent, task: 'Look.' }).result;
  expect(step.status).toBe('success');
  return requests[0] ?? '';
}

describe('a tool of the AI SDK', () => {
  it('has its schema, and gets checked arguments, an id and a signal', async () => {
    const seen: unknown[] = [];
    const given = tool({
      description: 'Looks at a city.',
      inputSchema: z.object({ city: z.string(), days: z.number().default(3) }),
      execute: (input, { toolCallId, abortSignal, messages }) => {
        seen.push(input, toolCallId, abortSignal instanceof AbortSignal, messages);
        return { sky: 'grey' };
      },
    });
    const { spec } = fromAiTool('look', given, { effect: 'read', timeoutMs: 5_000 });

    expect(spec).toMatchObject({ name: 'look', description: 'Looks at a city.', effect: 'read' });
    expect(spec.parameters).toMatchObject({ properties: { city: { type: 'string' } } });
    expect(await resultOf(given, { city: 'Vienna' })).toContain('grey');
    expect(seen).toEqual([{ city: 'Vienna', days: 3 }, '1.1', true, []]);
  });

  it('of a JSON Schema is checked by its own check as well', async () => {
    const inputSchema = jsonSchema<{ city: string }>(
      { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      {
        validate: (value) =>
          (value as { city: string }).city === 'Vienna'
            ? { success: true, value: { city: 'Wien' } }
            : { success: false, error: new Error('only Vienna') },
      },
    );
    const given = tool({ inputSchema, execute: ({ city }) => `seen ${city}` });

    expect(await resultOf(given, { city: 'Vienna' })).toContain('seen Wien');
    expect(await resultOf(given, { city: 'Graz' })).toContain('only Vienna');
    expect(await resultOf(given, { town: 'Graz' })).toContain('city');
  });

  it('of a provider runs here, with the schema that its package makes', async () => {
    const given = anthropic.tools.bash_20250124({
      execute: async ({ command }) => [{ type: 'text', text: `ran ${command}` }],
    }) as AiTool;

    expect(await resultOf(given, { command: 'ls' })).toContain('ran ls');
  });

  it('says to the model what `toModelOutput` makes of its result', async () => {
    const output = (value: object) =>
      resultOf(
        {
          inputSchema: z.object({}),
          execute: () => ({ secret: 1 }),
          toModelOutput: ({ output }: { readonly output: object }) =>
            'secret' in output ? value : undefined,
        } as AiTool,
        {},
      );

    expect(await output({ type: 'text', value: 'short' })).toContain('short');
    expect(await output({ type: 'json', value: { a: 1 } })).toContain('a');
    const data = 'iVBORw0KGgo=';
    const picture =
      AI_SDK === 7
        ? { type: 'file', mediaType: 'image/png', data: { type: 'data', data } }
        : { type: 'image-data', mediaType: 'image/png', data };
    const read = await output({
      type: 'content',
      value: [{ type: 'text', text: 'a map' }, picture],
    });
    expect(read).toContain('a map');
    expect(read).toContain(data);
    expect(read).not.toContain('secret');
  });

  it('asks a person where it needs approval', () => {
    const inputSchema = z.object({});
    const given = (needsApproval: unknown) =>
      fromAiTool('look', { inputSchema, execute: () => 1, needsApproval } as AiTool, {
        effect: 'once',
      });

    expect(given(true).spec.approval).toBe('always');
    expect(given(() => true).spec.approval).toBe('function');
    expect(given(false).spec.approval).toBeUndefined();
  });

  it('needs an execute', () => {
    const given = anthropic.tools.webSearch_20250305({}) as AiTool;

    expect(() => fromAiTool('search', given, { effect: 'read' })).toThrow('Expected an `execute`');
  });

  it('is taken by name, as `generateText` takes it, and begins once', async () => {
    const calls: string[] = [];
    const weather = tool({
      description: 'Says what the weather is.',
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }): string => {
        calls.push(city);
        throw new Error('the line is dead');
      },
    });
    const search = anthropic.tools.webSearch_20250305({}) as AiTool;
    const ours = fromAiTool('ours', weather, { effect: 'read' });
    const script = scriptedModel([
      { toolCalls: [{ name: 'weather', args: { city: 'Vienna' } }] },
      'Done.',
    ]);
    const agent = defineAgent({
      name: 'a',
      model: script.model,
      tools: { weather, search, ours },
    });

    await startInMemory({ agent, task: 'Look.' }).result;

    expect(agent.spec.tools.map(({ name, effect }) => [name, effect])).toEqual([
      ['weather', 'once'],
      ['ours', 'read'],
    ]);
    expect(agent.spec.hosted).toMatchObject([{ name: 'web_search_20250305' }]);
    expect(calls).toEqual(['Vienna']);
  });

  it('is refused in words where it lacks a name or an `execute`', () => {
    const { model } = scriptedModel([]);
    const asked = tool({ inputSchema: z.object({}) }) as AiTool;

    expect(() => defineAgent({ name: 'a', model, tools: [asked] })).toThrow(
      /Write `tools: \{ name: tool\(\{…\}\) \}`, or `fromAiTool/,
    );
    expect(() => defineAgent({ name: 'a', model, tools: { asked, 'no name': asked } })).toThrow(
      /Expected an `execute` of tool `asked`, got none[^]*tool `no name`/,
    );
    expect(() => defineAgent({ name: 'a', model, tools: 'search' as never })).toThrow(
      'Expected `tools` to be a list',
    );
  });
});
