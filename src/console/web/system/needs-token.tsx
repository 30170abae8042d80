/** The page of a browser without a token. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { isOffline } from '../base/connection.ts';
import { keep, recall } from '../base/session.ts';

/** Asks for the token. */
export function NeedsToken({ onKey }: { readonly onKey: () => Promise<void> }): JSX.Element {
  const key = useSignal('');
  // A kept key came with the address, or from here.
  const isRefused = useSignal(recall('key') !== null);
  return (
    <main class="gate">
      <h1>This console needs its key</h1>
      <p class="muted">
        Open the address that <code>everloop console</code> or <code>everloop dev</code> printed: it
        carries the key. Where <code>EVERLOOP_CONSOLE_TOKEN</code> is set, that is the key. Enter it
        here.
      </p>
      <p class="tone-bad" role="status">
        {isRefused.value ? 'The console refused this key. Enter another.' : ''}
      </p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          keep('key', key.value.trim());
          isRefused.value = false;
          // Whoever has the right key leaves this page.
          void onKey().then(() => (isRefused.value = !isOffline.value));
        }}
      >
        <input
          class="mono"
          type="password"
          aria-label="Key"
          autocomplete="off"
          value={key.value}
          onInput={(event) => (key.value = event.currentTarget.value)}
        />
        <button type="submit" class="btn primary" disabled={key.value.trim() === ''}>
          Open
        </button>
      </form>
    </main>
  );
}
