/** Messages as a model gets them. */
import type { JSX } from 'preact';
import type { Message } from '../../../core/base/message.ts';
import { numberText } from '../../view/amounts.ts';
import { messageText } from '../../view/entries.ts';
import { Long } from './words.tsx';

/** Messages, each with the estimate of its tokens if it is known. */
export function Messages({
  messages,
  tokens = [],
  inTranscript = [],
}: {
  readonly messages: readonly Message[];
  readonly tokens?: readonly number[];
  /** Whether the transcript has it; absent: nothing is said of it. */
  readonly inTranscript?: readonly boolean[];
}): JSX.Element {
  return (
    <ol class="messages">
      {messages.map((message, index) => (
        <li key={index}>
          <header class="row">
            <span class="tag">{message.role}</span>
            {inTranscript[index] === false ? (
              <span class="tag run">not in the transcript</span>
            ) : null}
            {tokens[index] === undefined ? null : (
              <span class="faint right">about {numberText(tokens[index])} tokens</span>
            )}
          </header>
          <pre tabIndex={0}>
            <Long text={messageText(message)} />
          </pre>
        </li>
      ))}
    </ol>
  );
}
