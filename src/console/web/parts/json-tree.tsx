/** A JSON value as a tree that opens level by level. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Long, Plain } from './words.tsx';

/** Members shown before somebody asks for more. */
const FIRST_MEMBERS = 100;

/** What a tree shows. */
export interface JsonTreeProps {
  readonly value: unknown;
  readonly name?: string;
  readonly isOpen?: boolean;
}

/** One value, and those in it. */
export function JsonTree({ value, name, isOpen = false }: JsonTreeProps): JSX.Element {
  const [isShown, setShown] = useState(isOpen);
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== 'object' || value === null) return <Leaf value={value} name={name} />;
  const members = Object.entries(value);
  const brackets = Array.isArray(value) ? '[]' : '{}';
  const shown = isWhole ? members : members.slice(0, FIRST_MEMBERS);
  const body = (
    <>
      {shown.map(([key, member]) => (
        <JsonTree key={key} name={key} value={member} />
      ))}
      {shown.length < members.length ? (
        <button type="button" class="btn small" onClick={() => setWhole(true)}>
          Show all {members.length}
        </button>
      ) : null}
    </>
  );
  if (name === undefined) return <div>{body}</div>;
  if (members.length === 0) return <Leaf value={value} name={name} />;
  return (
    <details open={isShown} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary class="mono">
        <span class="code-key">
          <Plain text={name} />
        </span>{' '}
        <span class="faint">
          {brackets[0]}
          {members.length}
          {brackets[1]}
        </span>
      </summary>
      {isShown ? <div class="level">{body}</div> : null}
    </details>
  );
}

function Leaf({
  value,
  name,
}: {
  readonly value: unknown;
  readonly name?: string | undefined;
}): JSX.Element {
  const kind =
    typeof value === 'object' ? 'faint' : typeof value === 'string' ? 'code-string' : 'code-number';
  return (
    <div class="leaf mono">
      {name === undefined ? null : (
        <span class="code-key">
          <Plain text={name} />
        </span>
      )}{' '}
      <span class={kind}>
        <Long text={typeof value === 'string' ? value : JSON.stringify(value)} />
      </span>
    </div>
  );
}
