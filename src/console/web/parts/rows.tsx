/** A window on a long list of rows of one height: only those near the view are in the page. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

const EXTRA_ROWS = 12;

/** The rows of a table from the first to before the last that are near the view. */
export function useWindow(
  count: number,
  height: number,
): {
  readonly top: { readonly current: HTMLTableSectionElement | null };
  readonly first: number;
  readonly last: number;
} {
  const top = useRef<HTMLTableSectionElement>(null);
  const [range, setRange] = useState({ first: 0, last: Math.min(count, 60) });
  useEffect(() => {
    const look = (): void => {
      const at = top.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-at / height) - EXTRA_ROWS);
      const last = Math.min(count, Math.ceil((innerHeight - at) / height) + EXTRA_ROWS);
      setRange((old) => (old.first === first && old.last === last ? old : { first, last }));
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [count, height]);
  return { top, first: Math.min(range.first, count), last: Math.min(range.last, count) };
}

/** A row that stands for `count` rows outside of the window. */
export function Space({
  count,
  height,
}: {
  readonly count: number;
  readonly height: number;
}): JSX.Element | null {
  if (count <= 0) return null;
  return (
    <tr aria-hidden="true">
      <td style={{ height: `${count * height}px`, padding: 0, border: 0 }} />
    </tr>
  );
}

/** A labelled value in a list of values. */
export function Fact({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
