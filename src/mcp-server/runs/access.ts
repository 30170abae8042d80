/**
 * Which agents and runs a server of the Model Context Protocol lets its callers reach.
 *
 * I1  With `allow`, a run belongs to the agent at the root of its tree. So all runs below a run of an
 *     allowed agent can be reached, and no run that an agent outside of the list has started.
 * I2  A run that cannot be reached is answered exactly as one that does not exist.
 * I3  A workflow that is no run of an agent is never read and gets no message.
 */
import { isUsageError, UsageError } from '../../core/base/usage-error.ts';
import { idBelow } from '../../core/base/ids.ts';
import { placeOfItem } from '../../core/tree/calls.ts';
import type { Everloop } from '../../client/everloop-client.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import { UNREADABLE_AGENT, type RunSummary } from '../../client/run-list.ts';
import { unknownRun } from '../../client/connection/service-calls.ts';

/** A run that a caller may reach. */
export interface ReachedRun {
  readonly run: RunHandle;
  readonly summary: RunSummary;
}

/** What callers may reach. */
export interface Access {
  /** The allowed agents; undefined: all. */
  readonly allow: readonly string[] | undefined;
  /** @throws UsageError `invalid_input` for an agent that is not allowed. */
  assertAgent(agent: string): void;
  /**
   * The run `id`.
   *
   * @throws UsageError `run_not_found`, also when callers may not reach it; `not_an_agent`;
   * `keys_missing` when this process cannot read whose run it is.
   */
  run(id: string): Promise<ReachedRun>;
  /**
   * The run `id`, for a message about its item `item`, which may wait in a run below.
   *
   * @throws UsageError as `run`.
   */
  ownerOf(id: string, item: string): Promise<ReachedRun>;
}

/** More levels than a tree can have. */
const MAX_LEVELS = 100;

/** The access that `allow` gives; undefined: to all agents. */
export function createAccess(
  everloop: Pick<Everloop, 'attach'>,
  allow: readonly string[] | undefined,
): Access {
  const reach = async (id: string): Promise<ReachedRun> => {
    const run = everloop.attach(id);
    if (allow === undefined) return { run, summary: await run.summary() };
    const found = await summaryOf(everloop, id);
    if (found === undefined) throw unknownRun(id);
    const root = await rootOf(everloop, found);
    if (root?.agent === UNREADABLE_AGENT) throw unreadable(id);
    if (root === undefined || !allow.includes(root.agent)) throw unknownRun(id);
    return { run, summary: found };
  };
  return {
    allow,
    assertAgent: (agent) => {
      if (allow === undefined || allow.includes(agent)) return;
      throw new UsageError(
        'invalid_input',
        `Expected an agent of this server (${allow.join(', ')}), got \`${agent.slice(0, 80)}\`. Choose one of them.`,
      );
    },
    run: reach,
    ownerOf: async (id, item) => {
      const reached = await reach(id);
      const { calls } = placeOfItem(item);
      // A client sends the message to the run below by its id, whoever has started that run.
      if (calls.length > 0) await reach(calls.reduce(idBelow, id));
      return reached;
    },
  };
}

/** Undefined: there is no such run, or it is no run of an agent. */
async function summaryOf(
  everloop: Pick<Everloop, 'attach'>,
  id: string,
): Promise<RunSummary | undefined> {
  try {
    return await everloop.attach(id).summary();
  } catch (error) {
    const isUnknown = isUsageError(error) && UNKNOWN.includes(error.code);
    if (isUnknown) return undefined;
    throw error;
  }
}

const UNKNOWN: readonly string[] = ['run_not_found', 'not_an_agent'];

/** The uppermost run of an agent above `run`; undefined: the service no longer has it. */
async function rootOf(
  everloop: Pick<Everloop, 'attach'>,
  run: RunSummary,
): Promise<RunSummary | undefined> {
  let at = run;
  for (let level = 0; level < MAX_LEVELS; level++) {
    if (at.parent === null) return at;
    try {
      at = await everloop.attach(at.parent).summary();
    } catch (error) {
      if (!isUsageError(error)) throw error;
      // A workflow of the user's own has started the run.
      if (error.code === 'not_an_agent') return at;
      if (error.code === 'run_not_found') return undefined;
      throw error;
    }
  }
  return undefined;
}

function unreadable(id: string): UsageError {
  return new UsageError(
    'keys_missing',
    `Expected a server with keys to read whose run \`${id}\` is, got one without the right key. Set EVERLOOP_KEYS where \`everloop mcp serve\` runs.`,
  );
}
