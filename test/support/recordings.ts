/** The runs whose histories are recorded: each shows a kind of command order that must not change. */
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AIRLINE_REQUEST } from '../../examples/airline/data.ts';
import { airlineAgent } from '../../examples/airline/agents.ts';
import { AIRLINE_SCRIPT_A } from '../../examples/airline/scripts.ts';
import { airlineStore } from '../../examples/airline/store.ts';
import { scriptedModel, type ScriptTurn, type ScriptVariant } from '../../examples/script.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { fanOut } from '../../src/define/pipeline/define-fan-out.ts';
import { pipeline } from '../../src/define/pipeline/define-pipeline.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { textOf } from '../../src/core/base/message.ts';
import { fixtureProcesses } from './child-process.ts';
import { clerk } from './elsewhere-agents.ts';
import { eventually } from './eventually.ts';
import { startFatalRun } from './fatal-run.ts';
import type { FatalWorker } from './fixtures/serve-fatal.ts';
import { partsTo, readerAgent } from './fan-outs.ts';
import { peopleAgents } from './people-agents.ts';
import { pressAgent } from './pipeline-agents.ts';
import { programAgent } from './program-agents.ts';
import { callInput } from '../../src/define/tool/call-input.ts';
import { fakeServer, fakeServers } from './fake-servers.ts';
import { playLocalReads, playLostBeside, playReadsBeside } from './read-recordings.ts';
import { abortOf, act, actWith, answer, gate, searchTool } from './runs.ts';
import type { Stage } from './stage.ts';
import { playFork } from './fork-agents.ts';
import { playCounter, playLedger, playTenant } from './tenant-recordings.ts';
import { asker, worker } from './tree-agents.ts';
import { player } from './trees.ts';

/** A run to record. */
export interface Recording {
  /** Name of its file in `test/histories`. */
  readonly name: string;
  /** Which link of its chain, from 0. */
  readonly link: number;
  /** The file that exports its workflows; absent: Everloop's own. */
  readonly workflowsPath?: string;
  /** Set for a workflow that is no run of an agent. */
  readonly isOther?: true;
  /** Plays it to its end, or until a workflow without an end waits. */
  readonly play: (stage: Stage) => Promise<Pick<RunHandle, 'id'>>;
}

/** Events after which the server of the recordings suggests a hand-over. */
export const HANDOVER_EVENTS = 60;

const PROGRAMS_LOOP = fileURLToPath(
  new URL('./fixtures/workflows/programs-loop.ts', import.meta.url),
);

/** All recordings. */
export const RECORDINGS: readonly Recording[] = [
  {
    name: 'react-parallel-tools',
    link: 0,
    play: (stage) => playScript(stage, 'yaml', AIRLINE_SCRIPT_A),
  },
  { name: 'chat', link: 0, play: (stage) => playScript(stage, 'chat', AIRLINE_SCRIPT_A) },
  {
    name: 'handover-link',
    link: 1,
    play: playChain,
  },
  { name: 'scheduled', link: 0, play: playScheduled },
  { name: 'native-cancel', link: 0, play: playNativeCancel },
  { name: 'listed-waits', link: 0, play: playPeople },
  { name: 'mcp-question', link: 0, play: playServerQuestions },
  { name: 'mcp-stubs', link: 0, play: playStubs },
  { name: 'callbacks', link: 0, play: playCallbacks },
  { name: 'batch', link: 0, play: playBatch },
  { name: 'repeated-calls', link: 0, play: playRepeated },
  { name: 'tree', link: 0, play: async (stage) => (await playTree(stage)).run },
  { name: 'tree-child', link: 0, play: async (stage) => (await playTree(stage)).child },
  { name: 'tree-lowered', link: 0, play: playLowered },
  { name: 'tree-covered', link: 0, play: async (stage) => (await playCovered(stage)).run },
  { name: 'tree-covered-child', link: 0, play: async (stage) => (await playCovered(stage)).child },
  { name: 'pipeline', link: 0, play: playPipeline },
  { name: 'fan-out', link: 0, play: async (stage) => (await playFanOut(stage)).run },
  { name: 'fan-out-part', link: 0, play: async (stage) => (await playFanOut(stage)).part },
  { name: 'program', link: 0, workflowsPath: PROGRAMS_LOOP, play: playProgram },
  { name: 'program-link', link: 1, workflowsPath: PROGRAMS_LOOP, play: playProgram },
  { name: 'program-slices', link: 0, workflowsPath: PROGRAMS_LOOP, play: playSlices },
  { name: 'elsewhere', link: 0, play: playElsewhere },
  { name: 'elsewhere-over', link: 0, play: playElsewhereOver },
  { name: 'await-agent', link: 0, play: playAwaitAgent },
  { name: 'lost-workers', link: 0, play: playLostWorkers },
  { name: 'tenant-run', link: 0, play: playTenant },
  { name: 'local-reads', link: 0, play: playLocalReads },
  { name: 'reads-beside', link: 0, play: playReadsBeside },
  { name: 'kept-reply', link: 0, play: playLostBeside },
  { name: 'tenant-ledger', link: 0, isOther: true, play: playLedger },
  { name: 'rate-counter', link: 0, isOther: true, play: playCounter },
  { name: 'fork', link: 0, play: playFork },
  { name: 'program-paused', link: 0, workflowsPath: PROGRAMS_LOOP, play: playPausedProgram },
];

