/** Finds a page, a run or an agent by its name. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { AgentsAnswer, RunRow, RunsAnswer } from '../../api.ts';
import { get } from '../base/api.ts';
import { useResource } from '../base/resource.ts';
import { go, hrefOf } from '../base/route.ts';
import { Dialog } from '../parts/dialog.tsx';
import { oneLine, Plain } from '../parts/words.tsx';

interface Found {
  readonly kind: string;
  readonly name: string;
  readonly text: string;
  readonly href: string;
}

const PAGES: readonly Found[] = (
  ['runs', 'inbox', 'agents', 'schedules', 'tenants', 'system'] as const
).map((page) => ({
  kind: 'page',
  name: page,
  text: '',
  href: hrefOf({ page }),
}));

/** The dialog that finds things. */
export function Palette({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const words = useSignal('');
  const place = useSignal(0);
  const runs = useSignal<readonly RunRow[]>([]);
  const agents = useResource<AgentsAnswer>('/agents').data.value?.agents ?? [];
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const query = new URLSearchParams({ limit: '20', q: words.value });
      get<RunsAnswer>(`/runs?${query.toString()}`, stop.signal).then(
        (answer) => (runs.value = answer.rows),
        () => undefined,
      );
    }, 120);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [words.value]);
  const found = [
    ...PAGES,
    ...agents.map(({ name, description }) => ({
      kind: 'agent',
      name,
      text: description,
      href: hrefOf({ page: 'agent', name }),
    })),
    ...runs.value.map(({ id, agent, task }) => ({
      kind: 'run',
      name: agent,
      text: oneLine(task === '' ? id : task, 80),
      href: hrefOf({ page: 'run', id }),
    })),
  ]
    .filter(({ kind, name, text }) =>
      kind === 'run' ? true : `${name} ${text}`.toLowerCase().includes(words.value.toLowerCase()),
    )
    .slice(0, 30);
  const open = (item: Found | undefined): void => {
    if (item === undefined) return;
    onClose();
    go(item.href);
  };
  const move = (by: number): void => {
    place.value = Math.max(0, Math.min(found.length - 1, place.value + by));
  };
  return (
    <Dialog
      title="Find"
      class="palette"
      onClose={onClose}
      onSubmit={() => open(found[place.value])}
    >
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={`found-${place.value}`}
        aria-label="Find a page, a run or an agent"
        placeholder="A page, an agent, words of a task, the id of a run"
        autocomplete="off"
        autofocus
        value={words.value}
        onInput={(event) => {
          words.value = event.currentTarget.value;
          place.value = 0;
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') move(1);
          else if (event.key === 'ArrowUp') move(-1);
          else return;
          event.preventDefault();
        }}
      />
      <ul role="listbox" id="found" aria-label="Found">
        {found.map((item, index) => (
          <li
            key={item.href}
            id={`found-${index}`}
            role="option"
            aria-selected={index === place.value}
            onClick={() => open(item)}
          >
            <span class="faint">{item.kind}</span>
            <span class="mono">
              <Plain text={item.name} />
            </span>
            <span class="muted clip">
              <Plain text={item.text} />
            </span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
