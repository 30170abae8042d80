/**
 * A page as the documentation of `useChat` has it, bundled for a browser. `?chat=ID` names its chat.
 * It keeps nothing itself: it begins with the messages that the server has.
 */
import { useChat } from '@ai-sdk/react';
import { createElement as element, useState, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

/** What a page of this size needs of a browser. */
interface Browser {
  readonly document: { getElementById(id: string): object };
  readonly location: { readonly search: string };
}
const { document, location } = globalThis as unknown as Browser;

type Chat = ReturnType<typeof useChat>;
type Part = Chat['messages'][number]['parts'][number];

interface ChatProps {
  readonly id: string;
  readonly messages: Chat['messages'];
}

function Chat({ id, messages }: ChatProps): ReactNode {
  const [text, setText] = useState('');
  const chat = useChat({ id, resume: true, messages });
  const send = (): void => {
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

const id = new URLSearchParams(location.search).get('chat') ?? '';
const answered = await fetch(`/api/chat/${id}/messages`);
const messages = (await answered.json()) as Chat['messages'];
createRoot(document.getElementById('root') as never).render(element(Chat, { id, messages }));
