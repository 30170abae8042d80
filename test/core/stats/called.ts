/** The event of a model call, for tests of what it adds to statistics. */
import type { AgentEvent } from '../../../src/core/contract/events.ts';
import { noUsage } from '../../../src/core/model/usage.ts';

/** What all events of these tests have. */
const BASE = {
  seq: 1,
  runId: 'r',
  agent: 'a',
  agentPath: 'a',
  at: 0,
  iteration: 1,
  depth: 0,
} as const;

/** A model call of two attempts that used `usage`, and lost what is `estimated`. */
export function called(usage: object, estimated?: object): AgentEvent {
  return {
    ...BASE,
    type: 'agent:model_call:after',
    model: 'm',
    purpose: 'reply',
    usage: { ...noUsage, ...usage },
    usageKnown: true,
    attempts: 2,
    durationMs: 0,
    ...(estimated === undefined ? {} : { estimated }),
  } as AgentEvent;
}
