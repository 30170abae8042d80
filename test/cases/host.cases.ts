/**
 * The contract of `Host` as cases, each with what it must show on every host. A case is the body of an
 * iteration of a custom loop, so the same code runs in memory and in the workflow sandbox; it uses
 * nothing but the port. `test/support/host-case-agents.ts` has the agents, tools and models.
 */
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { ModelOutcome, ToolEnd } from '../../src/core/contract/host-outcome.ts';
import type { CallOptions, Host, ModelCallOptions } from '../../src/core/run/host.ts';
import type { ToolSpec } from '../../src/core/contract/spec.ts';
import type { ChildCancel } from '../../src/core/contract/tree-messages.ts';
import type { Next, Work } from '../../src/core/loop/work.ts';

/** One case. `act` gives what is compared with `shows`; `name` is the task of its run. */
export interface HostCase {
  readonly name: string;
  readonly shows: Json;
  readonly act: (stage: HostStage) => Promise<Json>;
}

/** What a case has at hand: the host, and the calls that it makes with short arguments. */
export interface HostStage {
  readonly host: Host;
  readonly work: Work;
  readonly callModel: (model: string, options?: Partial<ModelCallOptions>) => Promise<ModelOutcome>;
  readonly callTool: (call: string, args?: JsonObject, options?: CallOptions) => Promise<ToolEnd>;
  readonly judge: (answer: Json, validators?: readonly string[]) => ReturnType<Host['judgeAnswer']>;
  readonly needsApproval: (tool: string, args?: JsonObject) => ReturnType<Host['needsApproval']>;
  readonly runChild: (callId: string, agent: string) => ReturnType<Host['runChild']>;
  /** Settles once the call of tool `wait` with this key runs. */
  readonly begun: (key: string) => Promise<void>;
}

const CANCEL: ChildCancel = { v: 1, kind: 'cancel', message: 'no longer needed' };

const isNever = (): boolean => false;

/** What a case compares of a tool call. */
function toolEnd({ result }: ToolEnd): JsonObject {
  const { outcome, attempts, started, output = null, error = null } = result;
  return { outcome, attempts, started, output, error };
}

/** What a case compares of a model call. */
function modelEnd(outcome: ModelOutcome): JsonObject {
  const { kind, attempts } = outcome;
  if (kind !== 'reply') {
    const { usage, usageKnown } = outcome;
    const known = { kind, attempts, input: usage.inputTokens, usageKnown };
    if (kind === 'aborted') return known;
    return { ...known, code: outcome.code, status: outcome.status ?? null };
  }
  const { parts, usage } = outcome.reply;
  const text = parts.map((part) => part.text).join('');
  return { kind, attempts, input: usage.inputTokens, text };
}

/** A first attempt that failed after the provider had counted seven tokens. */
const COSTLY_LOSS: JsonObject = {
  kind: 'failed',
  attempts: 1,
  input: 7,
  usageKnown: true,
  code: 'model_error',
  status: 503,
};