async function playScript(
  stage: Stage,
  variant: ScriptVariant,
  script: readonly ScriptTurn[],
): Promise<RunHandle> {
  const model = { id: 'script/model', model: scriptedModel(script, variant) };
  const agent = airlineAgent({ store: airlineStore(), variant, model });
  const { everloop } = await stage.serve([agent]);
  const run = await everloop.start('airline', { task: AIRLINE_REQUEST });
  await run.result();
  return run;
}

/** The second run of a schedule, which reads how the first has ended. */
async function playScheduled(stage: Stage): Promise<RunHandle> {
  const model = { id: 'script/model', model: async () => answer('tea') };
  const agent = defineAgent({ name: 'clerk', mode: 'react', model });
  const { everloop } = await stage.serve([agent]);
  const schedule = await everloop.schedules.create('nightly-digest', {
    agent: 'clerk',
    task: 'Digest of {{schedule.date}}. Yesterday: {{previous.value}}',
    cron: '0 6 * * MON-FRI',
    timeZone: 'Europe/Vienna',
    previous: true,
  });
  const first = await schedule.trigger();
  await first?.result();
  await eventually('the end to be known', async () => {
    return (await schedule.describe()).running.length === 0;
  });
  const second = await schedule.trigger();
  await schedule.delete();
  if (second === null) throw new Error('Expected a second run.');
  await second.result();
  return second;
}

/** A batch whose second call crosses a limit while the first goes on. */
async function playBatch(stage: Stage): Promise<RunHandle> {
  const tool = searchTool(async (query, { count, signal }) => {
    if (query === 'spend') count('shop:spent', 5);
    else await Promise.race([abortOf(signal), setTimeout(2_000)]);
    return query;
  });
  const model = { id: 'script/model', model: async () => act('slow', 'spend') };
  const agent = defineAgent({ name: 'buyer', mode: 'react', tools: [tool], model });
  const { everloop } = await stage.serve([agent]);
  const limit = { kind: 'exact', key: 'shop:spent', max: 3 } as const;
  const run = await everloop.start('buyer', { task: 'Buy', limits: { custom: [limit] } });
  await run.result();
  return run;
}

/** A server asks two questions in a call: one is answered, one declined. Then the call ends. */
async function playServerQuestions(stage: Stage): Promise<RunHandle> {
  const form = { type: 'object', properties: { env: { type: 'string' } } };
  const asked = {
    state: 'note',
    requests: {
      where: { kind: 'form', message: 'Deploy where?', form },
      who: { kind: 'form', message: 'Who is told?', form },
    },
  } as const;
  const { tools: mcp } = fakeServers({
    ops: [{ name: 'deploy', call: (_args, resume) => resume?.responses ?? callInput(asked) }],
  });
  const model = {
    id: 'script/model',
    model: async ({ iteration }: { readonly iteration: number }) =>
      iteration === 1 ? actWith(['ops_deploy', 'app']) : answer(),
  };
  const agent = defineAgent({ name: 'ops', mode: 'react', tools: [fakeServer('ops')], model });
  const { everloop } = await stage.serve([agent], { mcp });
  const run = await everloop.start('ops', { task: 'Ship it' });
  const waits = (id: string) => async (): Promise<boolean> =>
    (await run.pending()).some((item) => item.id === id);
  await eventually('the first question', waits('q1'));
  await run.answer('q1', { env: 'staging' });
  await eventually('the second question', waits('q2'));
  await run.answer('q2', { decline: true });
  await run.result();
  return run;
}

