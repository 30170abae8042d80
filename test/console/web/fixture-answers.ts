/** The fixed answers of the server of fixtures, by path. */
import type { RunHeader, ScratchpadAnswer } from '../../../src/console/api.ts';
import type { Message } from '../../../src/core/base/message.ts';
import { promptDifference } from '../../../src/console/view/prompt.ts';
import { withEntries } from '../../../src/console/view/entries.ts';
import { foldIterations } from '../../../src/console/view/iterations.ts';
import { outlineOf } from '../../../src/console/view/outline.ts';
import { FIXTURE_NOW, spentBy, type FixtureRun } from './fixture-data.ts';
import { idBelow, listOf, progressOf } from './fixture-lists.ts';
import { MARATHON, marathonAnswer } from './fixture-marathon.ts';
import { diffAnswer, momentOf } from './fixture-forks.ts';
import { SCHEDULES, scheduleAnswer } from './fixture-schedules.ts';
import { tenantsAnswer } from './fixture-tenants.ts';
import { agentNamed, AGENTS, LINKS, META, WORKERS } from './fixture-system.ts';

/** The answer to GET `path`; undefined: there is none. */
export function answerOf(
  path: string,
  query: URLSearchParams,
  runs: readonly FixtureRun[],
): unknown {
  const [, first, second, third, fourth] = path.split('/').map(decodeURIComponent);
  switch (first) {
    case 'meta':
      return META;
    case 'setup':
      return { lackingAttributes: ['EverloopState'], keys: ['k2', 'k1'] };
    case 'workers':
      return { taskQueue: 'everloop', workers: WORKERS };
    case 'agents':
      return second === undefined ? { agents: AGENTS } : { agent: agentNamed(second) };
    case 'schedules':
      return second === undefined
        ? { schedules: SCHEDULES, unread: [], hasMore: false }
        : scheduleAnswer(second);
    case 'diff':
      return diffAnswer(query, runs);
    case 'tenants':
      return tenantsAnswer(query);
    case 'inbox':
      return inboxOf(runs);
    case 'runs': {
      if (second === undefined) return listOf(runs, query);
      if (second === 'progress')
        return { runs: query.getAll('id').map((id) => progressOf(runs, id)) };
      if (second === MARATHON) return marathonAnswer(third, query);
      const run = runs.find(({ id }) => id === second);
      return run === undefined ? undefined : runAnswer(run, third, fourth, query);
    }
    default:
      return undefined;
  }
}

function runAnswer(
  run: FixtureRun,
  part: string | undefined,
  name: string | undefined,
  query: URLSearchParams,
): unknown {
  const views = withEntries(foldIterations([], run.events), run.entries);
  const lastSeq = run.events.at(-1)?.seq ?? 0;
  switch (part) {
    case undefined:
      return { run: headerOf(run) };
    case 'iterations': {
      const count = Number(query.get('count') ?? 50);
      const from = query.get('from');
      const shown =
        from === null
          ? views.slice(-count)
          : views.filter(({ number }) => number >= Number(from) && number < Number(from) + count);
      return { iterations: shown, lastSeq };
    }
    case 'outline':
      return { rows: outlineOf(views), lastSeq };
    case 'moment':
      return momentOf(run, query);
    case 'spans':
      return { attempts: run.attempts };
    case 'events': {
      const from = Number(query.get('from') ?? 0);
      return { events: run.events.slice(from), next: null, total: run.events.length };
    }
    case 'tree':
      return { runs: treeOf(run) };
    case 'program': {
      const programId = query.get('program') ?? run.program?.programId;
      return { program: run.program && { ...run.program, programId } };
    }
    case 'programs': {
      const programs = views.flatMap((view) => view.programs.map((one) => ({ ...one, view })));
      return {
        programs: programs.map(
          ({ programId, from, to = null, outcome, fuel = 0, calls = 0, view }) => ({
            programId,
            iteration: view.number,
            since: from,
            endedAt: to,
            outcome,
            fuel,
            calls,
          }),
        ),
      };
    }
    case 'scratchpad':
      return promptOf(run);
    case 'links':
      return { links: LINKS };
    case 'stats':
      return {
        stats: run.memory.state.stats,
        startedWith: { agent: run.agent, task: { text: run.task } },
        step: run.step,
      };
    case 'calls': {
      const call = views.flatMap(({ calls }) => calls).find(({ callId }) => callId === name);
      if (call === undefined) return undefined;
      const { callId, tool, args, output = null } = call;
      return { callId, tool, args, output, isCut: false };
    }
    default:
      return undefined;
  }
}

/** The newest messages after the instructions: what is older is left out, as after a compaction. */
function promptOf(run: FixtureRun): ScratchpadAnswer {
  const transcript = run.entries.flatMap(({ messages }) => messages);
  const instructions: Message = {
    role: 'system',
    parts: [
      { type: 'text', text: `You are ${run.agent}. Use your tools, and say what you found.` },
    ],
  };
  const messages = [instructions, ...transcript.slice(2)];
  const tools = AGENTS[0]?.tools ?? [];
  return {
    messages,
    tools,
    tokens: messages.map((_message, index) => 90 + index * 35),
    toolTokens: tools.map(() => 120),
    isPartial: false,
    ...promptDifference(messages, transcript),
  };
}

function headerOf(run: FixtureRun): RunHeader {
  const { id, agent, task, step, pending, budgets, events } = run;
  const usage = spentBy(run);
  const startedAt = events[0]?.at ?? FIXTURE_NOW;
  return {
    id,
    agent,
    task,
    path: agent,
    depth: 0,
    parent: null,
    startedAt,
    state: step === null ? 'waiting' : 'ended',
    status: {
      version: events.length,
      state: step === null ? 'waiting' : 'ended',
      runId: id,
      agent,
      iteration: run.memory.state.iteration,
      waitsFor: pending.map(({ kind, id: item }) => `${kind} ${item}`),
      usage,
      unreadInputs: 0,
      link: 1,
      events: events.length,
      entries: 0,
    },
    step,
    budgets,
    pending,
    liveChildren: step === null ? run.memory.children.length : 0,
    lastSeq: events.at(-1)?.seq ?? 0,
  };
}

function treeOf(run: FixtureRun): readonly unknown[] {
  const visit = (memory: FixtureRun['memory'], id: string, parent: string | null): unknown[] => {
    const ids = memory.children.map((child) => idBelow(id, child));
    const header = headerOf({ ...run, memory });
    const node = {
      id,
      agent: memory.state.head.spec.name,
      path: memory.state.agentPath,
      depth: memory.state.depth,
      parent,
      children: ids,
      state: header.state,
      status: run.step?.status,
      iteration: memory.state.iteration,
      waitsFor: parent === null ? header.status?.waitsFor : [],
      usage: { ...spentBy({ ...run, memory, step: null }) },
      stats: null,
      budgets: run.budgets,
    };
    const below = memory.children.flatMap((child, index) => visit(child, ids[index] ?? '', id));
    return [node, ...below];
  };
  return visit(run.memory, run.id, null);
}

function inboxOf(runs: readonly FixtureRun[]): unknown {
  const items = runs.flatMap(({ id, agent, task, pending }) =>
    pending.map((item) => ({ run: id, agent, task, item })),
  );
  return { items, silent: ['research-88'], more: 0 };
}
