/** A form that was opened within a page: its first field has the focus, and no key of the page acts. */
import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { bindFormKeys } from '../base/keys.ts';

/** What a form shows. */
export interface OpenFormProps {
  readonly class: string;
  readonly onBack: () => void;
  readonly onSubmit: () => void;
  readonly children: ComponentChildren;
}

/** A form that is open while it is shown; Escape leads back. */
export function OpenForm(props: OpenFormProps): JSX.Element {
  const { onBack, onSubmit, children } = props;
  const element = useRef<HTMLFormElement>(null);
  // At once: a browser honours `autofocus` later or, once something had the focus, not at all.
  useLayoutEffect(() => {
    element.current?.querySelector<HTMLElement>('input,select,textarea')?.focus();
    return bindFormKeys([{ key: 'Escape', text: 'Back', run: onBack }]);
  }, []);
  return (
    <form
      ref={element}
      class={props.class}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.isComposing) return;
        event.preventDefault();
        onBack();
      }}
    >
      {children}
    </form>
  );
}
