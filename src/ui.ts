/**
 * `everloop/ui`: chats for pages that use the AI SDK (`useChat`): runs and turns of conversations as
 * streams of its UI message protocol, the handler of its requests, and the messages of a page that is
 * opened again. Needs no package of the AI SDK.
 */
export { createChatHandler, type ChatHandlerOptions, type ChatTurn } from './ui/chat-handler.ts';
export { toUIMessageStream, type StreamedHandle, type UIStreamOptions } from './ui/to-ui-stream.ts';
export { uiResponse, type UIChunk } from './ui/ui-chunk.ts';
export {
  uiMessages,
  type UIMessage,
  type UIMessagesOptions,
  type UIPart,
  type UIToolPart,
} from './ui/ui-messages.ts';