const MODEL_CASES: readonly HostCase[] = [
  {
    name: 'a model call reads the transcript and ends with its reply',
    shows: { kind: 'reply', attempts: 1, input: 100, text: 'read' },
    act: async ({ callModel }) => modelEnd(await callModel('echo')),
  },
  {
    name: 'a model call is retried without a question when the failed attempt cost nothing',
    shows: { end: { kind: 'reply', attempts: 2, input: 100, text: 'again' }, asked: 0 },
    act: async ({ callModel }) => {
      let asked = 0;
      const mayRetry = (): boolean => (asked++, true);
      return { end: modelEnd(await callModel('fails-once', { mayRetry })), asked };
    },
  },
  {
    name: 'the loop is asked before the wait for a retry of an attempt that cost tokens, and after it',
    shows: {
      end: { kind: 'reply', attempts: 2, input: 107, text: 'again' },
      asked: [COSTLY_LOSS, COSTLY_LOSS],
    },
    act: async ({ callModel }) => {
      const asked: JsonObject[] = [];
      const mayRetry: ModelCallOptions['mayRetry'] = (lost) => (asked.push(modelEnd(lost)), true);
      return { end: modelEnd(await callModel('costs-once', { mayRetry })), asked };
    },
  },
  {
    name: 'a model call ends with what is lost when the loop wants no retry',
    shows: COSTLY_LOSS,
    act: async ({ callModel }) => modelEnd(await callModel('costs-once', { mayRetry: isNever })),
  },
  ...(
    [
      { model: 'refuses', code: 'model_request_refused', status: 400, attempts: 1 },
      { model: 'locked', code: 'model_auth', status: 401, attempts: 1 },
      { model: 'too-long', code: 'context_too_long', status: 400, attempts: 1 },
      { model: 'down', code: 'model_error', status: 503, attempts: 8 },
    ] as const
  ).map(({ model, ...end }): HostCase => ({
    name: `a model call fails as ${end.code}, after all attempts that can help`,
    shows: { kind: 'failed', input: 0, usageKnown: false, ...end },
    act: async ({ callModel }) => modelEnd(await callModel(model)),
  })),
  {
    name: 'a model call that is aborted ends as aborted, and the next one is not',
    shows: [
      { kind: 'aborted', attempts: 1, input: 0, usageKnown: false },
      { kind: 'reply', attempts: 1, input: 100 },
    ],
    act: async ({ host, callModel, begun }) => {
      const waiting = callModel('waits');
      await begun('model');
      host.abort();
      const aborted = modelEnd(await waiting);
      const { text: _text, ...next } = modelEnd(await callModel('echo'));
      return [aborted, next];
    },
  },
  {
    name: 'a model call with an id is aborted alone',
    shows: { alone: 'aborted', beside: 'ok', idle: [true, false, true] },
    act: async ({ host, callModel, callTool, begun }) => {
      const idle = [host.isIdle()];
      const waiting = callModel('waits', { abortId: 'm' });
      await begun('model');
      const beside = callTool('wait:1', { key: 'tool' });
      await begun('tool');
      idle.push(host.isIdle());
      host.abort('m');
      const alone = (await waiting).kind;
      await callTool('release:2', { key: 'tool' });
      const { result } = await beside;
      return { alone, beside: result.outcome, idle: [...idle, host.isIdle()] };
    },
  },
];

