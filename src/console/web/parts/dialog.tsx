/** Dialogs: the focus stays inside, Escape closes, and the focus returns to where it was. */
import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from './marks.tsx';

/** What a dialog shows. */
export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Buttons, the main one last. */
  readonly foot?: ComponentChildren;
  readonly onSubmit?: () => void;
  readonly class?: string;
}

/** A dialog that is open while it is shown. */
export function Dialog(props: DialogProps): JSX.Element {
  const { title, onClose, children, foot, onSubmit } = props;
  const element = useRef<HTMLDialogElement>(null);
  const isShown = useRef(true);
  // Before it is painted: what is typed as it appears belongs into it, and is no key of the page.
  useLayoutEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      isShown.current = false;
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={props.class}
      aria-label={title}
      onCancel={(event) => {
        // Closed by the page, and at once: `close` comes when the next key may have acted.
        event.preventDefault();
        onClose();
      }}
      onClose={() => {
        // A browser may close it without asking; of one that is gone, nobody must hear.
        if (isShown.current) onClose();
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit?.();
        }}
      >
        <header class="dialog-head">
          <h2>{title}</h2>
          <button type="button" class="btn quiet small right" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        <div class="dialog-body">{children}</div>
        {foot === undefined ? null : <footer class="dialog-foot">{foot}</footer>}
      </form>
    </dialog>
  );
}
