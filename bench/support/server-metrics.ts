/**
 * What a development server says of itself at `/metrics`, for Prometheus.
 *
 * The server writes its counters about once a second, so a reader waits until they stand still.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** Actions of a namespace, by the type that the server gives them, without its prefix. */
export type ActionCounts = Readonly<Record<string, number>>;

const WAIT_MS = 1_200;
/** Readings of the same counts in a row after which nothing more is to come. */
const SAME_READINGS = 2;

/** The counts of the metric `action` of namespace `default`, once they stand still. */
export async function readActions(port: number): Promise<ActionCounts> {
  let same = 1;
  let last = await actionsNow(port);
  while (same < SAME_READINGS) {
    await sleep(WAIT_MS);
    const next = await actionsNow(port);
    same = JSON.stringify(next) === JSON.stringify(last) ? same + 1 : 1;
    last = next;
  }
  return last;
}

/** What `after` has more than `before`; types without a difference are left out. */
export function actionsSince(before: ActionCounts, after: ActionCounts): ActionCounts {
  return Object.fromEntries(
    Object.entries(after)
      .map(([type, count]) => [type, count - (before[type] ?? 0)] as const)
      .filter(([, count]) => count !== 0),
  );
}

/** The sum of all types. */
export function sumOf(counts: ActionCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

async function actionsNow(port: number): Promise<ActionCounts> {
  return actionsOfText(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
}

/** The counts in what a server answers at `/metrics`. */
export function actionsOfText(text: string): ActionCounts {
  const counts: Record<string, number> = {};
  for (const [, labels = '', value] of text.matchAll(/^action\{([^}]*)\} (\S+)$/gm)) {
    if (!labels.includes('namespace="default"')) continue;
    const type = /action_type="(?:command_|grpc_)?([^"]*)"/.exec(labels)?.[1] ?? 'unknown';
    counts[type] = (counts[type] ?? 0) + Number(value);
  }
  return Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
