/** Which spans runs have: golden trees of the reference scenarios, and what holds for each. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { MATRIX_SCENARIOS } from '../matrix/scenarios.ts';
import { partsTo, readerAgent } from '../support/fan-outs.ts';
import { fanOut } from '../../src/define/pipeline/define-fan-out.ts';
import { checkSpans, spanTree, traceInMemory, type TracedRun } from '../support/spans.ts';

const folder = mkdtempSync(join(tmpdir(), 'everloop-spans-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function traced(name: string): Promise<TracedRun> {
  const scenario = MATRIX_SCENARIOS.find((one) => one.name === name);
  const agents = scenario?.agents(folder) ?? [];
  const agent = agents.find((one) => one.name === name);
  if (scenario === undefined || agent === undefined) throw new Error(`no scenario ${name}`);
  const isHandedOver = scenario.handsOver === true;
  return traceInMemory({
    agent,
    agents: agents.filter((one) => one !== agent),
    handoverDue: () => isHandedOver,
  });
}

test.each(MATRIX_SCENARIOS.map(({ name }) => name))('the spans of scenario %s', async (name) => {
  const run = await traced(name);
  checkSpans(run);
  await expect(`${spanTree(run.spans)}\n`).toMatchFileSnapshot(`golden/${name}.txt`);
  // A second run has the same spans under the same ids.
  const again = await traced(name);
  const idsOf = ({ spans }: TracedRun): readonly string[] =>
    spans.map(({ spanId }) => spanId).toSorted();
  expect(idsOf(again)).toEqual(idsOf(run));
});

test('a fan-out over 50 items is one trace', async () => {
  const agent = fanOut('reading', readerAgent());
  const run = await traceInMemory({ agent, context: { items: [...partsTo(50)] } });
  checkSpans(run);
  const runs = run.spans.filter(({ name }) => name === 'invoke_agent reader');
  expect(runs).toHaveLength(50);
});
