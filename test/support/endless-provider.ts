/** Providers over HTTP that send without end, in every protocol, and notice when they are left. */
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { startPlainServer, type Protocol } from './aimock.ts';

/** What a provider sends for ever. */
export type Endless =
  | 'text'
  | 'reasoning'
  | 'arguments'
  | 'calls'
  | 'blocks'
  | 'a line'
  | 'lines of an event'
  | 'a piece'
  | 'values'
  | 'comments'
  | 'an error'
  | 'a bomb';

/** All of them. */
export const ENDLESS: readonly Endless[] = [
  'text',
  'reasoning',
  'arguments',
  'calls',
  'blocks',
  'a line',
  'lines of an event',
  'a piece',
  'values',
  'comments',
  'an error',
  'a bomb',
];

/** A provider without end. */
export interface EndlessProvider {
  readonly url: string;
  /** How many requests it had. */
  readonly requests: () => number;
  /** Bytes that it could send, of all its replies; at most what a reader takes and sockets hold. */
  readonly sent: () => number;
  /** How many of its replies were left by their readers. */
  readonly left: () => number;
  stop(): Promise<void>;
}

const WORDS = 'word and another one '.repeat(400);

/** Starts a provider of `protocol` that sends `what` for ever. */
export async function startEndless(protocol: Protocol, what: Endless): Promise<EndlessProvider> {
  let requests = 0;
  let sent = 0;
  let left = 0;
  const server = await startPlainServer((_request, response, body) => {
    requests += 1;
    response.on('close', () => (left += 1));
    const isStream = body.includes('"stream":true') || protocol === 'google';
    response.writeHead(what === 'an error' ? 400 : 200, {
      'content-type': what === 'an error' || !isStream ? 'application/json' : 'text/event-stream',
      ...(what === 'a bomb' ? { 'content-encoding': 'gzip' } : {}),
    });
    pump(response, piecesOf(protocol, what), (bytes) => (sent += bytes));
  });
  return {
    url: server.url,
    requests: () => requests,
    sent: () => sent,
    left: () => left,
    stop: () => server.stop(),
  };
}

/** Writes `pieces` as fast as they are read. */
function pump(
  response: ServerResponse,
  pieces: Iterator<string | Buffer, unknown>,
  onSent: (bytes: number) => void,
): void {
  const write = (): void => {
    while (!response.destroyed) {
      const next = pieces.next();
      if (next.done === true) return void response.end();
      onSent(next.value.length);
      if (!response.write(next.value)) return void response.once('drain', write);
    }
  };
  write();
}

function* piecesOf(protocol: Protocol, what: Endless): Generator<string | Buffer> {
  switch (what) {
    case 'a line':
      yield 'data: {"choices":[{"index":0,"delta":{"content":"';
      for (;;) yield WORDS;
    case 'lines of an event':
      for (;;) yield 'data: "x"\n'.repeat(1_000);
    case 'a piece':
      yield* begun(protocol);
      for (;;) yield data(pieceOf(protocol, 'text', 'long '.repeat(20_000_000), 0));
    case 'values':
      yield 'data: {"choices":[';
      for (;;) yield '{},'.repeat(4_000);
    case 'comments':
      for (;;) yield ': still here\n\n'.repeat(1_000);
    case 'an error':
      yield '{"error":{"message":"';
      for (;;) yield WORDS;
    case 'a bomb':
      yield gzipSync(Buffer.from(`data: "${'0'.repeat(150_000_000)}`));
      return;
    default:
      yield* begun(protocol);
      for (let index = 0; ; index++) yield data(pieceOf(protocol, what, WORDS, index));
  }
}

/** What comes before the first piece. */
function* begun(protocol: Protocol): Generator<string> {
  if (protocol === 'anthropic') {
    const usage = { input_tokens: 10, output_tokens: 1 };
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      usage,
    };
    yield data({
      type: 'message_start',
      message: { ...message, stop_reason: null, stop_sequence: null },
    });
  }
  if (protocol === 'openai-responses') {
    yield data({ type: 'response.created', response: { id: 'r1', created_at: 1, model: 'm' } });
  }
}

function data(events: unknown): string {
  return (Array.isArray(events) ? (events as readonly unknown[]) : [events])
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join('');
}

type Piece = 'text' | 'reasoning' | 'arguments' | 'calls' | 'blocks';

