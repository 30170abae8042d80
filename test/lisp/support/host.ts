/**
 * A host in memory: answers the requests of a program in any order and grouping, and may put the
 * machine through a snapshot at every block.
 */
import {
  advance,
  checkProgram,
  EMPTY_MEMORY,
  fuelUsed,
  notesOf,
  printValue,
  readProgram,
  restore,
  snapshot,
  startMachine,
  type EffectRequest,
  type EffectResult,
  type Limits,
  type Machine,
  type MachineSnapshot,
  type Outcome,
  type ProgramMemory,
  type ToolFace,
} from '../../../src/lisp.ts';

/** What can be observed of a run. */
export interface Observed {
  readonly outcome: string;
  readonly reason: string | null;
  readonly message: string | null;
  readonly details: unknown;
  readonly notes: readonly string[];
  readonly fuel: number;
  /** Requests by id, in the order of the ids. */
  readonly requests: readonly EffectRequest[];
  readonly memory: ProgramMemory;
}

/** How a run goes. */
export interface HostOptions {
  readonly memory?: ProgramMemory;
  readonly limits?: Partial<Limits>;
  readonly data?: { readonly [key: string]: never } | Parameters<typeof startMachine>[1]['data'];
  readonly forced?: boolean;
  /** The time, in milliseconds since the epoch; a second after the epoch unless given. */
  readonly nowMs?: number;
  /** Replaces the machine by its restored snapshot at every block. */
  readonly snapshots?: boolean;
  /** Called with every snapshot. */
  readonly onSnapshot?: (saved: MachineSnapshot) => void;
  /** Chooses which of the open requests are answered next; all, in order, unless given. */
  readonly choose?: (open: readonly EffectRequest[]) => readonly EffectRequest[];
  /** Answers; unless given, tools echo their arguments and `fail` fails. */
  readonly answer?: (request: EffectRequest) => EffectResult;
}

const TOOL = (name: string): ToolFace => ({
  name,
  description: `The tool ${name}.`,
  schema: { type: 'object' },
});

/** Tools of every test program. */
export const TOOLS: readonly ToolFace[] = ['get', 'fail', 'list'].map(TOOL);

/** Echoes; `fail` fails, `list` lists. */
export function standardAnswer(request: EffectRequest): EffectResult {
  const { id } = request;
  if (request.kind === 'sleep') return { id, ok: true, value: null };
  if (request.kind === 'ask') return { id, ok: true, value: request.options?.[0] ?? 'yes' };
  if (request.name === 'fail') {
    return {
      id,
      ok: false,
      reason: 'tool_error',
      message: 'not found',
      details: { reason: 'error' },
    };
  }
  if (request.name === 'list') return { id, ok: true, value: [1, 2, 3] };
  return {
    id,
    ok: true,
    value: { got: request.args['id'] ?? null, user_name: 'Ann', list: [1, 2] },
  };
}

/** A checked machine of a test program. Fails the test when it does not read or check. */
export function startProgram(source: string, options: HostOptions = {}): Machine {
  const read = readProgram(source);
  if (!read.ok) throw new Error(`${read.problem.message} in ${source}`);
  const memory = options.memory ?? EMPTY_MEMORY;
  const names = Object.keys(memory.bindings);
  const checked = checkProgram(read.program, { tools: TOOLS, memory: names, asking: true });
  if (checked.problems.length > 0) throw new Error(`${checked.problems[0]?.message} in ${source}`);
  return startMachine(read.program, {
    data: options.data ?? {
      rows: [
        { id: 1, n: 2 },
        { id: 2, n: 5 },
      ],
      name: 'x',
    },
    memory,
    limits: options.limits ?? {},
    tools: TOOLS,
    forced: options.forced ?? false,
  });
}

/** What can be observed of a machine that has ended. */
export function observe(
  machine: Machine,
  outcome: Outcome,
  requests: Iterable<EffectRequest>,
): Observed {
  const error = outcome.kind === 'error' ? outcome.error : null;
  return {
    outcome:
      outcome.kind === 'error'
        ? 'error'
        : `${outcome.kind} ${printValue(outcome.value, 'readable')}`,
    reason: error?.reason ?? null,
    message: error?.message ?? null,
    details: error?.details ?? null,
    notes: [...notesOf(machine)],
    fuel: fuelUsed(machine),
    requests: [...requests].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    memory: outcome.memory,
  };
}

/** Runs a program to its end. Fails the test when it does not read or check. */
export function runProgram(source: string, options: HostOptions = {}): Observed {
  let machine = startProgram(source, options);
  const requests = new Map<string, EffectRequest>();
  let open: EffectRequest[] = [];
  let results: readonly EffectResult[] = [];
  for (let round = 0; round < 5_000; round++) {
    const step = advance(machine, { now: options.nowMs ?? 1_000, budget: {}, results });
    machine = step.machine;
    if (step.kind === 'finished') return observe(machine, step.outcome, requests.values());
    for (const request of step.requests) requests.set(request.id, request);
    open = [...open.filter(({ id }) => !step.abandon.includes(id)), ...step.requests];
    const chosen = options.choose === undefined ? open : options.choose(open);
    open = open.filter((request) => !chosen.includes(request));
    results = chosen.map(options.answer ?? standardAnswer);
    if (options.snapshots === true) {
      const saved = JSON.parse(JSON.stringify(snapshot(machine))) as MachineSnapshot;
      options.onSnapshot?.(saved);
      machine = restore(saved);
    }
  }
  throw new Error(`No end of ${source}`);
}
