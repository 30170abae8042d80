/** Parts that are loaded when they are first shown, so that the first page is small. */
import { signal } from '@preact/signals';
import type { FunctionComponent, JSX } from 'preact';
import { Dialog } from './dialog.tsx';
import { Skeleton } from './marks.tsx';

/** A component that `load` gives when it is first shown; a failed load is tried again. */
export function lazy<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
  Loading: FunctionComponent<Props> = () => <Skeleton />,
): FunctionComponent<Props> {
  const loaded = signal<FunctionComponent<Props> | null>(null);
  let isAsked = false;
  return function Lazy(props: Props): JSX.Element {
    const Part = loaded.value;
    if (Part !== null) return <Part {...props} />;
    if (!isAsked) {
      isAsked = true;
      load().then(
        (part) => (loaded.value = part),
        () => (isAsked = false),
      );
    }
    return <Loading {...props} />;
  };
}

/** As {@link lazy}, for a dialog: it is open while it loads, so that no key acts on the page below. */
export function lazyDialog<Props extends { readonly onClose: () => void }>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  return lazy(load, ({ onClose }) => (
    <Dialog title="Loading" onClose={onClose}>
      <Skeleton />
    </Dialog>
  ));
}
