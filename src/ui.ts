/**
 * `everloop/ui`: chats for pages that use the AI SDK (`useChat`): a run as a stream of its UI message
 * protocol, and the handler of its requests. Needs no package of the AI SDK.
 */
export { createChatHandler, type ChatHandlerOptions, type ChatTurn } from './ui/chat-handler.ts';
export { toUIMessageStream, type StreamedHandle, type UIStreamOptions } from './ui/to-ui-stream.ts';
export { uiResponse, type UIChunk } from './ui/ui-chunk.ts';