/** A search finds a tool that the run has as a stub; it is called, as is one that was never found. */
async function playStubs(stage: Stage): Promise<RunHandle> {
  const others = Array.from({ length: 80 }, (_, at) => ({
    name: `fence_${at + 10}`,
    description: `Paints fence ${at}. ${'White. '.repeat(140)}`,
  }));
  const { tools: mcp } = fakeServers({
    ops: [...others, { name: 'zeppelin', description: 'Flies an airship.', effect: 'read' }],
  });
  const replies = [
    actWith(['tool_registry_search', 'airship']),
    actWith(['ops_zeppelin', 'home'], ['ops_fence_89', 'blue']),
    answer(),
  ];
  const model = {
    id: 'script/model',
    model: async ({ iteration }: { readonly iteration: number }) => replies[iteration - 1] ?? '',
  };
  const agent = defineAgent({
    name: 'ops',
    mode: 'react',
    tools: [fakeServer('ops')],
    toolSearch: { hint: 'domains' },
    model,
  });
  const { everloop } = await stage.serve([agent], { mcp });
  const run = await everloop.start('ops', { task: 'Fly' });
  await run.result();
  return run;
}

/** The same call with the same result: the eighth ends the run. */
async function playRepeated(stage: Stage): Promise<RunHandle> {
  const model = { id: 'script/model', model: async () => act('again') };
  // Calls that begin no activity: all of it fits into one link.
  const look = defineTool({
    name: 'search',
    description: 'Searches.',
    parameters: { type: 'object', properties: { query: { type: 'string' } } },
    effect: 'read',
    local: true,
    execute: () => 'nothing new',
  });
  const agent = defineAgent({ name: 'looker', mode: 'react', tools: [look], model });
  const { everloop } = await stage.serve([agent]);
  const run = await everloop.start('looker', { task: 'Look' });
  await run.result();
  return run;
}

/** Three links: the second begins with what the first handed over and hands over itself. */
async function playChain(stage: Stage): Promise<RunHandle> {
  const agent = defineAgent({
    name: 'walker',
    mode: 'react',
    tools: [searchTool()],
    model: {
      id: 'script/model',
      model: async ({ iteration }) => (iteration < 14 ? act(`step ${iteration}`) : answer()),
    },
  });
  const { everloop } = await stage.serve([agent]);
  const run = await everloop.start('walker', { task: 'Walk' });
  await run.send('Watch your step.', { id: 'recorded-input' });
  await run.result();
  return run;
}

/** A question, an approval and outside work in one turn; the question ends by its timer. */
async function playPeople(stage: Stage): Promise<RunHandle> {
  const { everloop } = await stage.serve(peopleAgents({ questionTimeoutMs: 1_500 }));
  const run = await everloop.start('clerk', { task: 'Pay the bill' });
  await eventually('a run that waits', async () => (await run.status()).state === 'waiting');
  await run.decide('1.2', { args: { amount: 40 } }, { updateId: 'recorded-decision' });
  await run.answer('1.3', { passed: 7 }, { updateId: 'recorded-answer' });
  await run.result();
  return run;
}

/** A question and an end that nobody is told of: the worker has no secret. */
async function playCallbacks(stage: Stage): Promise<RunHandle> {
  const { everloop } = await stage.serve(peopleAgents());
  const onEvent = { url: 'https://hooks.example.com/everloop' };
  const run = await everloop.start('asker', { task: 'Ask me', onEvent });
  await eventually('a run that waits', async () => (await run.status()).state === 'waiting');
  await run.answer('q1', 'blue', { updateId: 'recorded-answer' });
  await run.result();
  return run;
}

/** A tool that the first worker lacks, tried twice. */
async function playElsewhere(stage: Stage): Promise<RunHandle> {
  const queues = { taskQueue: 'recorded-elsewhere', toolQueue: 'recorded-elsewhere-tools' };
  const { everloop } = await stage.serve([clerk({ elsewhereMs: 60_000 })], {
    ...queues,
    roles: ['workflows', 'models'],
  });
  const unfit = await stage.serve([clerk({ lacks: ['tool'] })], { ...queues, roles: ['tools'] });
  const run = await everloop.start('clerk', { task: 'Go' });
  await eventually('a wait', async () => {
    return (await run.status()).waitsFor.includes('worker with tool refund');
  });
  await unfit.stop();
  await stage.serve([clerk()], { ...queues, roles: ['tools'] });
  await run.result();
  return run;
}

