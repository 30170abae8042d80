/**
 * The contract of `Host` as cases, each with what it must show on every host. A case is the body of an
 * iteration of a custom loop, so the same code runs in memory and in the workflow sandbox; it uses
 * nothing but the port. `test/support/host-case-agents.ts` has the agents, tools and models.
 */
import { replyText } from '../../src/core/contract/turn.ts';
import { defined } from '../../src/core/base/defined.ts';
import { idBelow } from '../../src/core/base/ids.ts';
import type { ParentLink } from '../../src/core/contract/lease.ts';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { ChildEnd, ModelOutcome } from '../../src/core/contract/host-outcome.ts';
import type { ModelOrder } from '../../src/core/contract/host-order.ts';
import type { CallEnd, JudgeOrder } from '../../src/core/contract/outcome.ts';
import type { CallOptions, Host, ModelCallOptions } from '../../src/core/run/host.ts';
import type { ToolSpec } from '../../src/core/contract/spec.ts';
import type { ChildCancel } from '../../src/core/contract/tree-messages.ts';
import type { Next, Work } from '../../src/core/loop/work.ts';
import { READ_CASES } from './host-reads.cases.ts';

/** One case. `act` gives what is compared with `shows`; `name` is the task of its run. */
export interface HostCase {
  readonly name: string;
  readonly shows: Json;
  /** It takes more than a minute on a server, so only a release includes it there. */
  readonly isSlow?: true;
  readonly act: (stage: HostStage) => Promise<Json>;
}

/** What a case has at hand: the host, and the calls that it makes with short arguments. */
export interface HostStage {
  readonly host: Host;
  readonly work: Work;
  readonly callModel: (
    model: string,
    options?: Partial<ModelCallOptions>,
    own?: ModelOrder['own'],
  ) => Promise<ModelOutcome>;
  /** Asks a model, beside whose reply so many calls of each of these tools may run. */
  readonly askAndRead: (
    model: string,
    tools: Readonly<Record<string, number>>,
    calls?: number,
  ) => Promise<ModelOutcome>;
  readonly callTool: (call: string, args?: JsonObject, options?: CallOptions) => Promise<CallEnd>;
  readonly judge: (
    answer: Json,
    validators?: readonly string[],
    order?: Partial<JudgeOrder>,
  ) => ReturnType<Host['judgeAnswer']>;
  readonly needsApproval: (tool: string, args?: JsonObject) => ReturnType<Host['needsApproval']>;
  readonly checkArgs: (...texts: Json[]) => ReturnType<Host['checkLiterals']>;
  readonly runChild: (
    callId: string,
    agent: string,
    cancel?: ChildCancel,
  ) => ReturnType<Host['runChild']>;
  /** Settles once what has this key runs: a tool, a model, a validator, a child. */
  readonly begun: (key: string) => Promise<void>;
  /**
   * The same by a local tool: no other call is sent to the service while a local one runs. It begins
   * before what it waits for: local calls end in the order in which they began.
   */
  readonly begunHere: (key: string) => Promise<void>;
}

const CANCEL: ChildCancel = { v: 1, kind: 'cancel', message: 'no longer needed' };

/** The cancel that no child hears: see `deaf-child`. */
export const UNHEARD: ChildCancel = { v: 1, kind: 'cancel', message: 'unheard' };

const isNever = (): boolean => false;

/** What a case compares of a tool call. */
function toolEnd({ result }: CallEnd): JsonObject {
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
  const { usage } = outcome.reply;
  const text = replyText(outcome.reply);
  return { kind, attempts, input: usage.inputTokens, text };
}

/** What a case compares of a child. */
function childEnd(end: ChildEnd): string {
  return end.kind === 'ended' ? end.step.status : end.kind;
}

/** A call of each kind that waits until it is released or aborted; each gives how it ended. */
async function hold(stage: HostStage): Promise<{ readonly ends: Promise<readonly string[]> }> {
  const { callTool, callModel, runChild, judge, begun } = stage;
  const ends = Promise.all([
    callTool('wait:held', { key: 'tool' }).then(({ result }) => result.outcome),
    callModel('waits').then(({ kind }) => kind),
    runChild('1.held', 'waiting-child').then(childEnd),
    judge('good', ['patient']).then(({ kind }) => kind),
  ]);
  await Promise.all(HELD.map(begun));
  return { ends };
}

const HELD = ['tool', 'model', 'child', 'judge'];

