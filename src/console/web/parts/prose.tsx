/** Words of a model as prose. Markdown is read by a part that is loaded when it is first needed. */
import { signal, type Signal } from '@preact/signals';
import type { FunctionComponent, JSX } from 'preact';
import { Long } from './words.tsx';

const markdown: Signal<FunctionComponent<{ readonly text: string }> | null> = signal(null);
let isAsked = false;

function load(): void {
  if (isAsked) return;
  isAsked = true;
  import('./markdown.tsx').then(
    ({ Markdown }) => (markdown.value = Markdown),
    () => (isAsked = false),
  );
}

/** `text` with its headings, lists and code; plain until the reader of Markdown is there. */
export function Prose({ text }: { readonly text: string }): JSX.Element {
  const hasMarkup = /[*_`#[\]|>]|^\s*(\d+\.|-)\s/m.test(text);
  const Markdown = markdown.value;
  if (hasMarkup && Markdown === null) load();
  if (hasMarkup && Markdown !== null) {
    return (
      <div class="prose">
        <Markdown text={text} />
      </div>
    );
  }
  return (
    <div class="prose plain">
      <Long text={text} />
    </div>
  );
}
