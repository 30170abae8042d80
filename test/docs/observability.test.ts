/** The page on telemetry and its dashboard name metrics that exist. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../../scripts/generated-docs.ts';
import { METRICS } from '../../src/telemetry/metrics.ts';

/** Metrics of the SDK that the page and the dashboard use; a scrape in `test/e2e` has the first two. */
const OF_THE_SDK: readonly string[] = [
  'temporal_activity_schedule_to_start_latency',
  'temporal_worker_task_slots_available',
  'temporal_workflow_task_execution_failed',
];

function metricsIn(text: string): readonly string[] {
  const names = text.match(/\b(?:everloop|temporal)_[a-z_]+\b/g) ?? [];
  return [...new Set(names)].map((name) => {
    const base = name.replace(/_(?:bucket|count|sum)$/, '');
    return base in METRICS || OF_THE_SDK.includes(base) ? base : name;
  });
}

const KNOWN = new Set([...Object.keys(METRICS), ...OF_THE_SDK]);

test('the dashboard uses metrics that exist, and has a panel for each of ours', () => {
  const text = readFileSync(join(ROOT, 'examples/observability/dashboard.json'), 'utf8');
  const { panels } = JSON.parse(text) as {
    readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
  };
  const used = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr)));
  expect(used.filter((name) => !KNOWN.has(name))).toEqual([]);
  expect(Object.keys(METRICS).filter((name) => !used.includes(name))).toEqual([
    // The alert on cost and the panel have it as tokens have it.
  ]);
});

test('the page has thirteen alert rules over metrics that exist', () => {
  const page = readFileSync(join(ROOT, 'docs/observability.md'), 'utf8');
  const [, rules = ''] = page.split('### What to alert on');
  const rows = (rules.split('## Logs')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '));
  // The first line is the head of the table.
  expect(rows.slice(1).filter((line) => !line.startsWith('| --'))).toHaveLength(13);
  const strange = metricsIn(page).filter(
    (name) => !KNOWN.has(name) && !name.startsWith('temporal_cloud_'),
  );
  expect(strange).toEqual([]);
});
