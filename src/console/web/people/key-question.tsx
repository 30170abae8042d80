/** Asks once more what a key has begun: Enter does it, every other key leaves it. */
import type { JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { bindFormKeys } from '../base/keys.ts';

/** What is asked. */
export interface KeyQuestionProps {
  readonly text: string;
  /** What Enter does, as a button says it. */
  readonly verb: string;
  readonly isOff: boolean;
  readonly onBack: () => void;
  readonly onYes: () => void;
}

/** The question. Its buttons do not have the focus, because a space that is typed would press one. */
export function KeyQuestion(props: KeyQuestionProps): JSX.Element {
  const { text, verb, isOff, onBack, onYes } = props;
  useLayoutEffect(
    () =>
      bindFormKeys(
        [
          { key: 'Enter', text: verb, run: onYes },
          { key: 'Escape', text: 'Back', run: onBack },
        ],
        onBack,
      ),
    [],
  );
  return (
    <>
      <p class="notice" role="alert">
        {text}
      </p>
      <div class="acts">
        <button type="button" class="btn primary" disabled={isOff} onClick={onYes}>
          {verb} <kbd aria-hidden="true">Enter</kbd>
        </button>
        <button type="button" class="btn" onClick={onBack}>
          Back <kbd aria-hidden="true">Esc</kbd>
        </button>
      </div>
    </>
  );
}