/** The `index`-th piece of what is endless. */
function pieceOf(protocol: Protocol, what: Piece | Endless, text: string, index: number): unknown {
  switch (protocol) {
    case 'anthropic':
      return anthropicPiece(what, text, index);
    case 'openai-responses':
      return responsesPiece(what, text, index);
    case 'google':
      return googlePiece(what, text);
    default:
      return chatPiece(what, text, index);
  }
}

function chatPiece(what: Piece | Endless, text: string, index: number): unknown {
  const chunk = (delta: object): object => ({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: null }],
  });
  const call = (at: number, args: string): object => ({
    tool_calls: [
      {
        index: at,
        id: `call_${at}`,
        type: 'function',
        function: { name: 'look', arguments: args },
      },
    ],
  });
  if (what === 'reasoning') return chunk({ reasoning_content: text });
  if (what === 'calls' || what === 'blocks') return chunk(call(index, '{}'));
  if (what !== 'arguments') return chunk({ content: text });
  if (index === 0) return chunk(call(0, '{"text":"'));
  return chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] });
}

function anthropicPiece(what: Piece | Endless, text: string, index: number): unknown {
  const start = (at: number, block: object): object => ({
    type: 'content_block_start',
    index: at,
    content_block: block,
  });
  const delta = (given: object): object => ({
    type: 'content_block_delta',
    index: 0,
    delta: given,
  });
  const tool = (at: number): object => ({
    type: 'tool_use',
    id: `toolu_${at}`,
    name: 'look',
    input: {},
  });
  switch (what) {
    case 'reasoning':
      if (index === 0) return start(0, { type: 'thinking', thinking: '' });
      return delta({ type: 'thinking_delta', thinking: text });
    case 'arguments':
      if (index === 0) return start(0, tool(0));
      return delta({ type: 'input_json_delta', partial_json: index === 1 ? '{"text":"' : text });
    case 'calls':
      return [start(index, tool(index)), { type: 'content_block_stop', index }];
    case 'blocks':
      return [start(index, { type: 'text', text: '' }), { type: 'content_block_stop', index }];
    default:
      if (index === 0)
        return [start(0, { type: 'text', text: '' }), delta({ type: 'text_delta', text })];
      return delta({ type: 'text_delta', text });
  }
}

function responsesPiece(what: Piece | Endless, text: string, index: number): unknown {
  const added = (at: number, item: object): object => ({
    type: 'response.output_item.added',
    output_index: at,
    item,
  });
  const call = (at: number): object => ({
    type: 'function_call',
    id: `fc_${at}`,
    call_id: `call_${at}`,
    name: 'look',
    arguments: '',
    status: 'in_progress',
  });
  const message = (at: number): object => ({
    type: 'message',
    id: `msg_${at}`,
    role: 'assistant',
    content: [],
  });
  switch (what) {
    case 'reasoning':
      if (index === 0)
        return added(0, { type: 'reasoning', id: 'rs_0', summary: [], encrypted_content: '' });
      return {
        type: 'response.reasoning_summary_text.delta',
        item_id: 'rs_0',
        output_index: 0,
        summary_index: 0,
        delta: text,
      };
    case 'arguments':
      if (index === 0) return added(0, call(0));
      return {
        type: 'response.function_call_arguments.delta',
        item_id: 'fc_0',
        output_index: 0,
        delta: index === 1 ? '{"text":"' : text,
      };
    case 'calls': {
      const done = { ...call(index), arguments: '{}', status: 'completed' };
      return [
        added(index, call(index)),
        { type: 'response.output_item.done', output_index: index, item: done },
      ];
    }
    case 'blocks':
      return added(index, message(index));
    default: {
      const piece = {
        type: 'response.output_text.delta',
        item_id: 'msg_0',
        output_index: 0,
        content_index: 0,
      };
      return index === 0
        ? [added(0, message(0)), { ...piece, delta: text }]
        : { ...piece, delta: text };
    }
  }
}

function googlePiece(what: Piece | Endless, text: string): unknown {
  const part =
    what === 'calls' || what === 'arguments' || what === 'blocks'
      ? { functionCall: { name: 'look', args: what === 'arguments' ? { text } : {} } }
      : { text, ...(what === 'reasoning' ? { thought: true } : {}) };
  return { candidates: [{ index: 0, content: { role: 'model', parts: [part] } }] };
}
