/** Which events the live feed acts on at once. */
import type { AgentEvent } from '../../core/contract/events.ts';

/** A run begins or ends to wait for somebody, a turn of it begins or ends, or it has ended. */
const CHANGES_WAITING: readonly AgentEvent['type'][] = [
  'agent:question:asked',
  'agent:question:answered',
  'agent:approval:requested',
  'agent:approval:decided',
  'agent:external:begun',
  'agent:external:ended',
  'agent:paused',
  'agent:resumed',
  'agent:turn:before',
  'agent:turn:after',
  'agent:execution:after',
];

/** Events that change a row of the list, or the inbox. */
export const CHANGES_LIST: readonly AgentEvent['type'][] = [
  ...CHANGES_WAITING,
  'agent:execution:before',
];

/** Events after which people who look at a run look for its state at once. */
export const CHANGES_STATE: ReadonlySet<string> = new Set<AgentEvent['type']>([
  ...CHANGES_WAITING,
  'agent:waiting',
  'agent:adjusted',
  'agent:iteration:after',
  'agent:program:before',
]);
