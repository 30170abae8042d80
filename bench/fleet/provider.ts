/**
 * A provider in a process of its own: it streams OpenAI-compatible replies over HTTP at the pace of
 * a real one, and counts requests. One ticker serves all streams, and pieces are encoded once, so
 * that it takes little of the processor that it shares with those who are measured.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FLEET_TOOL, PACE, runIn, type ProviderCounts, type ProviderQuestion } from './orders.ts';

const TICK_MS = 5;

/** A reply on its way. */
interface Stream {
  readonly response: ServerResponse;
  readonly run: string;
  readonly firstAt: number;
  /** A piece of text. Null: the reply is sent as a whole when it is complete. */
  readonly piece: Buffer | null;
  /** What follows the pieces of text, or the whole reply. */
  readonly ending: string;
  sent: number;
}

let isDraining = false;
let counted = freshCounts();
const streams = new Set<Stream>();
const seen = new Set<string>();
const lastByteAt = new Map<string, number>();

function freshCounts() {
  return {
    startedAt: performance.now(),
    cpu: process.cpuUsage(),
    requests: 0,
    repeated: 0,
    overheadsMs: [] as number[],
  };
}

function event(choice: object, more: object = {}): string {
  const chunk = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'fleet' };
  return `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, ...choice }], ...more })}\n\n`;
}

const PIECE = Buffer.from(
  event({ delta: { role: 'assistant', content: ' words' }, finish_reason: null }),
);

const USAGE = { prompt_tokens: 100, completion_tokens: 60, total_tokens: 160 };

function callOf(turn: number): object {
  const call = { name: FLEET_TOOL, arguments: JSON.stringify({ part: turn }) };
  return { id: `call-${turn}`, type: 'function', function: call };
}

/** The reply to a request that asks for no stream. */
function wholeOf(turn: number, wantsTool: boolean): string {
  const content = ' words'.repeat(PACE.chunks);
  const message = { role: 'assistant', content, ...(wantsTool && { tool_calls: [callOf(turn)] }) };
  const choice = { index: 0, message, finish_reason: wantsTool ? 'tool_calls' : 'stop' };
  const head = { id: 'c1', object: 'chat.completion', created: 1, model: 'fleet' };
  return JSON.stringify({ ...head, choices: [choice], usage: USAGE });
}

function endingOf(turn: number, wantsTool: boolean): string {
  const end = (reason: string): string =>
    `${event({ delta: {}, finish_reason: reason }, { usage: USAGE })}data: [DONE]\n\n`;
  if (!wantsTool) return end('stop');
  const calls = [{ index: 0, ...callOf(turn) }];
  return event({ delta: { tool_calls: calls }, finish_reason: null }) + end('tool_calls');
}

function onRequest(body: string, response: ServerResponse): void {
  const now = performance.now();
  const run = runIn(body);
  if (run === null) {
    response.writeHead(400).end();
    return;
  }
  const turn = body.split('"role":"assistant"').length - 1;
  counted.requests += 1;
  const isRepeated = seen.has(`${run} ${turn}`);
  if (isRepeated) counted.repeated += 1;
  seen.add(`${run} ${turn}`);
  const last = lastByteAt.get(run);
  if (turn > 0 && last !== undefined && !isRepeated) {
    counted.overheadsMs.push(now - last - PACE.toolMs);
  }
  const isStreamed = /"stream":\s*true/.test(body);
  response.writeHead(200, {
    'content-type': isStreamed ? 'text/event-stream' : 'application/json',
  });
  const ending = (isStreamed ? endingOf : wholeOf)(turn, !isDraining);
  const piece = isStreamed ? PIECE : null;
  const stream = { response, run, firstAt: now + PACE.firstTokenMs, piece, ending, sent: 0 };
  streams.add(stream);
  response.on('close', () => streams.delete(stream));
}

function tick(): void {
  const now = performance.now();
  for (const stream of streams) write(stream, now);
  setTimeout(tick, TICK_MS);
}

function write(stream: Stream, now: number): void {
  const { firstAt, response, piece, ending, run } = stream;
  const due = Math.floor(((now - firstAt) * (PACE.chunks - 1)) / PACE.streamMs) + 1;
  for (; stream.sent < Math.min(due, PACE.chunks); stream.sent++) {
    if (piece !== null) response.write(piece);
  }
  if (stream.sent < PACE.chunks) return;
  streams.delete(stream);
  response.end(ending);
  lastByteAt.set(run, performance.now());
}

function countsOf(): ProviderCounts {
  const { startedAt, cpu, requests, repeated, overheadsMs } = counted;
  const { user, system } = process.cpuUsage(cpu);
  const ms = performance.now() - startedAt;
  return { ms, requests, repeated, overheadsMs, cpuMs: (user + system) / 1_000 };
}

function answer(question: ProviderQuestion): unknown {
  switch (question) {
    case 'fill':
    case 'drain':
      isDraining = question === 'drain';
      return question;
    case 'measure':
      counted = freshCounts();
      return question;
    case 'counts':
      return countsOf();
  }
}

const server = createServer((request: IncomingMessage, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => onRequest(Buffer.concat(parts).toString(), response));
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.(`http://127.0.0.1:${port}/v1`);
});
process.on('message', (question: ProviderQuestion) => process.send?.(answer(question)));
process.once('disconnect', () => process.exit());
tick();
