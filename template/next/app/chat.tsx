'use client';
import { useChat } from '@ai-sdk/react';
import { getToolName, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { useState } from 'react';

/** A chat with the clerk: text while it is written, calls, and calls that wait for approval. */
export function Chat({ id }: { readonly id: string }) {
  const [text, setText] = useState('');
  const { messages, status, error, sendMessage, addToolApprovalResponse } = useChat({
    id,
    resume: true,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  return (
    <main>
      {messages.map((message) => (
        <article key={message.id}>
          <h2>{message.role === 'user' ? 'You' : 'Clerk'}</h2>
          {message.parts.map((part, index) => {
            if (part.type === 'text') {
              // Another attempt or the answer replaces a text that is void.
              const isVoid = part.providerMetadata?.everloop?.void === true;
              return isVoid ? null : <p key={index}>{part.text}</p>;
            }
            if (!isToolUIPart(part)) return null;
            const call = `${getToolName(part)} ${JSON.stringify(part.input)}`;
            if (part.state !== 'approval-requested') {
              return (
                <p key={index}>
                  {call}: {part.state}
                </p>
              );
            }
            const decide = (approved: boolean) =>
              void addToolApprovalResponse({ id: part.approval.id, approved });
            return (
              <p key={index}>
                {call} <button onClick={() => decide(true)}>Approve</button>{' '}
                <button onClick={() => decide(false)}>Deny</button>
              </p>
            );
          })}
        </article>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void sendMessage({ text });
          setText('');
        }}
      >
        <input value={text} onChange={(event) => setText(event.target.value)} autoFocus />
        <button disabled={text === ''}>Send</button> {status}
      </form>
    </main>
  );
}
