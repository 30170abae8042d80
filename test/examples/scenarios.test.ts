import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { repeatedKeys } from '../../examples/effect-log.ts';
import { textOf } from '../../src/core/base/message.ts';
import type { ModelRequest } from '../../src/core/contract/model.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { compactionsIn, playedInMemory, SCENARIOS, usageOf } from '../support/scenarios.ts';

const folder = mkdtempSync(join(tmpdir(), 'everloop-scenarios-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('[row 58] a scenario', () => {
  test.each(SCENARIOS)('ends as it should: $name', async (scenario) => {
    const requests: ModelRequest[] = [];
    const agent = scenario.agent({
      folder,
      around: (model) => (request, io) => {
        requests.push(request);
        return model(request, io);
      },
    });

    const run = startInMemory({ agent, task: scenario.task });
    const step = await playedInMemory(run, scenario);

    const { durationMs, ...usage } = step.usage;
    expect(durationMs).toBeGreaterThanOrEqual(0);
    expect(usage).toEqual(usageOf(scenario));
    expect([step.status, step.reason, step.iterations]).toEqual([
      'success',
      'answered',
      scenario.script.length,
    ]);
    expect(step.value).toContain(scenario.answerHolds);
    expect(step.stats.counters['agent:tool_calls_error_total'] ?? 0).toBe(0);
    expect(compactionsIn(run.events)).toEqual(scenario.compactedAfter);
    const world = scenario.world(folder);
    expect(world.state()).toEqual(scenario.end);
    expect(repeatedKeys(world.log)).toEqual([]);
    const last = requests.filter(({ mode }) => mode === 'lisp').slice(-1);
    for (const request of [...repliesAfter(requests, scenario.compactedAfter), ...last]) {
      const said = request.messages.map(textOf).join('\n');
      expect(scenario.facts.filter((fact) => !said.includes(fact))).toEqual([]);
    }
  });
});

/** The requests for replies behind a compaction. */
function repliesAfter(
  requests: readonly ModelRequest[],
  [first = Infinity]: readonly number[],
): readonly ModelRequest[] {
  return requests.filter(({ mode, iteration }) => mode !== 'text' && iteration > first);
}
