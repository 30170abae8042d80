/** Time travel and forks in memory: what a worker does by a replay, with the states as they were. */
import { defined } from '../core/base/defined.ts';
import { UsageError } from '../core/base/usage-error.ts';
import type { RunMoment } from '../core/base/fork.ts';
import type { AgentInput } from '../core/contract/input.ts';
import { boundaryOf, noMomentText } from '../core/fork/moment.ts';
import { readFork } from '../core/fork/read-fork.ts';
import { stateView, type StateView } from '../core/fork/state-view.ts';
import type { Tape } from '../core/fork/tape.ts';
import { acceptInput, EMPTY_INBOX, type Inbox } from '../core/run/inbox.ts';
import type { RunIdentity, RunState } from '../core/run/run-state.ts';
import { startInput } from '../core/start/start-input.ts';
import { callsAfter, forkAgent, type ForkSource } from '../registry/fork-agent.ts';
import type { MemoryForkOptions, MemoryTreeParts } from './memory-run.ts';

/** The moment of the run at `address` whose tape this is. @throws UsageError `fork_moment` */
export function sourceAt(address: string, tape: Tape, moment: RunMoment): ForkSource {
  const found = boundaryOf(moment, tape.boundaries);
  if (found?.state == null) {
    throw new UsageError('fork_moment', noMomentText(address, moment, tape.boundaries.at(-1)));
  }
  return {
    // Through JSON, as a worker returns it.
    state: JSON.parse(JSON.stringify(found.state)) as RunState,
    origin: { workflowId: address, runId: address, executionId: address },
    calls: tape.calls.slice(found.calls),
    children: tape.children.slice(found.children),
  };
}

/** The view of a moment. */
export function viewAt(address: string, source: ForkSource): StateView {
  return stateView(source.state, { run: address, executionId: address }, callsAfter(source));
}

/** The start of a fork. @throws UsageError as `everloop.fork` does. */
export function forkInput(
  source: ForkSource,
  {
    at,
    options,
    sizes,
  }: {
    readonly at: RunMoment;
    readonly options: MemoryForkOptions;
    readonly sizes: MemoryTreeParts['sizes'];
  },
): AgentInput {
  const {
    edits,
    definition,
    instructions,
    effects,
    stats,
    agent,
    registry: _of,
    ...given
  } = options;
  const asked = {
    source: { workflowId: source.origin.workflowId },
    at,
    ...defined({ edits, definition, instructions, effects, stats }),
  };
  const read = readFork(asked);
  if (read.kind === 'problems') throw new UsageError('invalid_input', read.problems.join('\n'));
  const input = startInput(agent ?? source.state.head.spec.name, given, sizes);
  return { ...input, fork: read.fork };
}

/** A fork that can begin. */
export interface MemoryFork {
  readonly state: RunState;
  readonly inbox: Inbox;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

/** The state and the inbox with which a fork begins. @throws UsageError as `everloop.fork` does. */
export function forkedStart(
  { registry, sizes, mcp }: MemoryTreeParts,
  source: ForkSource,
  input: AgentInput,
  identity: Pick<RunIdentity, 'runId' | 'startedAt' | 'parent' | 'trace'>,
): MemoryFork {
  const { fork } = input;
  if (fork === undefined) throw new Error('Expected the start of a fork.');
  const listing = mcp?.listings.get(input.agent);
  const forked = forkAgent({ registry, sizes, listing }, source, { input, fork, identity });
  if (forked.kind === 'failed') throw new UsageError(forked.code, forked.message);
  const inbox = forked.inputs.reduce<Inbox>(
    (before, text, index) =>
      acceptInput(before, { id: `fork-${index + 1}`, kind: 'queue', text }).inbox,
    EMPTY_INBOX,
  );
  return { state: forked.state, inbox, warnings: forked.warnings };
}
