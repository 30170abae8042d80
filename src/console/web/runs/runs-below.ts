/** The runs below a row of the list: read when a row is opened, then kept fresh by the live feed. */
import { signal, type Signal } from '@preact/signals';
import type { RunRow, RunsAnswer } from '../../api.ts';
import { get } from '../base/api.ts';
import { say } from '../base/actions.ts';

/** Ids of the rows that are open. */
export const openRows: Signal<ReadonlySet<string>> = signal(new Set());

/** The runs below, by the id of the run that started them; absent: not read yet. */
const below: Signal<ReadonlyMap<string, readonly RunRow[]>> = signal(new Map());

/** A row, and how deep it stands below its root. */
export interface LeveledRow {
  readonly row: RunRow;
  readonly level: number;
}

/** Opens or closes the row `id`. */
export async function toggleRow(id: string): Promise<void> {
  const next = new Set(openRows.value);
  if (next.delete(id)) {
    openRows.value = next;
    return;
  }
  openRows.value = next.add(id);
  if (!below.value.has(id)) await loadBelow(id);
}

async function loadBelow(id: string): Promise<void> {
  try {
    const query = new URLSearchParams({ below: id, limit: '200' });
    const { rows } = await get<RunsAnswer>(`/runs?${query.toString()}`);
    const next = new Map(below.value);
    next.set(id, []);
    for (const parent of new Set(rows.map((row) => row.parent))) {
      if (parent !== null) next.set(parent, inOrder(rows.filter((row) => row.parent === parent)));
    }
    below.value = next;
  } catch {
    say('The runs below could not be read. Open the row again.');
    openRows.value = new Set([...openRows.value].filter((open) => open !== id));
  }
}

/** Takes rows of the live feed that stand below an open row. */
export function takeBelow(fresh: readonly RunRow[]): void {
  const known = fresh.filter(({ parent }) => parent !== null && below.value.has(parent));
  if (known.length === 0) return;
  const next = new Map(below.value);
  for (const row of known) {
    const parent = row.parent ?? '';
    const rest = (next.get(parent) ?? []).filter(({ id }) => id !== row.id);
    next.set(parent, inOrder([...rest, row]));
  }
  below.value = next;
}

/** `roots`, each followed by what stands below it and is open. */
export function withBelow(roots: readonly RunRow[]): readonly LeveledRow[] {
  if (openRows.value.size === 0) return roots.map((row) => ({ row, level: 0 }));
  const found: LeveledRow[] = [];
  const add = (row: RunRow, level: number): void => {
    found.push({ row, level });
    if (!openRows.value.has(row.id)) return;
    for (const child of below.value.get(row.id) ?? []) add(child, level + 1);
  };
  for (const row of roots) add(row, 0);
  return found;
}

/** In the order of their calls, which is that of their start. */
function inOrder(rows: readonly RunRow[]): readonly RunRow[] {
  return rows.toSorted((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1));
}
