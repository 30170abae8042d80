/** The runs beside a run: those that the same run started, else those of the list. */
import type { RunRow, RunsAnswer } from '../../api.ts';
import { say } from '../base/actions.ts';
import { get } from '../base/api.ts';
import { go, hrefOf } from '../base/route.ts';
import { rows } from '../runs/runs-state.ts';
import type { RunModel } from './run-state.ts';

/** Rows that are read to find a neighbour. */
const MAX_ROWS = '200';

/** Opens the run before `run` (-1), or the one after it (1). */
export async function openNeighbour(run: RunModel, by: -1 | 1): Promise<void> {
  const beside = await runsBeside(run.header.value?.parent ?? null).catch(() => []);
  const place = beside.findIndex(({ id }) => id === run.id);
  const next = place === -1 ? undefined : beside[place + by];
  if (next !== undefined) go(hrefOf({ page: 'run', id: next.id }));
  else say(by === 1 ? 'There is no run after this one.' : 'There is no run before this one.');
}

/** Of a child: its siblings, oldest first. Of a root: the list, as it was last shown. */
async function runsBeside(parent: string | null): Promise<readonly RunRow[]> {
  if (parent === null && rows.value.length > 0) return rows.value;
  const which = parent === null ? { roots: 'true' } : { below: parent };
  const query = new URLSearchParams({ ...which, limit: MAX_ROWS });
  const { rows: found } = await get<RunsAnswer>(`/runs?${query.toString()}`);
  if (parent === null) return found;
  return found
    .filter((row) => row.parent === parent)
    .toSorted((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1));
}
