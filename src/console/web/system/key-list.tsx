/** All keys that act on the open page. */
import type { JSX } from 'preact';
import { boundKeys } from '../base/keys.ts';
import { hasSingleKeys, setSingleKeys } from '../base/session.ts';
import { Dialog } from '../parts/dialog.tsx';

/** The dialog with the keys. */
export function KeyList({ onClose }: { readonly onClose: () => void }): JSX.Element {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {boundKeys().map(({ key, text }) => (
          <>
            <dt key={key}>
              {key.split(' ').map((part) => (
                <kbd key={part}>{part}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </>
        ))}
      </dl>
      <label class="row setting">
        <input
          type="checkbox"
          checked={hasSingleKeys.value}
          onChange={(event) => setSingleKeys(event.currentTarget.checked)}
        />
        Single keys act
      </label>
    </Dialog>
  );
}
