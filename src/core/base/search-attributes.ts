/**
 * The search attributes of runs, by which the service can list them. A namespace may lack them, so
 * only a run that was started with them has them.
 */

/** Names of the attributes; all are keywords. */
export const SEARCH_ATTRIBUTES = {
  /** Name of the agent. */
  agent: 'EverloopAgent',
  /** `running`, or `waiting` while the run waits for a person. */
  state: 'EverloopState',
  /** Name of the tenant; only runs of a tenant have it. */
  tenant: 'EverloopTenant',
} as const;

/** The value of `EverloopState`. */
export function visibleState(isWaiting: boolean): 'running' | 'waiting' {
  return isWaiting ? 'waiting' : 'running';
}
