/** The contract of `Host`, kept by the host in memory. */
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { HANDOVER_CASE, HOST_CASES, nextCase } from '../cases/host.cases.ts';
import { hostCaseWorld } from '../support/host-case-agents.ts';
import { withoutWaits } from '../support/no-waits.ts';

/** Runs a case while time passes, a tenth of a second of the clock at a time. */
async function stepOf(task: string): Promise<Step> {
  const { agents, models } = hostCaseWorld();
  const [agent, ...others] = agents;
  const clock = createFakeClock();
  const ticking = setInterval(() => clock.advance(100), 2);
  try {
    const run = startInMemory({
      agent: agent!,
      agents: others,
      models,
      task,
      clock,
      next: nextCase,
      handoverDue: (iteration) => task === HANDOVER_CASE && iteration === 3,
    });
    return await withoutWaits(() => run.result);
  } finally {
    clearInterval(ticking);
  }
}

describe('the host in memory', () => {
  it.each(HOST_CASES)('$name', async ({ name, shows }) => {
    const { value, reason, message } = await stepOf(name);

    expect({ value, reason, message }).toEqual({ value: shows, reason: 'answered' });
  });

  it(HANDOVER_CASE, async () => {
    expect((await stepOf(HANDOVER_CASE)).value).toEqual({ outcomes: ['ok'], isLater: true });
  });
});
