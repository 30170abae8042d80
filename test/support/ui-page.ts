/**
 * A page with the chat of the AI SDK that `useChat` wraps, and the SDK's own transport. Both are of the
 * version that the test project names.
 */
import type { ChatState, UIMessage } from 'ai';
import { AI_SDK } from './aimock.ts';

const sdk = (AI_SDK === 7 ? await import('@ai-sdk-7/ai') : await import('ai')) as Sdk;
const AbstractChat: Sdk['AbstractChat'] = sdk.AbstractChat;
type Sdk = typeof import('ai');

/** The state of a chat, as `useChat` keeps it in React. */
class PageState implements ChatState<UIMessage> {
  status: ChatState<UIMessage>['status'] = 'ready';
  error: Error | undefined;
  messages: UIMessage[] = [];
  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message];
  };
  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.map((old, at) => (at === index ? message : old));
  };
  snapshot = <Thing>(thing: Thing): Thing => structuredClone(thing);
}

/** A page: what it shows, and what a person does. */
export class Page extends AbstractChat<UIMessage> {
  /** `serve` answers its requests; `messages` are those that it begins with. */
  constructor(
    id: string,
    serve: (request: Request) => Response | Promise<Response>,
    messages: readonly UIMessage[] = [],
  ) {
    const state = new PageState();
    state.messages = [...messages];
    super({
      id,
      state,
      sendAutomaticallyWhen: (options) =>
        sdk.lastAssistantMessageIsCompleteWithApprovalResponses(options) ||
        sdk.lastAssistantMessageIsCompleteWithToolCalls(options),
      transport: new sdk.DefaultChatTransport({
        fetch: async (input, init) => {
          const path = input instanceof Request ? input.url : input;
          return serve(new Request(new URL(path, 'http://page'), init));
        },
      }),
    });
  }

  /** The parts of the last message, without steps and what a test does not compare. */
  parts(): readonly object[] {
    return (this.messages.at(-1)?.parts ?? []).flatMap((part): readonly object[] => {
      if (part.type === 'step-start') return [];
      const isVoid = 'providerMetadata' in part && part.providerMetadata !== undefined;
      if (part.type === 'text') return [{ text: part.text, ...(isVoid ? { isVoid } : {}) }];
      if ('toolCallId' in part) {
        const { type, state, input } = part;
        return [{ type, state, input, ...('output' in part ? { output: part.output } : {}) }];
      }
      if (part.type === 'data-question') return [{ question: part.data }];
      return [{ type: part.type }];
    });
  }

  /** The text of the last message that is not void. */
  text(): string {
    return this.parts()
      .map((part) => ('text' in part && !('isVoid' in part) ? String(part.text) : ''))
      .join('');
  }
}
