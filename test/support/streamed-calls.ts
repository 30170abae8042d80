/** A model that streams its calls one after another, as a provider does, and waits where a test says. */
import { ReadableStream } from 'node:stream/web';
import type { Json } from '../../src/core/base/json.ts';
import type { LanguageModel } from '../../src/define/model/language-model.ts';

/** What a reply does next. */
export type StreamStep =
  | { readonly call: string; readonly args: Json }
  | { readonly text: string }
  /** Ends when the promise does, or when the call is stopped. */
  | { readonly wait: Promise<unknown> }
  | { readonly fail: Error };

/** A request for a reply. */
export interface StreamRequest {
  /** From 1; a repeated question counts. */
  readonly number: number;
  /** Replies that the request shows: a repeated question shows the same. */
  readonly replies: number;
  /** What users and tasks say in it. */
  readonly said: readonly string[];
}

interface StreamOptions {
  readonly abortSignal?: AbortSignal;
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
}

const USAGE = {
  inputTokens: { total: 40, noCache: 40, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 4, text: 4, reasoning: 0 },
};

/** A model whose n-th reply does `steps(n)`; it says `done` after them if none is a call. */
export function streamingModel(
  steps: (request: StreamRequest) => readonly StreamStep[],
): LanguageModel {
  let number = 0;
  return {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: 'streaming',
    doGenerate: () => Promise.reject(new Error('Expected a stream.')),
    doStream: async ({ abortSignal, prompt }: StreamOptions) => {
      number += 1;
      const replies = prompt.filter(({ role }) => role === 'assistant').length;
      const said = prompt.flatMap(({ role, content }) =>
        role === 'user'
          ? (content as { readonly text?: string }[]).map(({ text = '' }) => text)
          : [],
      );
      const parts = partsOf(steps({ number, replies, said }), abortSignal);
      return { stream: ReadableStream.from(parts) };
    },
  } as LanguageModel;
}

async function* partsOf(
  steps: readonly StreamStep[],
  signal: AbortSignal | undefined,
): AsyncGenerator<object> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new DOMException('stopped', 'AbortError')));
  });
  aborted.catch(() => undefined);
  yield { type: 'stream-start', warnings: [] };
  let calls = 0;
  for (const step of steps) {
    if ('fail' in step) throw step.fail;
    if ('wait' in step) await Promise.race([step.wait, aborted]);
    if ('text' in step) yield { type: 'text-delta', id: 't', delta: step.text };
    if ('call' in step) {
      calls += 1;
      const toolCallId = `call-${calls}`;
      const input = typeof step.args === 'string' ? step.args : JSON.stringify(step.args);
      // As adapters do: arguments that never came are told from empty ones.
      yield { type: 'tool-input-start', id: toolCallId, toolName: step.call };
      yield { type: 'tool-input-delta', id: toolCallId, delta: input };
      yield { type: 'tool-input-end', id: toolCallId };
      yield { type: 'tool-call', toolCallId, toolName: step.call, input };
    }
  }
  const unified = calls > 0 ? 'tool-calls' : 'stop';
  yield { type: 'finish', usage: USAGE, finishReason: { unified, raw: unified } };
}
