import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createOpenAI } from '@ai-sdk/openai';
import { textMessage } from '../../src/core/base/message.ts';
import { callEntry } from '../../src/models/model-adapter.ts';
const PIECES = 60, EVERY_MS = 25, STREAMS = 40, ROUNDS = 8;
const provider = fork(new URL('./paced-provider.mjs', import.meta.url), { execArgv: [] });
const [port] = (await once(provider, 'message')) as [number];
const baseURL = `http://127.0.0.1:${port}/${PIECES}/${EVERY_MS}`;
const model = createOpenAI({ name: 'openai', baseURL, apiKey: 'k' }).chat('m');
async function joined() {
  await callEntry({ id: 'm', model }, { mode: 'chat', agent: 't', runId: 'r', iteration: 1, attempt: 1, messages: [textMessage('user', 'Go')], settings: {}, cacheUpTo: 0 } as never, { signal: new AbortController().signal, onChunk: () => undefined });
}
async function bytes() {
  const { body } = await fetch(`${baseURL}/chat/completions`, { method: 'POST', body: '{}' });
  const reader = body!.getReader();
  while (!(await reader.read()).done);
}
let sink = 0;
async function own() {
  const { body } = await fetch(`${baseURL}/chat/completions`, { method: 'POST', body: '{}' });
  const reader = body!.getReader();
  const decoder = new TextDecoder();
  let rest = ''; let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    rest += decoder.decode(value, { stream: true });
    for (let at = rest.indexOf('\n\n'); at >= 0; at = rest.indexOf('\n\n')) {
      const event = rest.slice(0, at); rest = rest.slice(at + 2);
      if (!event.startsWith('data: ') || event === 'data: [DONE]') continue;
      const { choices } = JSON.parse(event.slice(6)) as { choices: { delta?: { content?: string } }[] };
      const delta = choices[0]?.delta?.content;
      if (delta) { text += delta; sink += delta.length; }
    }
  }
}
async function cost(way: () => Promise<void>) {
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: STREAMS }, way));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (STREAMS * PIECES);
}
const ways = { joined, bytes, own };
const got: Record<string, number[]> = { joined: [], bytes: [], own: [] };
for (let r = 0; r < ROUNDS + 2; r++) for (const [n, w] of Object.entries(ways)) { const us = await cost(w); if (r >= 2) got[n]!.push(us); }
for (const [n, v] of Object.entries(got)) console.log(n, v.map((x) => x.toFixed(0)).join(' '), 'median', v.toSorted((a, b) => a - b)[v.length >> 1]!.toFixed(1));
provider.disconnect();
