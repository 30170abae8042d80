/** The contract of `Host`, kept by the host in memory. */
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import type { MemoryRun } from '../../src/testing/memory-run.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import type { Step } from '../../src/core/contract/step.ts';
import {
  HANDOVER_CASE,
  HANDOVER_SHOWS,
  HOST_CASES,
  nextCase,
  UNHEARD,
} from '../cases/host.cases.ts';
import { hostCaseWorld } from '../support/host-case-agents.ts';
import { withoutWaits } from '../support/no-waits.ts';

/** Runs a case while time passes, a tenth of a second of the clock at a time. */
async function stepOf(task: string): Promise<Step> {
  const { agents, models } = hostCaseWorld((address) =>
    run.children.find((child) => child.address === address)?.terminate(),
  );
  const [agent, ...others] = agents;
  const clock = createFakeClock();
  const ticking = setInterval(() => clock.advance(100), 2);
  let run: MemoryRun;
  try {
    run = startInMemory({
      agent: agent!,
      agents: others,
      models,
      task,
      clock,
      next: nextCase,
      handoverDue: (iteration) => task === HANDOVER_CASE && iteration === 1,
      carry: (message, deliver) => {
        if (message.kind !== UNHEARD.kind || message.message !== UNHEARD.message) deliver();
      },
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
    expect((await stepOf(HANDOVER_CASE)).value).toEqual(HANDOVER_SHOWS);
  });
});
