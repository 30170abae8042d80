import { ReadableStream, type ReadableStreamDefaultController } from 'node:stream/web';
import { describe, expect, it } from 'vitest';
import type { ModelChunk } from '../../src/core/contract/model.ts';
import { joinedBody } from '../../src/models/deltas/joined-body.ts';

/** Longer than any test. */
const LONG_MS = 600_000;

const chat = (content: string): string =>
  `data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}}]}\n\n`;

/** A body that the test writes, and what is read of it. */
function joining(holdMs = LONG_MS): {
  readonly source: ReadableStreamDefaultController<Uint8Array>;
  readonly write: (text: string) => void;
  readonly read: () => Promise<string | undefined>;
  readonly cancel: () => Promise<void>;
  readonly chunks: readonly ModelChunk[];
  readonly canceled: () => boolean;
} {
  let source: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isCanceled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      source = controller;
    },
    cancel: () => {
      isCanceled = true;
    },
  });
  if (source === undefined) throw new Error('Expected a stream that has started.');
  const given = source;
  const chunks: ModelChunk[] = [];
  const reader = joinedBody(body, {
    protocol: 'chat',
    holdMs: () => holdMs,
    onDelta: (chunk) => chunks.push(chunk),
  }).getReader();
  return {
    source: given,
    write: (text) => given.enqueue(new TextEncoder().encode(text)),
    read: async () => {
      const { value } = await reader.read();
      return value === undefined ? undefined : new TextDecoder().decode(value);
    },
    cancel: () => reader.cancel(),
    chunks,
    canceled: () => isCanceled,
  };
}

describe('joinedBody [row 53]', () => {
  it('passes the first piece at once, and joins what follows until something else comes', async () => {
    const { write, read, source, chunks } = joining();
    const first = read();
    write(chat('a'));
    expect(await first).toBe(chat('a'));

    const next = read();
    for (const text of ['b', '"c"', '😀']) write(chat(text));
    write('data: [DONE]\n\n');
    source.close();

    expect(await next).toBe(`${chat('b"c"😀')}data: [DONE]\n\n`);
    expect(await read()).toBe(undefined);
    expect(chunks.map(({ delta }) => delta)).toEqual(['a', 'b', '"c"', '😀']);
  });

  it('passes what is held when its time is over', async () => {
    const { write, read } = joining(1);
    const first = read();
    write(chat('a'));
    await first;

    const next = read();
    write(chat('b'));

    expect(await next).toBe(chat('b'));
  });

  it('passes what came before an error, then the error', async () => {
    const { write, read, source } = joining();
    const first = read();
    write(chat('a'));
    await first;
    const next = read();
    write(chat('b'));
    write('data: {"choi');
    await Promise.resolve();
    setImmediate(() => source.error(new Error('reset')));

    expect(await next).toBe(`${chat('b')}data: {"choi`);
    await expect(read()).rejects.toThrow('reset');
  });

  it('closes the body of a reader that leaves while pieces are held', async () => {
    const { write, read, cancel, canceled } = joining();
    const first = read();
    write(chat('a'));
    await first;
    const next = read();
    write(chat('b'));

    await cancel();

    expect(await next).toBe(undefined);
    expect(canceled()).toBe(true);
  });

  it('reads nothing that nobody asks for', async () => {
    const { write, source } = joining();
    for (let at = 0; at < 5; at++) write(chat('a'));
    await new Promise((resolve) => setImmediate(resolve));

    expect(source.desiredSize).toBe(-4);
  });

  it.each([
    { name: 'an event without an end', text: `data: ${'x'.repeat(300_000)}` },
    { name: 'lines that end otherwise', text: chat('a').replaceAll('\n', '\r\n') },
  ])('passes $name as it comes', async ({ text }) => {
    const { write, read } = joining();
    const next = read();
    write(text);

    expect(await next).toBe(text);
  });
});
