/** Edits the arguments of a call: a field each, or JSON for what is nested; shows what changes. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { JsonObject } from '../../../core/base/json.ts';
import { Plain } from '../parts/words.tsx';

/** What the form edits. */
export interface EditArgumentsProps {
  readonly args: JsonObject;
  readonly isOff: boolean;
  readonly onBack: () => void;
  readonly onSend: (args: JsonObject) => void;
}

/** A form for `args`. */
export function EditArguments({ args, isOff, onBack, onSend }: EditArgumentsProps): JSX.Element {
  const texts = useSignal<Readonly<Record<string, string>>>(textsOf(args));
  const read = readTexts(args, texts.value);
  const changed = Object.keys(args).filter((name) => texts.value[name] !== textsOf(args)[name]);
  return (
    <form
      class="edit"
      onSubmit={(event) => {
        event.preventDefault();
        if (read.problem === '') onSend(read.args);
      }}
    >
      {Object.entries(args).map(([name, value], index) => (
        <label class="field" key={name}>
          <span class="mono">
            <Plain text={name} />
          </span>
          {typeof value === 'object' && value !== null ? (
            <textarea
              class="mono"
              value={texts.value[name] ?? ''}
              onInput={(event) =>
                (texts.value = { ...texts.value, [name]: event.currentTarget.value })
              }
            />
          ) : (
            <input
              class="mono"
              autofocus={index === 0}
              value={texts.value[name] ?? ''}
              onInput={(event) =>
                (texts.value = { ...texts.value, [name]: event.currentTarget.value })
              }
            />
          )}
        </label>
      ))}
      {changed.length === 0 ? null : (
        <pre class="diff" aria-label="What changes">
          {changed.map((name) => (
            <span key={name}>
              <del>
                - <Plain text={name} />: <Plain text={textsOf(args)[name] ?? ''} />
              </del>
              {'\n'}
              <ins>
                + <Plain text={name} />: <Plain text={texts.value[name] ?? ''} />
              </ins>
              {'\n'}
            </span>
          ))}
        </pre>
      )}
      {read.problem === '' ? null : (
        <p class="tone-bad" role="alert">
          <Plain text={read.problem} />
        </p>
      )}
      <div class="acts">
        <button
          type="submit"
          class="btn primary"
          disabled={isOff || read.problem !== '' || changed.length === 0}
        >
          Approve with changes
        </button>
        <button type="button" class="btn" onClick={onBack}>
          Back
        </button>
      </div>
    </form>
  );
}

function textsOf(args: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value, null, 2),
    ]),
  );
}

/** A text stays a text; everything else is read as JSON. */
function readTexts(
  args: JsonObject,
  texts: Readonly<Record<string, string>>,
): { readonly args: JsonObject; readonly problem: string } {
  const read: [string, JsonObject[string]][] = [];
  for (const [name, value] of Object.entries(args)) {
    const text = texts[name] ?? '';
    if (typeof value === 'string') {
      read.push([name, text]);
      continue;
    }
    try {
      read.push([name, JSON.parse(text) as JsonObject[string]]);
    } catch {
      return { args, problem: `Expected JSON in ${name}, got ${text.slice(0, 200)}.` };
    }
  }
  // Not by assignment: an argument may be named `__proto__`.
  return { args: Object.fromEntries(read), problem: '' };
}
