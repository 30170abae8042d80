/**
 * The processor time of a piece that comes over real HTTP, through the provider of the AI SDK and a
 * model call. `joined` is a model whose stream is joined, `plain` the same adapter under a name that
 * is not joined, `parsed` the events parsed by hand, the lower bound for a reader of our own, and
 * `network` the bytes alone.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createOpenAI } from '@ai-sdk/openai';
import { textMessage } from '../../src/core/base/message.ts';
import type { LanguageModel } from '../../src/define/model/language-model.ts';
import { replyText } from '../../src/core/contract/turn.ts';
import { callEntry } from '../../src/models/model-adapter.ts';

const PIECES = 60;
const EVERY_MS = 25;
const STREAMS = 40;
const ROUNDS = 5;

/** Microseconds of processor time for each piece, by round. */
export interface StreamCosts {
  readonly joined: readonly number[];
  readonly plain: readonly number[];
  readonly parsed: readonly number[];
  readonly network: readonly number[];
}

/** Measures in turn, so that all see the same machine. */
export async function streamCosts(): Promise<StreamCosts> {
  const provider = fork(new URL('./paced-provider.mjs', import.meta.url), { execArgv: [] });
  try {
    const [port] = (await once(provider, 'message')) as [number];
    const baseURL = `http://127.0.0.1:${port}/${PIECES}/${EVERY_MS}`;
    const modelNamed = (name: string): LanguageModel =>
      createOpenAI({ name, baseURL, apiKey: 'sk-bench' }).chat('m');
    const [joined, plain] = [modelNamed('openai'), modelNamed('other')];
    const costs: Record<keyof StreamCosts, number[]> = {
      joined: [],
      plain: [],
      parsed: [],
      network: [],
    };
    const ways: Readonly<Record<keyof StreamCosts, () => Promise<void>>> = {
      joined: () => call(joined),
      plain: () => call(plain),
      parsed: () => readText(`${baseURL}/chat/completions`),
      network: () => readBytes(`${baseURL}/chat/completions`),
    };
    const names = Object.keys(ways) as readonly (keyof StreamCosts)[];
    for (let round = 0; round < ROUNDS + 2; round++) {
      for (const name of names) {
        const us = await cost(ways[name]);
        if (round >= 2) costs[name].push(us);
      }
    }
    return costs;
  } finally {
    provider.disconnect();
  }
}

async function cost(way: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: STREAMS }, way));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (STREAMS * PIECES);
}

async function call(model: LanguageModel): Promise<void> {
  let characters = 0;
  const outcome = await callEntry(
    { id: 'm', model },
    {
      mode: 'chat',
      agent: 'talker',
      runId: 'run',
      iteration: 1,
      attempt: 1,
      messages: [textMessage('user', 'Go')],
      settings: {},
      cacheUpTo: 0,
    },
    {
      signal: new AbortController().signal,
      onChunk: ({ delta }) => {
        characters += delta.length;
      },
    },
  );
  const whole = outcome.kind === 'reply' ? replyText(outcome.reply).length : undefined;
  if (whole !== characters) throw new Error(`Expected ${characters} characters, got ${whole}.`);
}

/** Reads the text of a reply without the AI SDK: the lower bound for a reader of our own. */
async function readText(url: string): Promise<void> {
  const { body } = await fetch(url, { method: 'POST', body: '{}' });
  const decoder = new TextDecoder();
  let open = '';
  let text = '';
  for await (const bytes of body ?? []) {
    const events = (open + decoder.decode(bytes as Uint8Array, { stream: true })).split('\n\n');
    open = events.pop() ?? '';
    for (const event of events) text += deltaOf(event);
  }
  if (text === '') throw new Error('Expected text, got none.');
}

interface ChatEvent {
  readonly choices: readonly { readonly delta?: { readonly content?: string } }[];
}

function deltaOf(event: string): string {
  if (event === 'data: [DONE]') return '';
  const { choices } = JSON.parse(event.slice('data: '.length)) as ChatEvent;
  return choices[0]?.delta?.content ?? '';
}

async function readBytes(url: string): Promise<void> {
  const { body } = await fetch(url, { method: 'POST', body: '{}' });
  const reader = body?.getReader();
  while (reader !== undefined && !(await reader.read()).done);
}
