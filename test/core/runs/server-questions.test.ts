/** Questions that a server asks within a call: they wait in the run, and hold nothing open. */
import { describe, expect, it } from 'vitest';
import type { CallInput } from '../../../src/core/contract/call-input.ts';
import { textOf } from '../../../src/core/base/message.ts';
import { valueOf } from '../../../src/core/contract/stats.ts';
import type { AgentOptions } from '../../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { callInput } from '../../../src/define/tool/call-input.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { listServers } from '../../../src/testing/listed-servers.ts';
import type { MemoryRunOptions } from '../../../src/testing/run-in-memory.ts';
import {
  fakeServer,
  fakeServers,
  type FakeServers,
  type FakeTool,
} from '../../support/fake-servers.ts';
import { startPrograms, type ProgramRun } from '../../support/programs.ts';
import { actWith, answer, bodiesOf, START, startRun, type StartedRun } from '../../support/runs.ts';

const WEEK = 7 * 24 * 3_600_000;

const ENV_FORM = {
  type: 'object',
  properties: { env: { type: 'string', enum: ['staging', 'production'] } },
  required: ['env'],
};

const ENV: CallInput = {
  requests: { env: { kind: 'form', message: 'Deploy where?', form: ENV_FORM } },
  state: 'note-1',
};

/** A tool that asks once where to deploy. */
const DEPLOY: FakeTool = {
  name: 'deploy',
  call: (_args, resume) =>
    resume === undefined ? callInput(ENV) : { answered: resume.responses['env'] ?? null },
};

async function start(
  tool: FakeTool,
  options: Partial<MemoryRunOptions> = {},
  fields: Partial<AgentOptions> = {},
): Promise<StartedRun & { readonly servers: FakeServers }> {
  const servers = fakeServers({ ops: [tool] });
  const agent = { tools: [fakeServer('ops')], ...fields };
  const mcp = await listServers(
    [defineAgent({ name: 'tester', model: 'm', ...agent })],
    servers.tools,
  );
  const { agent: _agent, ...rest } = options;
  const started = startRun([actWith(['ops_deploy', 'x']), answer()], { ...rest, agent, mcp });
  return { ...started, servers };
}

async function untilWaiting({ run }: Pick<StartedRun, 'run'>): Promise<void> {
  const seen = await run.resultOrPending();
  if (seen.kind === 'step') throw new Error(`Expected to wait, got ${seen.step.message ?? ''}.`);
}

function observed({ script }: StartedRun): string {
  const users = (script.requests[1]?.messages ?? []).filter(({ role }) => role === 'user');
  return users.map(textOf).findLast((text) => text.includes('<observation>')) ?? '';
}