/** A tool that no worker has: the model is told so once the wait is over. */
async function playElsewhereOver(stage: Stage): Promise<RunHandle> {
  const queues = { taskQueue: 'recorded-nowhere', toolQueue: 'recorded-nowhere-tools' };
  const { everloop } = await stage.serve([clerk({ elsewhereMs: 9_000 })], {
    ...queues,
    roles: ['workflows', 'models'],
  });
  await stage.serve([clerk({ lacks: ['tool'] })], { ...queues, roles: ['tools'] });
  const run = await everloop.start('clerk', { task: 'Go' });
  await run.result();
  return run;
}

/**
 * A model call that loses its worker and fails once, and a `once` tool whose worker is lost before
 * it began.
 */
async function playLostWorkers(stage: Stage): Promise<RunHandle> {
  const processes = fixtureProcesses<FatalWorker>('serve-fatal');
  try {
    const mark = { deaths: 1, when: 'before' } as const;
    const told = { modelDeaths: 1, failures: 1, effect: 'once', mark } as const;
    const { run, stop } = await startFatalRun(stage, processes, told, {
      taskQueue: 'recorded-lost-workers',
    });
    await run.result();
    stop();
    return run;
  } finally {
    await processes.stop();
  }
}

/** An agent that the first worker lacks. */
async function playAwaitAgent(stage: Stage): Promise<RunHandle> {
  const parts = { taskQueue: 'recorded-await-agent', elsewhereMs: 60_000 };
  const unfit = await stage.serve([clerk({ name: 'other' })], parts);
  const run = await unfit.everloop.start('clerk', { task: 'Go' });
  await eventually('a wait', async () => {
    return (await run.status()).waitsFor.includes('worker with agent clerk');
  });
  await unfit.stop();
  await stage.serve([clerk()], parts);
  await run.result();
  return run;
}

/** Two children that live on leases, ask for more, and are refused in the end. */
async function playTree(
  stage: Stage,
): Promise<{ readonly run: RunHandle; readonly child: RunHandle }> {
  const { everloop } = await stage.serve([asker(worker(12), 2)]);
  const run = await everloop.start('asker', { task: 'Go', limits: { modelCalls: 8 } });
  await run.result();
  return { run, child: everloop.attach(`${run.id}/1.1`) };
}

/** Two children whose model calls are covered, ask for more, and stop when nothing is left. */
async function playCovered(
  stage: Stage,
): Promise<{ readonly run: RunHandle; readonly child: RunHandle }> {
  const { everloop } = await stage.serve([asker(worker(12), 2)]);
  const run = await everloop.start('asker', { task: 'Go', limits: { totalTokens: 2_600 } });
  await run.result();
  return { run, child: everloop.attach(`${run.id}/1.1`) };
}

/** A limit that is lowered while two children are in a model call, and all that they return and ask for. */
async function playLowered(stage: Stage): Promise<RunHandle> {
  const opened = gate();
  let waiting = 0;
  const leaf = player(
    'leaf',
    async ({ iteration }) => {
      if (iteration === 2) {
        waiting += 1;
        await opened.opened;
      }
      return iteration < 5 ? act('x') : answer();
    },
    { tools: [searchTool()] },
  );
  const { everloop } = await stage.serve([asker(leaf, 2)]);
  const run = await everloop.start('asker', { task: 'Go', limits: { modelCalls: 40 } });
  await eventually('both children in a model call', () => waiting === 2);
  await run.adjust({ modelCalls: 10 });
  await eventually('what both keep', async () => {
    const [root] = await run.tree();
    const line = root?.budgets.find(({ key }) => key === 'agent:model_calls');
    return line !== undefined && line.used + line.reserved <= 10;
  });
  opened.open();
  await run.result();
  return run;
}

/** A stage of each kind: one agent, two at once, a question, one agent. */
async function playPipeline(stage: Stage): Promise<RunHandle> {
  const { everloop } = await stage.serve([pressAgent()]);
  const run = await everloop.start('press', { task: 'x' });
  await run.resultOrPending();
  await run.answer('q1', 'yes', { updateId: 'recorded-answer' });
  await run.result();
  return run;
}