const TOOL_CASES: readonly HostCase[] = [
  {
    name: 'a tool call ends with its output',
    shows: { outcome: 'ok', attempts: 1, started: true, output: { said: 'hi' }, error: null },
    act: async ({ callTool }) => toolEnd(await callTool('say:1', { text: 'hi' })),
  },
  {
    name: 'a local tool call ends with its output',
    shows: { outcome: 'ok', attempts: 1, started: true, output: 'read', error: null },
    act: async ({ callTool }) => toolEnd(await callTool('read:1')),
  },
  {
    name: 'a search ends with the names that it found',
    shows: { outcome: 'ok', names: ['say'] },
    act: async ({ callTool }) => {
      const query = { query: 'speak aloud' };
      const { result } = await callTool('tool_registry_search:1', query);
      const found = JSON.stringify(result.output ?? null);
      return { outcome: result.outcome, names: ['say', 'read'].filter((it) => found.includes(it)) };
    },
  },
  {
    name: 'a tool that throws once is tried again',
    shows: { outcome: 'ok', attempts: 2, started: true, output: 'again', error: null },
    act: async ({ callTool }) => toolEnd(await callTool('throws_once:1')),
  },
  {
    name: 'a tool that always throws ends as an error after its attempts',
    shows: {
      outcome: 'error',
      attempts: 2,
      started: true,
      output: null,
      error: 'Error: out of order',
    },
    act: async ({ callTool }) => toolEnd(await callTool('throws:1')),
  },
  {
    name: 'a once tool that throws is not tried again',
    shows: { outcome: 'error', attempts: 1, started: true },
    act: async ({ callTool }) => {
      const { output: _output, error: _error, ...end } = toolEnd(await callTool('pay:1'));
      return end;
    },
  },
  {
    name: 'unfit arguments are rejected before the tool runs',
    shows: { outcome: 'rejected', attempts: 1, started: false },
    act: async ({ callTool }) => {
      const end = toolEnd(await callTool('say:1', { text: 4 }));
      return { outcome: end['outcome'] ?? null, attempts: 1, started: end['started'] ?? null };
    },
  },
  {
    name: 'a tool that takes too long ends as an error',
    shows: {
      outcome: 'error',
      attempts: 1,
      started: true,
      output: null,
      error: 'Error: sleepy did not finish within 0.3 s.',
    },
    act: async ({ callTool }) => toolEnd(await callTool('sleepy:1')),
  },
  {
    name: 'calls settle in the order in which they end, and say when',
    shows: { order: ['2', '1'], inTime: true },
    act: async ({ host, callTool, begun }) => {
      const order: string[] = [];
      const note = (id: string) => (end: ToolEnd) => (order.push(id), end.endedAt);
      const slow = callTool('wait:1', { key: 'slow' }).then(note('1'));
      await begun('slow');
      const quick = await callTool('say:2', { text: 'quick' }).then(note('2'));
      await callTool('release:3', { key: 'slow' });
      const late = await slow;
      return { order, inTime: quick <= late && late <= host.now() };
    },
  },
  {
    name: 'tool calls that are aborted end as canceled, and the next one is not',
    shows: ['canceled', 'canceled', 'ok'],
    act: async ({ host, callTool, begun }) => {
      const waiting = [callTool('wait:1', { key: 'a' }), callTool('wait:2', { key: 'b' })];
      await Promise.all([begun('a'), begun('b')]);
      host.abort();
      const ends = await Promise.all(waiting);
      const next = await callTool('say:3', { text: 'hi' });
      return [...ends, next].map(({ result }) => result.outcome);
    },
  },
  {
    name: 'a tool call with an id is aborted alone; an id that has ended aborts nothing',
    shows: ['canceled', 'ok'],
    act: async ({ host, callTool, begun }) => {
      const alone = callTool('wait:1', { key: 'a' }, { abortId: '1' });
      const beside = callTool('wait:2', { key: 'b' }, { abortId: '2' });
      await Promise.all([begun('a'), begun('b')]);
      host.abort('1');
      const first = await alone;
      host.abort('1');
      await callTool('release:3', { key: 'b' });
      const second = await beside;
      host.abort('2');
      return [first, second].map(({ result }) => result.outcome);
    },
  },
  {
    name: 'a once tool that is aborted and does not stop ends as unknown',
    shows: { outcome: 'unknown', started: true },
    act: async ({ host, callTool, begun }) => {
      const waiting = callTool('deaf_once:1', { key: 'a' });
      await begun('a');
      host.abort();
      const { outcome, started } = (await waiting).result;
      return { outcome, started };
    },
  },
  {
    name: 'a once tool that stops when it is aborted ends as canceled',
    shows: { outcome: 'canceled', started: true },
    act: async ({ host, callTool, begun }) => {
      const waiting = callTool('wait_once:1', { key: 'a' });
      await begun('a');
      host.abort();
      const { outcome, started } = (await waiting).result;
      return { outcome, started };
    },
  },
];

const CHECK_CASES: readonly HostCase[] = [
  {
    name: 'an answer is accepted, rejected or unfit',
    shows: [
      { kind: 'judged', verdicts: ['accepted'] },
      { kind: 'judged', verdicts: ['rejected'] },
    ],
    act: async ({ judge }) => {
      const ends = [await judge('good', ['picky']), await judge('bad', ['picky'])];
      return ends.map((end) => ({
        kind: end.kind,
        verdicts: end.kind === 'judged' ? end.result.verdicts.map(({ kind }) => kind) : [],
      }));
    },
  },
  {
    name: 'judging fails when a validator throws in every attempt',
    shows: { kind: 'failed', message: 'validator broken: no idea' },
    act: async ({ judge }) => ({ ...(await judge('good', ['broken'])) }) as JsonObject,
  },
  {
    name: 'judging that is aborted ends as aborted',
    shows: 'aborted',
    act: async ({ host, judge, begun }) => {
      const judging = judge('good', ['patient']);
      await begun('judge');
      host.abort();
      return (await judging).kind;
    },
  },
  {
    name: 'a function decides whether a person must approve a call',
    shows: [
      { kind: 'known', needed: true },
      { kind: 'known', needed: false },
      { kind: 'known', needed: false },
      { kind: 'failed', message: 'who knows' },
    ],
    act: async ({ needsApproval }) =>
      (await Promise.all([
        needsApproval('refund', { amount: 500 }),
        needsApproval('refund', { amount: 5 }),
        needsApproval('refund', { amount: 'much' }),
        needsApproval('refund', { amount: -1 }),
      ])) as unknown as Json,
  },
  {
    name: 'arguments and literals are checked against the schemas of their tools',
    shows: { kind: 'checked', verdicts: ['fits', 'unfit'], findings: [0, 1] },
    act: async ({ host, work }) => {
      const end = await host.checkLiterals({
        agent: work.state.head.spec.name,
        calls: [
          { tool: 'say', args: { text: 'hi' } },
          { tool: 'say', args: { text: 4 } },
        ],
        literals: [
          { tool: 'say', path: ['text'], value: 'hi' },
          { tool: 'say', path: ['text'], value: 4 },
        ],
      });
      if (end.kind !== 'checked') return { kind: end.kind };
      const verdicts = end.verdicts.map(({ kind }) => kind);
      return { kind: end.kind, verdicts, findings: end.literals.map((it) => it.findings.length) };
    },
  },
];

