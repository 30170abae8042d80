/** The tools that only read: agents, runs, and what waits for people. */
import type { Json, JsonObject } from '../../core/base/json.ts';
import { defined } from '../../core/base/defined.ts';
import type { Everloop } from '../../client/everloop-client.ts';
import type { RunSummary } from '../../client/run-list.ts';
import type { Access } from '../runs/access.ts';
import type { ServedAgent } from '../runs/agents.ts';
import { boundedDefinitions, boundedList } from '../runs/bounds.ts';
import { readView, viewValue } from '../runs/run-view.ts';
import { MAX_WAIT_MS } from '../runs/wait-for-run.ts';
import { parametersOf, READS, RUN, textOf, type ServerTool } from './tool.ts';
import type { RunWaits } from './waits.ts';

/** What the tools of a server share. */
export interface ToolParts {
  readonly everloop: Pick<Everloop, 'start' | 'attach' | 'list' | 'inbox'>;
  readonly access: Access;
  readonly agents: () => Promise<readonly ServedAgent[]>;
  readonly waits: RunWaits;
}

/** Items of a list that one result shows. */
const MAX_RUNS = 200;
const MAX_AGENTS = 200;
const MAX_INBOX = 100;
/** Runs whose items are read for a caller who may not reach all of them. */
const MAX_FILTERED_INBOX = 1_000;
const MAX_EVENTS = 100;

/** The tools, in the order in which they are listed. */
export function readTools(parts: ToolParts): readonly ServerTool[] {
  return [listAgents(parts), waitRun(parts), getRun(parts), listRuns(parts), inbox(parts)];
}

function listAgents({ agents }: ToolParts): ServerTool {
  return {
    name: 'list_agents',
    description:
      'Lists the agents that start_run can start, with what they do and the schema of their inputs. ' +
      'An input named task is the task of start_run, all others are its context.',
    parameters: parametersOf({}),
    annotations: READS,
    writes: false,
    call: async () => {
      const list = (await agents()).map(({ name, description, parameters }) =>
        defined({ name, description, inputSchema: parameters }),
      );
      const { items, leftOut } = boundedDefinitions(list, MAX_AGENTS);
      return { kind: 'value', value: defined({ agents: items, leftOut }) };
    },
  };
}

function waitRun({ access, waits }: ToolParts): ServerTool {
  return {
    name: 'wait_run',
    description:
      'Waits until a run ends, waits for a person, or the time is up, and returns it as get_run does. ' +
      'Call it again while the status is running.',
    parameters: parametersOf(
      {
        run: RUN,
        waitMs: {
          type: 'integer',
          minimum: 0,
          maximum: MAX_WAIT_MS,
          description: `Milliseconds to wait at most; default ${MAX_WAIT_MS}.`,
        },
      },
      ['run'],
    ),
    annotations: READS,
    writes: false,
    call: async ({ run: id, waitMs = MAX_WAIT_MS }, call) => {
      const { run } = await access.run(textOf(id));
      if (call.takesTask) return { kind: 'task', run };
      const view = await waits.wait(run, Number(waitMs), call);
      return { kind: 'value', value: viewValue(run.id, view) };
    },
  };
}

function getRun({ access }: ToolParts): ServerTool {
  return {
    name: 'get_run',
    description:
      'Shows a run: its status, what it has used, what waits for people under pending, and its step ' +
      'once it has ended.',
    parameters: parametersOf(
      {
        run: RUN,
        events: {
          type: 'integer',
          minimum: 0,
          description: `Also shows events from this number on, from 0; at most ${MAX_EVENTS}, and nextEvents to go on with.`,
        },
      },
      ['run'],
    ),
    annotations: READS,
    writes: false,
    call: async ({ run: id, events: from }) => {
      const { run } = await access.run(textOf(id));
      const value = viewValue(run.id, await readView(run));
      if (typeof from !== 'number') return { kind: 'value', value };
      const events = await run.events({ from, limit: MAX_EVENTS });
      const { items } = boundedList(events as unknown as readonly Json[], MAX_EVENTS);
      const nextEvents = from + items.length;
      return { kind: 'value', value: { ...value, events: items, nextEvents } };
    },
  };
}

function listRuns({ everloop, access }: ToolParts): ServerTool {
  return {
    name: 'list_runs',
    description:
      'Lists runs, newest first, without those that other runs have started: id, agent, task, state.',
    parameters: parametersOf({
      running: { type: 'boolean', description: 'Only runs that have not ended. Default false.' },
      limit: { type: 'integer', minimum: 1, maximum: MAX_RUNS, description: 'Default 20.' },
    }),
    annotations: READS,
    writes: false,
    call: async ({ running = false, limit = 20 }) => {
      const options = { roots: true, running: running === true, limit: Number(limit) };
      const lists =
        access.allow === undefined
          ? [await everloop.list(options)]
          : await Promise.all(access.allow.map((agent) => everloop.list({ ...options, agent })));
      const runs = lists
        .flat()
        .toSorted((a, b) => b.startedAt.getTime() - a.startedAt.getTime())
        .slice(0, options.limit);
      const { items, leftOut } = boundedList(runs.map(summaryValue), MAX_RUNS);
      return { kind: 'value', value: defined({ runs: items, leftOut }) };
    },
  };
}

function summaryValue({ id, agent, task, state, startedAt, closedAt }: RunSummary): JsonObject {
  return {
    run: id,
    agent,
    task,
    state,
    startedAt: startedAt.toISOString(),
    closedAt: closedAt?.toISOString() ?? null,
  };
}

function inbox({ everloop, access }: ToolParts): ServerTool {
  return {
    name: 'inbox',
    description:
      'Lists what waits for people in all runs, oldest first: questions for answer, calls for decide. ' +
      'get_run shows an item whole whose isCut is true; more counts runs that are left out, isPartial says that some are.',
    parameters: parametersOf({}),
    annotations: READS,
    writes: false,
    call: async (_args, { signal }) => {
      const limit = access.allow === undefined ? MAX_INBOX : MAX_FILTERED_INBOX;
      const view = await everloop.inbox({ limit });
      const reachable = createFilter(access);
      const items: Json[] = [];
      for (const { run, agent, task, item, isCut } of view.items) {
        if (items.length > MAX_INBOX) break;
        signal.throwIfAborted();
        if (!(await reachable(run))) continue;
        items.push(defined({ run, agent, task, item: item as unknown as Json, isCut }));
      }
      const silent: string[] = [];
      for (const run of view.silent.slice(0, MAX_INBOX)) {
        signal.throwIfAborted();
        if (await reachable(run)) silent.push(run);
      }
      const { items: shown, leftOut } = boundedList(items, MAX_INBOX);
      const rest = view.more === 0 ? {} : restOf(access, view.more);
      return { kind: 'value', value: { ...defined({ items: shown, leftOut, silent }), ...rest } };
    },
  };
}

/** A count of runs would tell of those that a caller may not reach. */
function restOf({ allow }: Access, more: number): JsonObject {
  return allow === undefined ? { more } : { isPartial: true };
}

/** Whether callers may reach a run; asks once for each. */
function createFilter(access: Access): (run: string) => Promise<boolean> {
  if (access.allow === undefined) return () => Promise.resolve(true);
  const known = new Map<string, boolean>();
  return async (run) => {
    const before = known.get(run);
    if (before !== undefined) return before;
    const isReachable = await access.run(run).then(
      () => true,
      () => false,
    );
    known.set(run, isReachable);
    return isReachable;
  };
}