describe('a question of a server', () => {
  it('waits a week over hand-overs, and the call goes on under its own id [mcp 6]', async () => {
    const started = await start(DEPLOY, { handoverDue: () => true });
    const { run, clock, servers } = started;
    await untilWaiting(started);
    clock.advance(WEEK);

    expect(run.pending()).toEqual([
      {
        id: 'q1',
        kind: 'question',
        agent: 'tester',
        path: 'tester',
        question: 'Deploy where?',
        free: false,
        details: { server: 'ops', tool: 'deploy', form: ENV_FORM },
        since: START,
      },
    ]);
    expect(() => run.answer('q1', { env: 'moon' })).toThrow(
      'answer with an object: env is one of staging, production',
    );
    run.answer('q1', { env: 'staging' });
    const step = await run.result;

    expect(step.status).toBe('success');
    expect(servers.calls).toEqual([
      { tool: 'deploy', args: { query: 'x' }, key: 'run-1/1.1' },
      {
        tool: 'deploy',
        args: { query: 'x' },
        key: 'run-1/1.1',
        resume: {
          state: 'note-1',
          responses: { env: { action: 'accept', content: { env: 'staging' } } },
        },
      },
    ]);
    expect(observed(started)).toContain('staging');
    expect(valueOf(step.stats, 'agent:questions')).toBe(1);
    expect(valueOf(step.stats, 'agent:tool_calls')).toBe(1);
    expect(valueOf(step.stats, 'agent:tool_retries')).toBe(0);
    expect(valueOf(step.stats, 'agent:active_ms')).toBe(0);
    expect(bodiesOf(run.events, 'agent:execution:handover').length).toBeGreaterThan(0);
  });

  it.each([
    { name: 'declined', act: 'decline', response: { action: 'decline' } },
    { name: 'not answered in time', act: 'wait', response: { action: 'cancel' } },
  ])('is $name', async ({ act, response }) => {
    const started = await start({ ...DEPLOY, approvalTimeoutMs: 60_000 });
    const { run, clock, servers } = started;
    await untilWaiting(started);
    if (act === 'decline') run.answer('q1', { decline: true });
    else clock.advance(60_000);
    const step = await run.result;

    expect(step.status).toBe('success');
    expect(servers.calls[1]?.resume?.responses).toEqual({ env: response });
  });

  it('ends with the run that is canceled, and the server is not called again', async () => {
    const started = await start(DEPLOY);
    await untilWaiting(started);
    started.run.cancel('enough');
    const step = await started.run.result;

    expect(step.status).toBe('canceled');
    expect(started.servers.calls).toHaveLength(1);
  });

  it('comes one after another in the order of the keys, and a page is opened', async () => {
    const started = await start(
      {
        name: 'deploy',
        call: (_args, resume) =>
          resume === undefined
            ? callInput({
                requests: {
                  b: { kind: 'url', message: 'Log in', url: 'https://example.com/in' },
                  a: {
                    kind: 'form',
                    message: 'Who?',
                    form: {
                      type: 'object',
                      properties: { name: { type: 'string', default: 'me' } },
                    },
                  },
                },
              })
            : { asked: Object.keys(resume.responses) },
      },
      { handoverDue: () => true },
    );
    const { run, servers } = started;
    await untilWaiting(started);
    expect(run.pending().map((item) => 'question' in item && item.question)).toEqual(['Who?']);
    run.answer('q1', {});
    await untilWaiting(started);
    expect(run.pending()).toMatchObject([
      { id: 'q2', question: 'Log in', details: { url: 'https://example.com/in' } },
    ]);
    expect(() => run.answer('q2', 'no')).toThrow('answer with true once the page is done');
    run.answer('q2', true);
    await run.result;

    expect(servers.calls[1]?.resume).toEqual({
      responses: { a: { action: 'accept', content: { name: 'me' } }, b: { action: 'accept' } },
    });
  });

  it('comes at most ten times in a call', async () => {
    const started = await start({ name: 'deploy', call: () => callInput(ENV) });
    const { run, servers } = started;
    for (let round = 1; round <= 10; round++) {
      await untilWaiting(started);
      run.answer(`q${round}`, { env: 'staging' });
    }
    await run.result;

    expect(servers.calls).toHaveLength(11);
    expect(observed(started)).toContain('Error: the server ops asked 10 times');
  });

  it('is refused if it is too large to wait', async () => {
    const started = await start({
      name: 'deploy',
      call: () => callInput({ ...ENV, state: 'x'.repeat(65_535) }),
    });
    await started.run.result;

    expect(observed(started)).toContain(
      'Error: the server ops asked with 65537 bytes, at most 65536 are allowed',
    );
  });

  it('is dismissed when a limit has no room for it', async () => {
    const limits = {
      custom: [{ kind: 'exact', key: 'agent:questions', max: 0, onReach: 'refuse' }],
    } as const;
    const started = await start(DEPLOY, {}, { limits });
    await started.run.result;

    expect(started.servers.calls[1]?.resume?.responses).toEqual({ env: { action: 'cancel' } });
  });

  it('keeps the arguments that a person has edited, over a hand-over', async () => {
    const started = await start({ ...DEPLOY, approval: 'always' }, { handoverDue: () => true });
    const { run, servers } = started;
    await untilWaiting(started);
    expect(run.pending()).toMatchObject([{ kind: 'approval', id: '1.1' }]);
    run.decide('1.1', { args: { query: 'y' } });
    await untilWaiting(started);
    run.answer('q1', { env: 'staging' });
    await run.result;

    expect(servers.calls.map(({ args }) => args)).toEqual([{ query: 'y' }, { query: 'y' }]);
    expect(observed(started)).toContain('A person changed the arguments to {"query":"y"}.');
  });

  it('waits in a program, over a hand-over [mcp 6]', async () => {
    const servers = fakeServers({ ops: [DEPLOY] });
    const agent = { tools: [fakeServer('ops')] };
    const mcp = await listServers(
      [defineAgent({ name: 'tester', model: 'm', ...agent })],
      servers.tools,
    );
    const started: ProgramRun = startPrograms(
      ['(pmap (fn [q] (tool/ops_deploy {:query q})) ["x" "y"])'],
      { agent, mcp, clock: createFakeClock(START), handoverDue: () => true },
    );
    const { run } = started;
    await untilWaiting(started);
    expect(run.pending().map(({ id }) => id)).toEqual(['q1', 'q2']);
    run.answer('q2', { env: 'production' });
    run.answer('q1', { env: 'staging' });
    const step = await run.result;

    expect(step.value).toEqual(
      ['staging', 'production'].map((env) => ({
        answered: { action: 'accept', content: { env } },
      })),
    );
  });
});
