/**
 * A page as the documentation of `useChat` has it, bundled for a browser. `?chat=ID` names its chat.
 * It keeps what the person wrote over a reload; the server keeps none of it for the page.
 */
import { useChat } from '@ai-sdk/react';
import { createElement as element, useState, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

/** What a page of this size needs of a browser. */
interface Browser {
  readonly document: { getElementById(id: string): object };
  readonly location: { readonly search: string };
  readonly sessionStorage: {
    getItem(key: string): string | null;
    setItem(key: string, text: string): void;
  };
}
const { document, location, sessionStorage } = globalThis as unknown as Browser;

type Chat = ReturnType<typeof useChat>;
type Part = Chat['messages'][number]['parts'][number];

function Chat({ id }: { readonly id: string }): ReactNode {
  const [text, setText] = useState('');
  const chat = useChat({ id, resume: true, messages: writtenIn(id) });
  const send = (): void => {
    const written = { role: 'user' as const, parts: [{ type: 'text' as const, text }] };
    keep(id, [...chat.messages, { id: `m${chat.messages.length}`, ...written }]);
    setText('');
    void chat.sendMessage({ text });
  };
  return element(
    'main',
    { 'data-status': chat.status },
    chat.messages.map(({ id: key, role, parts }) =>
      element('article', { key, className: role }, parts.map(shownPart)),
    ),
    chat.error && element('p', { role: 'alert' }, chat.error.message),
    element('input', {
      value: text,
      onChange: ({ target }: { readonly target: { readonly value: string } }) =>
        setText(target.value),
    }),
    element('button', { onClick: send }, 'Send'),
  );
}

function shownPart(part: Part, key: number): ReactNode {
  if (part.type === 'text') return element('p', { key }, part.text);
  if (!('toolCallId' in part)) return null;
  return element('code', { key }, `${part.type.replace('tool-', '')} ${part.state}`);
}

/** The messages of a chat that the page had when the person wrote last. */
function writtenIn(id: string): Chat['messages'] {
  return JSON.parse(sessionStorage.getItem(id) ?? '[]') as Chat['messages'];
}

function keep(id: string, messages: Chat['messages']): void {
  sessionStorage.setItem(id, JSON.stringify(messages));
}

const id = new URLSearchParams(location.search).get('chat') ?? '';
createRoot(document.getElementById('root') as never).render(element(Chat, { id }));
