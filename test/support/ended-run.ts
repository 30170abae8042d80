/** What every run on a server must show once it has ended. */
import { expect } from 'vitest';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { hasNoGap } from './runs.ts';
import type { Stage } from './stage.ts';

/** How a run ended, in short. */
export function endingOf({ status, reason, message, iterations }: Step): object {
  return { status, reason, message, iterations };
}

/** The events of a run that has ended: checked to be whole and to end with it, its history replayed. */
export async function checkedEvents(stage: Stage, run: RunHandle): Promise<readonly AgentEvent[]> {
  const events = await run.events();
  expect(hasNoGap(events)).toBe(true);
  expect(events.at(-1)?.type).toBe('agent:execution:after');
  await stage.replay(run);
  return events;
}
