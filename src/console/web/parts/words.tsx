/**
 * Words of models, tools and people. They are hostile: text nodes only, control and bidirectional
 * characters are shown by their number, long texts are cut until somebody asks for all of them.
 */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

/**
 * Characters that change how other characters look, or that cannot be seen: control and format
 * characters, separators of lines, fillers of Hangul, the empty pattern of Braille and the joiner of
 * graphemes. Selectors of variants are left: emoji have them.
 */
const HIDDEN =
  /(?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029\u115F\u1160\u3164\uFFA0\u2800]|[\u{E0100}-\u{E01EF}]|\u034F/gu;

/** Of so many a text shows each by its number; a node each for more would hold the page. */
const MAX_SHOWN = 200;

const FIRST_CHARACTERS = 8_000;

/** `text` as it is, its hidden characters shown. */
export function Plain({ text }: { readonly text: string }): JSX.Element {
  const parts: (string | JSX.Element)[] = [];
  let from = 0;
  let shown = 0;
  for (const match of text.matchAll(HIDDEN)) {
    shown += 1;
    if (shown > MAX_SHOWN) return <>{[...parts, text.slice(from).replaceAll(HIDDEN, '\uFFFD')]}</>;
    if (match.index > from) parts.push(text.slice(from, match.index));
    const code = (match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    parts.push(
      <span class="shown-control" key={match.index} title="A character that cannot be seen">
        U+{code}
      </span>,
    );
    from = match.index + match[0].length;
  }
  if (from === 0) return <>{text}</>;
  parts.push(text.slice(from));
  return <>{parts}</>;
}

/** `text`, its first part if it is long, with a button for the rest. */
export function Long({ text }: { readonly text: string }): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  const isCut = text.length > FIRST_CHARACTERS && !isWhole;
  return (
    <>
      <Plain text={isCut ? text.slice(0, FIRST_CHARACTERS) : text} />
      {isCut ? (
        <button type="button" class="btn small" onClick={() => setWhole(true)}>
          Show all {Math.round(text.length / 1000)} 000 characters
        </button>
      ) : null}
    </>
  );
}

/** A sentence for people, in which commands and names stand in backticks. */
export function Said({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {text
        .split('`')
        .map((part, index) => (index % 2 === 0 ? <Plain text={part} /> : <code>{part}</code>))}
    </>
  );
}

/** `text` on one line, for a row; at most `most` characters. */
export function oneLine(text: string, most = 240): string {
  const cut = text.length > most * 2 ? text.slice(0, most * 2) : text;
  const line = cut.replaceAll(HIDDEN, ' ').replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most)}…` : line;
}
