/** Highlights JSON and the language of programs. A text that is very long stays plain. */
import type { JSX } from 'preact';
import { Long, Plain } from './words.tsx';

const MAX_HIGHLIGHTED = 20_000;

const JSON_TOKEN =
  /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b/g;

const LISP_TOKEN =
  /("(?:[^"\\]|\\.)*")|(;[^\n]*)|(:[\w?!*+<>=-]+)|(?<![\w-])(-?\d+(?:\.\d+)?)(?![\w-])|((?:tool|data)\/[\w-]+)|(?<=\()([^\s()[\]{}"]+)/g;

/** A JSON value, indented. */
export function JsonText({ value }: { readonly value: unknown }): JSX.Element {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  if (typeof value === 'string' || text.length > MAX_HIGHLIGHTED) {
    return (
      <pre class="json" tabIndex={0}>
        <Long text={text} />
      </pre>
    );
  }
  return (
    <pre class="json" tabIndex={0}>
      {pieces(text, JSON_TOKEN, (match) => {
        if (match[1] === undefined) return 'code-number';
        return match[2] === undefined ? 'code-string' : '';
      })}
    </pre>
  );
}

/** A program, or a part of one. */
export function LispText({ text }: { readonly text: string }): JSX.Element {
  if (text.length > MAX_HIGHLIGHTED) return <Long text={text} />;
  return <>{pieces(text, LISP_TOKEN, classOfLisp)}</>;
}

function classOfLisp(match: RegExpMatchArray): string {
  if (match[1] !== undefined) return 'code-string';
  if (match[2] !== undefined) return 'faint';
  if (match[3] !== undefined) return 'code-key';
  if (match[4] !== undefined) return 'code-number';
  if (match[5] !== undefined) return 'code-tool';
  return 'code-call';
}

function pieces(
  text: string,
  token: RegExp,
  classOf: (match: RegExpMatchArray) => string,
): readonly (JSX.Element | string)[] {
  const found: (JSX.Element | string)[] = [];
  let from = 0;
  for (const match of text.matchAll(token)) {
    const name = classOf(match);
    const shown = match[1] ?? match[0];
    if (name === '') continue;
    if (match.index > from) found.push(<Plain key={from} text={text.slice(from, match.index)} />);
    found.push(
      <span class={name} key={`t${match.index}`}>
        <Plain text={shown} />
      </span>,
    );
    from = match.index + shown.length;
  }
  found.push(<Plain key={from} text={text.slice(from)} />);
  return found;
}
