/** A worker process for the benchmark `console`; its argument is a {@link ConsolePlace} as JSON. */
import './quiet.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { textOf } from '../../src/core/base/message.ts';
import type { ModelFunction, ModelRequest } from '../../src/core/contract/model.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { runWorker } from '../../src/worker/serve/run-worker.ts';
import {
  CALL_MS,
  PIECES_PER_S,
  REPLY_S,
  TICKER,
  TORRENT,
  WRITER,
  type ConsolePlace,
} from './console-orders.ts';

const PIECE_MS = 20;
const USAGE = { inputTokens: 400, outputTokens: 50 };

/** The number that is the task. */
function taskNumber({ messages }: ModelRequest): number {
  const number = /\b\d+\b/.exec(messages.map(textOf).join(' '))?.[0];
  if (number === undefined) throw new Error('Expected a task that is a number, got none.');
  return Number(number);
}

const call = (iteration: number): { readonly name: string; readonly args: object } => ({
  name: 'wait',
  args: { part: iteration },
});

const wait = defineTool({
  name: 'wait',
  description: 'Waits.',
  parameters: { type: 'object', properties: { part: { type: 'integer' } } },
  effect: 'read',
  execute: async () => {
    await sleep(CALL_MS);
    return 'waited';
  },
}) as ToolDefinition;

function chatter(name: string, model: ModelFunction): AgentDefinition {
  return defineAgent({ name, mode: 'chat', tools: [wait], model: { id: `${name}/m`, model } });
}

const writer = chatter(WRITER, async (request, { onChunk }) => {
  let content = '';
  for (let piece = 0; piece < taskNumber(request); piece++) {
    await sleep(PIECE_MS);
    const delta = `t${Date.now()} `;
    content += delta;
    onChunk({ kind: 'text', delta });
  }
  return { content, usage: USAGE };
});

const ticker = chatter(TICKER, async (request) => {
  const { iteration } = request;
  if (iteration > taskNumber(request)) return { content: 'Done.', usage: USAGE };
  return { content: 'On.', toolCalls: [call(iteration)], usage: USAGE } as never;
});

const torrent = chatter(TORRENT, async (request, { onChunk }) => {
  const { iteration } = request;
  const startedAt = performance.now();
  let content = '';
  const total = PIECES_PER_S * REPLY_S;
  for (let sent = 0; sent < total;) {
    await sleep(5);
    const due = Math.floor(((performance.now() - startedAt) * PIECES_PER_S) / 1_000);
    for (; sent < Math.min(due, total); sent++) {
      const delta = sent % 40 === 39 ? 'line.\n\n' : 'word ';
      content += delta;
      onChunk({ kind: 'text', delta });
    }
  }
  const isLast = iteration * REPLY_S >= taskNumber(request);
  return { content, toolCalls: isLast ? [] : [call(iteration)], usage: USAGE } as never;
});

await runWorker({
  ...(JSON.parse(process.argv[2] ?? '') as ConsolePlace),
  agents: [writer, ticker, torrent],
  logLevel: 'ERROR',
  heartbeatMs: 5_000,
  onReady: () => process.send?.('ready'),
});