const CHILD_CASES: readonly HostCase[] = [
  {
    name: 'a child runs to its end',
    shows: { kind: 'ended', status: 'success', value: 'from the child' },
    act: async ({ runChild }) => {
      const end = await runChild('1.1', 'child');
      if (end.kind !== 'ended') return { kind: end.kind };
      return { kind: end.kind, status: end.step.status, value: end.step.value ?? null };
    },
  },
  {
    name: 'a child is awaited when it is aborted alone, and ends as canceled',
    shows: { kind: 'ended', status: 'canceled' },
    act: async ({ host, runChild, begun }) => {
      const running = runChild('1.1', 'waiting-child');
      await begun('child');
      host.abort('1.1');
      const end = await running;
      return { kind: end.kind, status: end.kind === 'ended' ? end.step.status : null };
    },
  },
  {
    name: 'an abort of everything reaches children too',
    shows: { kind: 'ended', status: 'canceled' },
    act: async ({ host, runChild, begun }) => {
      const running = runChild('1.1', 'waiting-child');
      await begun('child');
      host.abort();
      const end = await running;
      return { kind: end.kind, status: end.kind === 'ended' ? end.step.status : null };
    },
  },
  {
    name: 'a message to a child that does not exist is lost without an error',
    shows: 'sent',
    act: async ({ host }) => {
      host.send({ to: 'child', childId: `${host.link.address}/none`, message: CANCEL });
      await host.waits.until(isNever, host.now() + 50);
      return 'sent';
    },
  },
];

const TIME_CASES: readonly HostCase[] = [
  {
    name: 'a wait ends when its condition holds, at once or later',
    shows: ['at once', 'after a wake', 'after an event', 'after a call'],
    act: async ({ host, work, callTool }) => {
      const seen: string[] = [];
      await host.waits.until(() => true);
      seen.push('at once');
      let isWoken = false;
      const woken = host.waits.until(() => isWoken).then(() => seen.push('after a wake'));
      isWoken = true;
      host.waits.wake();
      await woken;
      const { seq } = work.state;
      const published = host.waits.until(() => work.state.seq > seq);
      work.emit('case:noted', null);
      await published;
      seen.push('after an event');
      const call = callTool('read:1');
      await host.waits.until(() => host.isIdle());
      await call;
      return [...seen, 'after a call'];
    },
  },
  {
    name: 'a wait ends at its deadline; several waits end each at its own',
    shows: { order: ['soon', 'late'], inTime: true },
    act: async ({ host }) => {
      const start = host.now();
      const order: string[] = [];
      await Promise.all([
        host.waits.until(isNever, start + 1_500).then(() => order.push('late')),
        host.waits.until(isNever, start + 200).then(() => order.push('soon')),
      ]);
      return { order, inTime: host.now() >= start + 1_500 };
    },
  },
  {
    name: 'the deadline of the run calls once, can be replaced and removed',
    shows: ['second'],
    act: async ({ host }) => {
      const due: string[] = [];
      host.setDeadline(host.now() + 100, () => due.push('first'));
      host.setDeadline(host.now() + 200, () => due.push('second'));
      await host.waits.until(() => due.length > 0, host.now() + 5_000);
      host.setDeadline(host.now() + 100, () => due.push('third'));
      host.setDeadline(null, () => due.push('never'));
      await host.waits.until(isNever, host.now() + 1_200);
      return due;
    },
  },
  {
    name: 'time never goes back and stands still between waits',
    shows: { stands: true, moves: true },
    act: async ({ host }) => {
      const before = host.now();
      const stands = host.now() === before;
      await host.waits.until(isNever, before + 100);
      return { stands, moves: host.now() >= before + 100 };
    },
  },
];

