/** The first bytes of a streamed reply in each protocol, for servers that stop in the middle of it. */
import type { Protocol } from './aimock.ts';
import { sse } from './aimock.ts';

/** What a reply that was cut after {@link beginningOf} has said of usage: input, and output if known. */
export const usageOfBeginning: {
  readonly [protocol in Protocol]: readonly [number, number] | null;
} = {
  'openai-compatible': null,
  'openai-chat': null,
  'openai-responses': null,
  anthropic: [14, 1],
  google: [11, 2],
};

/** The event stream of a reply up to the text `Hel`, as its provider writes it. */
export function beginningOf(protocol: Protocol): string {
  switch (protocol) {
    case 'openai-compatible':
    case 'openai-chat':
      return sse([
        {
          id: 'c1',
          object: 'chat.completion.chunk',
          created: 1,
          model: 'test-model',
          choices: [
            { index: 0, delta: { role: 'assistant', content: 'Hel' }, finish_reason: null },
          ],
        },
      ]);
    case 'openai-responses':
      return sse([
        {
          type: 'response.created',
          sequence_number: 0,
          response: { id: 'r1', created_at: 1, model: 'test-model' },
        },
        {
          type: 'response.output_item.added',
          sequence_number: 1,
          output_index: 0,
          item: { type: 'message', id: 'm1' },
        },
        {
          type: 'response.output_text.delta',
          sequence_number: 2,
          item_id: 'm1',
          output_index: 0,
          content_index: 0,
          delta: 'Hel',
        },
      ]);
    case 'anthropic':
      return sse([
        {
          type: 'message_start',
          message: {
            id: 'm1',
            type: 'message',
            role: 'assistant',
            model: 'test-model',
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: {
              input_tokens: 11,
              output_tokens: 1,
              cache_read_input_tokens: 3,
              cache_creation_input_tokens: null,
            },
          },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
      ]);
    case 'google':
      return sse([
        {
          candidates: [{ content: { role: 'model', parts: [{ text: 'Hel' }] }, index: 0 }],
          usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 2, totalTokenCount: 13 },
        },
      ]);
  }
}

/** The end of a response of OpenAI that stopped early, for `reason`; 20 tokens in, 7 out. */
export function incompleteResponse(reason: string): string {
  return sse([
    {
      type: 'response.incomplete',
      sequence_number: 3,
      response: {
        id: 'r1',
        incomplete_details: { reason },
        usage: { input_tokens: 20, output_tokens: 7 },
      },
    },
  ]);
}
