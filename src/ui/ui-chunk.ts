/**
 * The UI message stream protocol of the AI SDK (versions 6 and 7), as far as runs need it: parts of a
 * message as JSON in server-sent events, then `[DONE]`.
 */
import type { Json } from '../core/base/json.ts';

/**
 * A chunk of a message. The tools of MCP servers are `dynamic`: no page knows their types. Those that
 * the provider of the model ran itself are that, too.
 */
export type UIChunk =
  | { readonly type: 'start'; readonly messageId: string; readonly messageMetadata?: Json }
  | { readonly type: 'start-step' | 'finish-step' }
  | { readonly type: 'text-start' | 'reasoning-start'; readonly id: string }
  | {
      readonly type: 'text-delta' | 'reasoning-delta';
      readonly id: string;
      readonly delta: string;
    }
  | {
      readonly type: 'text-end' | 'reasoning-end';
      readonly id: string;
      readonly providerMetadata?: { readonly everloop: { readonly void: true } };
    }
  | {
      readonly type: 'tool-input-available';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: Json;
      readonly dynamic?: true;
      readonly providerExecuted?: true;
    }
  | {
      readonly type: 'tool-output-available';
      readonly toolCallId: string;
      readonly output: Json;
      readonly dynamic?: true;
      readonly providerExecuted?: true;
    }
  | {
      readonly type: 'tool-output-error';
      readonly toolCallId: string;
      readonly errorText: string;
      readonly dynamic?: true;
      readonly providerExecuted?: true;
    }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | {
      readonly type: 'tool-approval-request';
      readonly approvalId: string;
      readonly toolCallId: string;
    }
  | {
      readonly type: 'source-url';
      readonly sourceId: string;
      readonly url: string;
      readonly title?: string;
    }
  | {
      readonly type: 'source-document';
      readonly sourceId: string;
      readonly mediaType: string;
      readonly title: string;
      readonly filename?: string;
    }
  | { readonly type: 'file'; readonly mediaType: string; readonly url: string }
  | { readonly type: `data-${string}`; readonly id: string; readonly data: Json }
  | { readonly type: 'data-topic'; readonly data: Json; readonly transient: true }
  | { readonly type: 'message-metadata'; readonly messageMetadata: Json }
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'abort'; readonly reason?: string }
  | {
      readonly type: 'finish';
      readonly finishReason: 'stop' | 'tool-calls' | 'error' | 'other';
      readonly messageMetadata?: Json;
    };

/** What the protocol wants in the headers of a response. */
const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-vercel-ai-ui-message-stream': 'v1',
  // A proxy that buffers responses would hold the stream back.
  'x-accel-buffering': 'no',
} as const;

/** How often a stream that waits shows that it is alive, so that proxies keep it open. */
const PING_MS = 15_000;

/** A response with the chunks of `stream`; cancelling its body cancels `stream`. */
export function uiResponse(stream: ReadableStream<UIChunk>): Response {
  const reader = stream.getReader();
  const encoder = new TextEncoder();
  let pinging: ReturnType<typeof setInterval> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      pinging = setInterval(() => {
        // Not to a reader that takes nothing.
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(': ping\n\n'));
      }, PING_MS);
    },
    pull: async (controller) => {
      const { done, value } = await reader.read();
      const data = done ? '[DONE]' : JSON.stringify(value);
      controller.enqueue(encoder.encode(`data: ${data}\n\n`));
      if (!done) return;
      clearInterval(pinging);
      controller.close();
    },
    cancel: async (reason) => {
      clearInterval(pinging);
      await reader.cancel(reason);
    },
  });
  return new Response(body, { headers: HEADERS });
}