const RUN_CASES: readonly HostCase[] = [
  {
    name: 'a pause ends no call that is in flight',
    shows: { outcome: 'ok', paused: true },
    act: async ({ work, callTool, begun }) => {
      const waiting = callTool('wait:1', { key: 'a' });
      await begun('a');
      work.run.pause();
      const paused = work.state.pausedAt !== null;
      await callTool('release:2', { key: 'a' });
      const { result } = await waiting;
      work.run.resume();
      return { outcome: result.outcome, paused };
    },
  },
  {
    name: 'a fresh execution has room, and a hand-over could carry its state',
    shows: { due: false, full: false, fits: true },
    act: ({ host, work }) =>
      Promise.resolve({
        due: host.link.isHandoverDue(),
        full: host.link.isFull(),
        fits: host.link.fits(work.state),
      }),
  },
];

/** The case that runs over two links of a chain: see `nextCase`. */
export const HANDOVER_CASE = 'calls work in both links of a chain, and time goes on';

/** All cases that need one iteration. */
export const HOST_CASES: readonly HostCase[] = [
  ...MODEL_CASES,
  ...TOOL_CASES,
  ...CHECK_CASES,
  ...CHILD_CASES,
  ...TIME_CASES,
  ...RUN_CASES,
];

/** The loop of the agent `cases`: runs the case that its task names. */
export const nextCase: Next = async (work) => {
  const { text } = work.state.head.task;
  const stage = stageOf(work);
  if (text === HANDOVER_CASE) return nextLink(stage);
  const found = HOST_CASES.find(({ name }) => name === text);
  if (found === undefined) throw new Error(`Expected the name of a case, got ${text}.`);
  return { kind: 'end', value: await found.act(stage) };
};

interface LinkNote {
  readonly outcomes: readonly string[];
  readonly now: number;
}

/** Calls a tool in each iteration until the run has been handed over; then says what it saw. */
async function nextLink({ host, work, callTool }: HostStage): ReturnType<Next> {
  const before = work.state.data as unknown as LinkNote | null;
  const { result } = await callTool(`say:${work.iteration}`, { text: 'hi' });
  const outcomes = [...new Set([...(before?.outcomes ?? []), result.outcome])];
  const isLater = before === null || host.now() >= before.now;
  if (work.state.link > 1) return { kind: 'end', value: { outcomes, isLater } };
  work.setData({ outcomes, now: host.now() });
  return { kind: 'continue' };
}

function stageOf(work: Work): HostStage {
  const { host, state } = work.run;
  const { head, runId, agentPath } = state;
  const { spec } = head;
  const identity = { agent: spec.name, runId, agentPath };
  const toolOf = (name: string): ToolSpec => {
    const tool = spec.tools.find((it) => it.name === name);
    if (tool === undefined) throw new Error(`Expected a tool of the case agent, got ${name}.`);
    return tool;
  };
  const callTool: HostStage['callTool'] = (call, args = {}, options) => {
    const [name = '', callId = ''] = call.split(':');
    return host.callTool({ ...identity, callId, tool: name, args }, toolOf(name), options);
  };
  return {
    host,
    work,
    callTool,
    callModel: (model, options) => {
      const order = {
        ...identity,
        model,
        purpose: 'reply',
        iteration: work.iteration,
        triesBefore: 0,
        lastTurn: false,
        time: host.now(),
        transcript: state.mark,
      } as const;
      return host.callModel(order, state, { mayRetry: () => true, ...options });
    },
    judge: (answer, validators = []) => {
      const { iteration } = work;
      return host.judgeAnswer({
        ...identity,
        iteration,
        validators,
        answers: [answer],
        sections: [],
      });
    },
    needsApproval: (tool, args = {}) =>
      host.needsApproval({ ...identity, callId: 'a', tool, args }, toolOf(tool)),
    runChild: (callId, agent) => {
      const childId = `${host.link.address}/${callId}`;
      const input = { v: 1, agent, task: { text: runId } } as const;
      return host.runChild({ childId, callId, input }, () => CANCEL);
    },
    begun: async (key) => {
      await callTool(`await_begun:${key}`, { key });
    },
  };
}