/** Four items in two runs in between, of which one loses an item; it first asks for room for all of them. */
async function playFanOut(
  stage: Stage,
): Promise<{ readonly run: RunHandle; readonly part: RunHandle }> {
  const reader = readerAgent(({ messages }) => {
    const text = messages.map(textOf).join('');
    if (text === 'part 2') throw Object.assign(new Error('torn'), { statusCode: 400 });
    return text;
  });
  const readers = fanOut('readers', reader, { batch: 2, onFailure: 'null' });
  // Of 12 children it is lent 5, and needs 8.
  const line = pipeline('line', [readers], { limits: { children: 12 } });
  const { everloop } = await stage.serve([line]);
  const above = await everloop.start('line', { context: { items: partsTo(4) } });
  await above.result();
  const run = everloop.attach(`${above.id}/1.spawn-1`);
  return { run, part: everloop.attach(`${run.id}/1.spawn-1`) };
}

/** A program of two links: the first leaves while a question and a timer are open. */
async function playProgram(stage: Stage): Promise<RunHandle> {
  const { everloop } = await stage.serve([programAgent()], { workflowsPath: PROGRAMS_LOOP });
  const programs = [
    `(def found (pmap #(tool/search {:query (str "q" %)}) (range 4)))
     (tool/look {:at "here"})
     (attempt (pcalls #(tool/search {:query (inc 1)}) #(tool/hang) #(ask "Who?") #(sleep 60000)))
     (def both (pcalls #(ask "Which?" {:options ["a" "b"]}) #(sleep 1500) #(tool/pay {:amount 5})))
     (tool/search {:query "last"})`,
    '(return [(count found) both *1])',
  ];
  const run = await everloop.start('programmer', { task: 'Go', context: { programs } });
  await eventually('an approval', async () => (await run.pending()).length === 2);
  await eventually('a second link', async () => {
    await run.send('still there?');
    return (await run.status()).link > 1;
  });
  await run.decide('1.p4/2/1', { approve: true }, { updateId: 'recorded-decision' });
  await run.answer('q2', 'b', { updateId: 'recorded-answer' });
  await run.result();
  return run;
}

/** Some 700,000 units of fuel. */
export const LONG_PROGRAM =
  '(count (filter odd? (mapcat (fn [i] (map (fn [x] (+ x i)) (range 300))) (range 250))))';

/** A program that the run is told not to compute, and one of several slices. */
async function playSlices(stage: Stage): Promise<RunHandle> {
  const { everloop } = await stage.serve([programAgent()], { workflowsPath: PROGRAMS_LOOP });
  const programs = ['(sleep 1500)', LONG_PROGRAM];
  const run = await everloop.start('programmer', { task: 'Go', context: { programs } });
  await eventually('a timer', async () => (await run.status()).waitsFor.length > 0);
  const seq = (await run.events()).at(-1)?.seq ?? 0;
  const handle = stage.client.workflow.getHandle(run.id);
  await handle.signal('overrun', { work: 'program', seq });
  await run.result();
  return run;
}

/** A program that is answered while its run is paused: its call begins when the run is resumed. */
async function playPausedProgram(stage: Stage): Promise<RunHandle> {
  const { everloop } = await stage.serve([programAgent()], { workflowsPath: PROGRAMS_LOOP });
  const programs = ['[(ask "Which?") (tool/search {:query "a"})]'];
  const run = await everloop.start('programmer', { task: 'Go', context: { programs } });
  await run.resultOrPending();
  await run.pause();
  await run.answer('q1', 'a', { updateId: 'recorded-answer' });
  await eventually('the answer', async () => (await run.status()).waitsFor.length === 0);
  await run.resume();
  await run.result();
  return run;
}

async function playNativeCancel(stage: Stage): Promise<RunHandle> {
  const asked = gate();
  const agent = defineAgent({
    name: 'waiter',
    mode: 'react',
    model: {
      id: 'script/model',
      model: async (_request, { signal }) => {
        asked.open();
        await abortOf(signal);
        throw Object.assign(new Error('stopped'), { usage: { inputTokens: 100, outputTokens: 1 } });
      },
    },
  });
  const { everloop } = await stage.serve([agent]);
  const run = await everloop.start('waiter', { task: 'Wait', limits: { wallClockMs: 60_000 } });
  await asked.opened;
  await run.send('While you wait, think of this.');
  await stage.client.workflow.getHandle(run.id).cancel();
  await run.result();
  return run;
}
