import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Client } from '@temporalio/client';
import type { SaidMessage } from '../../src/core/contract/conversation.ts';
import { mergeSettings, settingsProblems } from '../../src/core/model/call-settings.ts';
import { createEverloop, defineAgent, defineTool } from '../../src/index.ts';
import { scriptedModel, startInMemory, type ScriptedReply } from '../../src/testing.ts';

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object', properties: {} },
  effect: 'read',
  execute: () => 'seen',
});

const LOOK: ScriptedReply = { toolCalls: [{ name: 'look', args: {} }] };

describe('settings', () => {
  test('of an entry, the agent and the start are one, and the later wins', async () => {
    const script = scriptedModel(['done']);
    const model = {
      id: 'm',
      model: script.model,
      settings: { temperature: 1, topP: 0.5, providerOptions: { openai: { a: 1, b: 1 } } },
    };
    const settings = {
      temperature: 0.5,
      seed: 7,
      headers: { 'X-Team': 'a', 'X-App': 'b' },
      providerOptions: { openai: { b: 2, c: 2 } },
    };
    const agent = defineAgent({ name: 'clerk', model, settings });

    await startInMemory({
      agent,
      task: 'x',
      settings: { temperature: 0, headers: { 'X-Team': 'c' } },
    }).result;

    expect(script.requests[0]?.settings).toEqual({
      temperature: 0,
      topP: 0.5,
      seed: 7,
      headers: { 'X-Team': 'c', 'X-App': 'b' },
      providerOptions: { openai: { a: 1, b: 2, c: 2 } },
    });
  });

  test('of a message apply to the turn that it begins, and to no later one', async () => {
    const said: SaidMessage[] = [];
    const signal = async (_name: unknown, message: SaidMessage): Promise<void> =>
      void said.push(message);
    const client = {
      options: { loadedDataConverter: {} },
      workflow: { getHandle: () => ({ signal }) },
      withDeadline: (_at: number, send: () => unknown) => send(),
    } as unknown as Client;
    const chat = createEverloop({ client }).conversation('clerk', {
      id: 'c',
      settings: { temperature: 1 },
    });

    await chat.say('a', { settings: { temperature: 0, seed: 1 } });
    await chat.say('b');

    expect(said.map(({ turn }) => turn)).toEqual([
      { settings: { temperature: 0, seed: 1 } },
      { settings: { temperature: 1 } },
    ]);
  });

  test('any merge keeps what the later one does not name, and repeats have no effect', () => {
    const some = fc.record(
      {
        temperature: fc.double({ min: 0, max: 2, noNaN: true }),
        headers: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.string()),
        providerOptions: fc.dictionary(
          fc.constantFrom('openai', 'anthropic'),
          fc.dictionary(fc.constantFrom('x', 'y'), fc.integer()),
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(some, some, (first, second) => {
        const merged = mergeSettings(first, second);
        expect(merged).toMatchObject(second);
        expect(mergeSettings(merged, second)).toEqual(merged);
        expect(mergeSettings(first, {})).toEqual(first);
        for (const [name, value] of Object.entries(first.headers ?? {})) {
          expect(merged?.headers?.[name]).toBe(second.headers?.[name] ?? value);
        }
        expect(settingsProblems(merged)).toEqual([]);
      }),
    );
  });

  test.each([
    [{ temprature: 0 }, 'Did you mean `temperature`?'],
    [{ maxTokens: 5 }, '`maxTokens` is called `maxOutputTokens`.'],
    [{ reasoningEffort: 'low' }, '`reasoningEffort` is called `reasoning`.'],
    [{ flavour: 1 }, "A provider's own options belong into `providerOptions`."],
    [{ temperature: '0' }, 'Expected `settings.temperature` to be a number, got "0"'],
    [{ headers: { Authorization: 'Bearer x' } }, 'without keys'],
    [{ headers: { 'x-api-key': 'x' } }, 'without keys'],
    [{ providerOptions: { a: { at: new Map() } } }, 'got Map at `providerOptions.a.at`'],
    [{ providerOptions: { a: { text: 'x'.repeat(17_000) } } }, 'of at most 16384 bytes'],
    ['hot', 'Expected `settings` to be a mapping'],
  ])('%j are refused by the agent and by the start', (settings, message) => {
    const model = scriptedModel([]).model;
    const agent = defineAgent({ name: 'clerk', model });

    expect(() => defineAgent({ name: 'clerk', model, settings: settings as never })).toThrow(
      message,
    );
    expect(() => startInMemory({ agent, task: 'x', settings: settings as never })).toThrow(message);
  });
});

describe('toolChoice', () => {
  test.each(['required', { tool: 'look' }] as const)(
    '%j holds until there was a call',
    async (toolChoice) => {
      const script = scriptedModel([LOOK, LOOK, 'done']);
      const agent = defineAgent({ name: 'clerk', model: script.model, tools: [look], toolChoice });

      await startInMemory({ agent, task: 'x' }).result;

      expect(script.requests.map((request) => request.toolChoice)).toEqual([
        toolChoice,
        'auto',
        'auto',
      ]);
    },
  );

  test('of the start replaces that of the agent; `none` holds for all requests', async () => {
    const script = scriptedModel(['done']);
    const agent = defineAgent({
      name: 'clerk',
      model: script.model,
      tools: [look],
      toolChoice: 'required',
    });

    await startInMemory({ agent, task: 'x', toolChoice: 'none' }).result;

    expect(script.requests[0]?.toolChoice).toBe('none');
  });

  test('that cannot be is refused', () => {
    const model = scriptedModel([]).model;
    const define = (options: object): unknown =>
      defineAgent({ name: 'clerk', model, tools: [look], ...options });
    const react = defineAgent({ name: 'clerk', mode: 'react', model });

    expect(() => define({ toolChoice: 'always' })).toThrow("'auto', 'none', 'required'");
    expect(() => define({ toolChoice: { tool: 'lok' } })).toThrow('a tool of the agent (look)');
    expect(() => define({ mode: 'react', toolChoice: 'required' })).toThrow('no `toolChoice`');
    expect(() => startInMemory({ agent: react, task: 'x', toolChoice: 'required' })).toThrow(
      'no `toolChoice` in mode `react`',
    );
  });
});
