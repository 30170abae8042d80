/** A page of the AI SDK and a run on a server: it is reloaded in the middle of a reply. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { LLMock } from '@copilotkit/aimock';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { createChatHandler } from '../../src/ui/chat-handler.ts';
import { modelAt, startAimock } from '../support/aimock.ts';
import { eventually } from '../support/eventually.ts';
import { gate, searchTool } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { Page } from '../support/ui-page.ts';

const SOON_MS = 60_000;

let stage: Stage;
let provider: LLMock;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  provider = await startAimock();
});
afterAll(async () => {
  await stage.close();
  await provider.stop();
});

it('shows tool and answer of a run over a real provider', async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  provider.addFixture({
    match: { predicate: ({ messages }) => messages.at(-1)?.role !== 'tool' },
    response: { toolCalls: [{ name: 'search', arguments: '{"query":"Rome"}' }], usage },
  });
  provider.addFixture({
    match: { predicate: ({ messages }) => messages.at(-1)?.role === 'tool' },
    response: { content: 'Rome is the capital.', usage },
  });
  const model = { id: 'm', model: modelAt(provider.url, 'openai-chat') };
  const agent = defineAgent({ name: 'guide', mode: 'chat', model, tools: [searchTool()] });
  const { everloop } = await stage.serve([agent]);
  const handler = createChatHandler({ everloop, agent: 'guide' });
  const page = new Page(`ui-${Date.now()}`, handler);

  await page.sendMessage({ text: 'What is the capital?' });

  expect(page.error).toBeUndefined();
  expect(page.parts()).toMatchObject([
    { type: 'tool-search', state: 'output-available', input: { query: 'Rome' } },
    { text: 'Rome is the capital.' },
  ]);
});

it('shows the whole reply after a reload in its middle, and what came before it', async () => {
  const reached = gate();
  const mayGoOn = gate();
  const agent = defineAgent({
    name: 'guide',
    mode: 'chat',
    tools: [searchTool()],
    model: {
      id: 'm',
      model: async ({ iteration }, { onChunk }) => {
        if (iteration === 1) {
          return { content: 'I look.', toolCalls: [{ name: 'search', args: { query: 'x' } }] };
        }
        onChunk({ kind: 'text', delta: 'Rome is ' });
        reached.open();
        await mayGoOn.opened;
        onChunk({ kind: 'text', delta: 'the capital.' });
        return { content: 'Rome is the capital.', usage: { inputTokens: 1, outputTokens: 1 } };
      },
    },
  });
  const { everloop } = await stage.serve([agent]);
  const handler = createChatHandler({ everloop, agent: 'guide' });
  const first = new Page(`ui-${Date.now()}`, handler);
  const sending = first.sendMessage({ text: 'What is the capital?' });
  await reached.opened;
  await eventually('a half', () => first.text().endsWith('Rome is '), SOON_MS);
  await first.stop();
  await sending;

  const second = new Page(first.id, handler, first.messages.slice(0, 1));
  const resuming = second.resumeStream();
  await eventually('the same half', () => second.text().endsWith('Rome is '), SOON_MS);
  mayGoOn.open();
  await resuming;

  expect(second.error).toBeUndefined();
  expect(second.parts()).toMatchObject([
    { text: 'I look.' },
    { type: 'tool-search', state: 'output-available' },
    { text: 'Rome is the capital.' },
  ]);
  expect(second.messages).toHaveLength(2);
});
