/**
 * A model that plays a script. It fails the test when it is asked too often or too rarely, and
 * shows the request that it did not expect.
 */
import { textOf } from '../core/base/message.ts';
import type { ModelFunction, ModelIo, ModelReply, ModelRequest } from '../core/contract/model.ts';

/** One reply of a script: text, a reply, an error to throw, or a function of the request. */
export type ScriptedReply =
  | string
  | ModelReply
  | Error
  | ((request: ModelRequest, io: ModelIo) => ModelReply | string | Promise<ModelReply | string>);

/** A model that plays a script. */
export interface ScriptedModel {
  /** Give this where a model is wanted. */
  readonly model: ModelFunction;
  /** What it was asked, in order. */
  readonly requests: readonly ModelRequest[];
  /** Throws when replies are left, or when it was asked too often. Call it at the end of a test. */
  assertDone(): void;
}

/** A model that gives `replies` in order. Default usage: 100 input and 10 output tokens. */
export function scriptedModel(replies: readonly ScriptedReply[]): ScriptedModel {
  const requests: ModelRequest[] = [];
  const surplus: string[] = [];
  return {
    requests,
    model: async (request, io) => {
      const reply = replies[requests.length];
      requests.push(request);
      if (reply === undefined) {
        const message = `Expected at most ${replies.length} requests, got one more:\n${shown(request)}`;
        surplus.push(message);
        throw Object.assign(new Error(message), { statusCode: 400 });
      }
      if (reply instanceof Error) throw reply;
      return withUsage(typeof reply === 'function' ? await reply(request, io) : reply);
    },
    assertDone: () => {
      if (surplus[0] !== undefined) throw new Error(surplus[0]);
      if (requests.length < replies.length) {
        throw new Error(
          `Expected ${replies.length} requests, got ${requests.length}. The script is not used up.`,
        );
      }
    },
  };
}

const USAGE = { inputTokens: 100, outputTokens: 10 };

function withUsage(reply: ModelReply | string): ModelReply {
  const whole = typeof reply === 'string' ? { content: reply } : reply;
  return 'usage' in whole ? whole : { ...whole, usage: USAGE };
}

function shown(request: ModelRequest): string {
  return request.messages
    .map((message) => `${message.role}: ${textOf(message).slice(0, 2_000)}`)
    .join('\n');
}
