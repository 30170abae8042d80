/** Parts that are loaded when they are first shown, so that the first page is small. */
import { signal } from '@preact/signals';
import type { FunctionComponent, JSX } from 'preact';
import { Skeleton } from './marks.tsx';

/** A component that `load` gives when it is first shown; a failed load is tried again. */
export function lazy<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
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
    return <Skeleton />;
  };
}
