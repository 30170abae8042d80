/** What an agent did in the last day: how many runs, and what those that were read have spent. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ProgressAnswer, RunsAnswer } from '../../api.ts';
import { moneyText, numberText } from '../../view/amounts.ts';
import { serverNow } from '../base/clock.ts';
import { useResource } from '../base/resource.ts';

const DAY_MS = 86_400_000;

/** Runs whose spend is read: one question to the server. */
const MAX_READ = 60;

/** `42 runs in the last day, $1.20` of agent `name`. */
export function Day({ name }: { readonly name: string }): JSX.Element | null {
  const since = useMemo(() => serverNow() - DAY_MS, [name]);
  const search = new URLSearchParams({ agent: name, since: String(since), limit: `${MAX_READ}` });
  const list = useResource<RunsAnswer>(`/runs?${search.toString()}`).data.value;
  const ids = (list?.rows ?? []).map(({ id }) => `id=${encodeURIComponent(id)}`).join('&');
  const read = useResource<ProgressAnswer>(ids === '' ? null : `/runs/progress?${ids}`).data.value;
  if (list === null) return null;
  const counted = Object.values(list.counts ?? {}).reduce<number>(
    (all, one) => all + (one ?? 0),
    0,
  );
  const count = list.counts === null ? list.rows.length : counted;
  const runs = read?.runs ?? [];
  const cost = runs.reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0);
  const tokens = runs.reduce((sum, one) => sum + one.tokens, 0);
  const isPart = runs.length < count;
  return (
    <span class="muted" role="status">
      {numberText(count)} {count === 1 ? 'run' : 'runs'} in the last day
      {runs.length === 0
        ? ''
        : ` · ${numberText(tokens)} tokens · ${moneyText(cost)}${isPart ? ` in ${runs.length} of them` : ''}`}
    </span>
  );
}