/** Lets the calls of {@link hold} end. */
async function release({ callTool }: HostStage): Promise<void> {
  await Promise.all(HELD.map((key) => callTool(`release:${key}`, { key })));
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
    name: '[R12] a model call with a fallback has two attempts, and tells of the first',
    shows: {
      end: {
        kind: 'failed',
        attempts: 2,
        input: 0,
        usageKnown: false,
        code: 'model_error',
        status: 503,
      },
      told: [{ attempt: 1, code: 'model_error', status: 503, retryInMs: 1 }],
    },
    act: async ({ callModel }) => {
      const told: JsonObject[] = [];
      const onFailedAttempt: ModelCallOptions['onFailedAttempt'] = ({ message, ...failed }) =>
        void (message.includes('503') && told.push({ ...failed }));
      const end = await callModel('down', { hasFallback: true, onFailedAttempt });
      return { end: modelEnd(end), told };
    },
  },
  {
    name: 'a model that a custom loop names and the worker lacks is not tried again',
    shows: {
      kind: 'failed',
      attempts: 1,
      input: 0,
      usageKnown: false,
      code: 'model_error',
      status: null,
    },
    act: async ({ callModel }) => {
      const messages = [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }] as const;
      return modelEnd(await callModel('absent', {}, { messages, models: ['absent'] }));
    },
  },
  {
    name: 'a model of the agent that no worker has in time is not tried again',
    shows: {
      kind: 'failed',
      attempts: 1,
      input: 0,
      usageKnown: false,
      code: 'model_error',
      status: null,
    },
    act: async ({ callModel }) => modelEnd(await callModel('absent')),
  },
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
    name: 'a local tool that always throws ends as an error after its attempts',
    shows: {
      outcome: 'error',
      attempts: 2,
      started: true,
      output: null,
      error: 'Error: out of reach',
    },
    act: async ({ callTool }) => toolEnd(await callTool('local_throws:1')),
  },
  {
    name: 'a local tool that is aborted ends as canceled, and the next one does not',
    shows: [{ outcome: 'canceled', started: true }, 'ok'],
    act: async ({ host, callTool, begunHere }) => {
      const begun = begunHere('a');
      const waiting = callTool('local_wait:1', { key: 'a' });
      await begun;
      host.abort();
      const { outcome, started } = (await waiting).result;
      const { result } = await callTool('read:2');
      return [{ outcome, started }, result.outcome];
    },
  },
  {
    name: 'a tool that the worker lacks ends as an error at once',
    shows: {
      outcome: 'error',
      attempts: 0,
      started: false,
      output: null,
      error: 'Error: no worker has the tool absent of agent cases.',
    },
    act: async ({ callTool }) => toolEnd(await callTool('absent:1')),
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
      const { outcome, attempts, started } = (await callTool('say:1', { text: 4 })).result;
      return { outcome, attempts, started };
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
      const note = (id: string) => (end: CallEnd) => (order.push(id), end.endedAt);
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
      { kind: 'judged', verdicts: ['unfit', 'accepted'] },
    ],
    act: async ({ judge }) => {
      const output = { tool: 'say', schema: { type: 'integer' } };
      const ends = [
        await judge('good', ['picky']),
        await judge('bad', ['picky']),
        await judge('many', [], { answers: ['many', 4, 'more'], output }),
      ];
      return ends.map((end) => ({
        kind: end.kind,
        verdicts: end.kind === 'judged' ? end.result.verdicts.map(({ kind }) => kind) : [],
      }));
    },
  },
  {
    name: 'sections are checked and filled; one without a schema is left as it is',
    shows: [
      { problems: 0, value: null },
      { problems: 0, value: { hours: 1 } },
      { problems: 1, value: null },
      { problems: 0, value: null },
    ],
    act: async ({ judge }) => {
      const values = [{ hours: 3 }, {}, { hours: 'many' }];
      const sections = [
        ...values.map((value) => ({ name: 'estimate', value })),
        { name: 'doubts', value: 'none' },
      ];
      const end = await judge('good', [], { sections });
      if (end.kind !== 'judged') return { kind: end.kind };
      return end.result.sections.map(({ problems, value = null }) => ({
        problems: problems.length,
        value,
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
    name: 'the question whether a person must approve ends as aborted',
    shows: ['aborted', 'known'],
    act: async ({ host, needsApproval, begunHere }) => {
      const begun = begunHere('approval');
      const asking = needsApproval('refund', { amount: 0 });
      await begun;
      host.abort();
      const aborted = (await asking).kind;
      return [aborted, (await needsApproval('refund', { amount: 5 })).kind];
    },
  },
  {
    name: 'a check of arguments fails when a schema throws in every attempt',
    shows: { kind: 'failed', message: 'schema broken' },
    act: async ({ checkArgs }) => ({ ...(await checkArgs('broken')) }) as unknown as Json,
  },
  {
    name: 'a check of arguments that is aborted ends as aborted',
    shows: ['aborted', 'checked'],
    act: async ({ host, checkArgs, begunHere }) => {
      const begun = begunHere('check');
      const checking = checkArgs('endless');
      await begun;
      host.abort();
      const aborted = (await checking).kind;
      return [aborted, (await checkArgs('fine')).kind];
    },
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
    shows: 'canceled',
    act: async ({ host, runChild, begun }) => {
      const running = runChild('1.1', 'waiting-child');
      await begun('child');
      host.abort('1.1');
      return childEnd(await running);
    },
  },
  {
    name: 'an abort of everything reaches children too',
    shows: 'canceled',
    act: async ({ host, runChild, begun }) => {
      const running = runChild('1.1', 'waiting-child');
      await begun('child');
      host.abort();
      return childEnd(await running);
    },
  },
  {
    name: 'a child that is terminated is lost',
    shows: { kind: 'lost', canceled: false, idle: true },
    act: async ({ host, callTool, runChild, begun }) => {
      const running = runChild('1.1', 'waiting-child');
      await begun('child');
      await callTool('terminate:2', { id: `${host.link.address}/1.1` });
      const end = await running;
      const canceled = end.kind === 'lost' && end.canceled === true;
      return { kind: end.kind, canceled, idle: host.isIdle() };
    },
  },
  {
    name: 'a child that does not end in time after an abort is lost',
    isSlow: true,
    shows: {
      end: { kind: 'lost', message: 'it did not end within 90 s of being told to' },
      inTime: true,
    },
    act: async ({ host, runChild, begun }) => {
      const running = runChild('1.1', 'deaf-child', UNHEARD);
      // A child that is told before its first iteration ends without one.
      await begun('deaf');
      const start = host.now();
      host.abort('1.1');
      const end = await running;
      return { end: { ...end } as unknown as Json, inTime: host.now() >= start + 90_000 };
    },
  },
  {
    name: 'a child whose call has a long id runs under an id that fits',
    shows: { kind: 'ended', isBelow: true, fits: true, idle: true },
    act: async ({ host, runChild }) => {
      const end = await runChild('1'.repeat(1_000), 'child');
      const id = end.kind === 'ended' ? end.step.trace.workflowId : '';
      const isBelow = id.startsWith(`${host.link.address}/`);
      return { kind: end.kind, isBelow, fits: id.length <= 255, idle: host.isIdle() };
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
    name: 'the deadline of the run calls once at its time, can be replaced and removed',
    shows: [{ id: 'second', inTime: true }],
    act: async ({ host }) => {
      const due: JsonObject[] = [];
      const setDeadline = (id: string, at: number): void =>
        host.setDeadline(at, () => {
          due.push({ id, inTime: host.now() >= at });
          host.waits.wake();
        });
      setDeadline('first', host.now() + 100);
      setDeadline('second', host.now() + 300);
      await host.waits.until(() => due.length > 0);
      setDeadline('third', host.now() + 100);
      host.setDeadline(null, () => due.push({ id: 'never' }));
      await host.waits.until(isNever, host.now() + 1_200);
      return due;
    },
  },
  {
    name: 'the deadline of the run wakes no wait',
    shows: { isDue: true, inTime: true },
    act: async ({ host }) => {
      const start = host.now();
      let isDue = false;
      host.setDeadline(start + 100, () => (isDue = true));
      await host.waits.until(() => isDue, start + 1_500);
      return { isDue, inTime: host.now() >= start + 1_500 };
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
    name: 'long work is done once, and what throws in it throws; a slice ends also after an abort',
    shows: { did: ['program', 'reply'], thrown: 'no', idle: true },
    act: async ({ host }) => {
      const did = (['program', 'reply'] as const).map(
        (kind) => host.computing.run(kind, () => ({ kind }))?.kind ?? null,
      );
      let thrown = '';
      try {
        host.computing.run('check', () => {
          throw new Error('no');
        });
      } catch (error) {
        thrown = (error as Error).message;
      }
      const slice = host.computing.endSlice();
      host.abort();
      await slice;
      await host.computing.endSlice();
      return { did, thrown, idle: host.isIdle() };
    },
  },
  {
    name: 'a pause ends no call that is in flight',
    shows: { ends: ['ok', 'reply', 'success', 'judged'], paused: true },
    act: async (stage) => {
      const { work } = stage;
      const { ends } = await hold(stage);
      work.run.pause();
      const paused = work.state.pausedAt !== null;
      await release(stage);
      const ended = await ends;
      work.run.resume();
      return { ends: ended, paused };
    },
  },
  {
    name: 'an abort ends all calls that are in flight',
    shows: { ends: ['canceled', 'aborted', 'canceled', 'aborted'], idle: [false, true] },
    act: async (stage) => {
      const { host } = stage;
      const { ends } = await hold(stage);
      const before = host.isIdle();
      host.abort();
      return { ends: await ends, idle: [before, host.isIdle()] };
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
export const HANDOVER_CASE =
  'a due hand-over ends no call, the next link makes its own, and time goes on';

/** What {@link HANDOVER_CASE} shows. */
export const HANDOVER_SHOWS: Json = {
  before: ['ok', 'reply', 'success', 'judged'],
  after: ['ok', 'reply', 'success', 'judged'],
  isLater: true,
};

/** All cases that need one iteration. */
export const HOST_CASES: readonly HostCase[] = [
  ...MODEL_CASES,
  ...READ_CASES,
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
  readonly before: readonly string[];
  readonly now: number;
}

/**
 * First link: a hand-over becomes due while a call of each kind is in flight. Second link: the same
 * calls, which end at once; then it says what it saw.
 */
async function nextLink(stage: HostStage): ReturnType<Next> {
  const { host, work, callTool, callModel, runChild, judge } = stage;
  if (work.state.link === 1) {
    const { ends } = await hold(stage);
    for (let calls = 1; !host.link.isHandoverDue(); calls++) {
      await callTool(`say:${calls}`, { text: 'hi' });
    }
    await release(stage);
    work.setData({ before: await ends, now: host.now() });
    return { kind: 'continue' };
  }
  const { before, now } = work.state.data as unknown as LinkNote;
  const after = [
    (await callTool('say:next', { text: 'hi' })).result.outcome,
    (await callModel('echo')).kind,
    childEnd(await runChild('2.1', 'child')),
    (await judge('good', ['picky'])).kind,
  ];
  return { kind: 'end', value: { before, after, isLater: host.now() >= now } };
}

function stageOf(work: Work): HostStage {
  const { host, state } = work.run;
  const { head, runId, agentPath } = state;
  const { spec } = head;
  const identity = { agent: spec.name, runId, agentPath };
  const toolOf = (name: string): ToolSpec => {
    const tool = spec.tools.find((it) => it.name === name);
    if (tool !== undefined) return tool;
    // A run keeps its specification, so it may name a tool that the worker lacks.
    if (name === 'absent') return { ...toolOf('say'), name };
    throw new Error(`Expected a tool of the case agent, got ${name}.`);
  };
  const callTool: HostStage['callTool'] = (call, args = {}, options) => {
    const [name = '', callId = ''] = call.split(':');
    return host.callTool({ ...identity, callId, tool: name, args }, toolOf(name), options);
  };
  const callModel = (
    model: string,
    options: Partial<ModelCallOptions> = {},
    more: Pick<ModelOrder, 'own' | 'reads'> = {},
  ): Promise<ModelOutcome> => {
    const order = {
      ...identity,
      model,
      purpose: 'reply',
      iteration: work.iteration,
      triesBefore: 0,
      lastTurn: false,
      time: host.now(),
      transcript: state.mark,
      ...more,
    } as const;
    return host.callModel(order, state, { mayRetry: () => true, ...options });
  };
  return {
    host,
    work,
    callTool,
    callModel: (model, options, own) => callModel(model, options, defined({ own })),
    askAndRead: (model, tools, calls = 8) => callModel(model, {}, { reads: { calls, tools } }),
    judge: (answer, validators = [], order = {}) => {
      const { iteration } = work;
      return host.judgeAnswer({
        ...identity,
        iteration,
        validators,
        answers: [answer],
        sections: [],
        ...order,
      });
    },
    needsApproval: (tool, args = {}) =>
      host.needsApproval({ ...identity, callId: 'a', tool, args }, toolOf(tool)),
    checkArgs: (...texts) =>
      host.checkLiterals({
        agent: spec.name,
        calls: texts.map((text) => ({ tool: 'checked', args: { text } })),
      }),
    runChild: (callId, agent, cancel = CANCEL) => {
      const workflowId = host.link.address;
      const childId = idBelow(workflowId, callId);
      const parent: ParentLink = {
        v: 1,
        workflowId,
        runId,
        agent: spec.name,
        callId,
        rootRunId: runId,
        path: `${spec.name}/${agent}`,
        depth: 1,
        deadlines: [],
        leases: [],
      };
      const input = { v: 1, agent, task: { text: runId }, parent } as const;
      return host.runChild({ childId, callId, input }, () => cancel);
    },
    begun: async (key) => {
      await callTool(`await_begun:${key}`, { key });
    },
    begunHere: async (key) => {
      await callTool(`local_await_begun:${key}`, { key });
    },
  };
}
