/** What goes wrong at the provider, over real HTTP: what is tried again, and what ends the run. */
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { findFreePort } from '../../src/worker/server/server-probe.ts';
import { modelAt, sse } from '../support/aimock.ts';
import { eventually } from '../support/eventually.ts';
import { answer, bodiesOf, hasNoGap } from '../support/runs.ts';
import {
  piece,
  slowProviders,
  type ProviderReply,
  type SlowProvider,
} from '../support/slow-provider.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
const providers = slowProviders();
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterEach(() => providers.stop());
afterAll(() => stage.close());

async function start(url: string, fields: Partial<AgentOptions> = {}): Promise<RunHandle> {
  const model = { id: 'm', model: modelAt(url, 'openai-compatible') };
  const { everloop } = await stage.serve([
    defineAgent({ name: 'tester', mode: 'react', model, ...fields }),
  ]);
  return everloop.start('tester', { task: 'Go' });
}

async function startWith(
  replies: readonly ProviderReply[],
  fields: Partial<AgentOptions> = {},
): Promise<{ readonly run: RunHandle; readonly provider: SlowProvider }> {
  const provider = await providers.start(replies);
  return { run: await start(provider.url, fields), provider };
}

/** A refusal in the provider's own words. */
function refusal(status: number, message: string, headers: object = {}): ProviderReply {
  return (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error: { message, type: 'test', code: null } }));
  };
}

const BROKEN_STREAM: ProviderReply = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(sse([piece('<answer>half')]));
  setTimeout(() => response.destroy(), 50);
};

const CUT_OFF: ProviderReply = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${sse([piece('<answer>half'), piece('', 'length')])}data: [DONE]\n\n`);
};

describe('a failure that passes is tried again [row 53]', () => {
  it.each<[name: string, first: ProviderReply, waitMs: number]>([
    ['429 with Retry-After', refusal(429, 'slow down', { 'retry-after': '2' }), 2_000],
    ['500', refusal(500, 'oops'), 1_000],
    ['a broken stream', BROKEN_STREAM, 1_000],
  ])('%s', async (_name, first, waitMs) => {
    const times: number[] = [];
    const noted =
      (reply: ProviderReply): ProviderReply =>
      (response, request, body) => {
        times.push(Date.now());
        if (typeof reply === 'function') reply(response, request, body);
        else {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.end(`${sse([piece(answer()), piece('', 'stop')])}data: [DONE]\n\n`);
        }
      };
    const { run } = await startWith([noted(first), noted('')]);

    const step = await run.result();

    expect(step).toMatchObject({ status: 'success', value: 'done', iterations: 1 });
    expect(step.usage).toMatchObject({ modelCalls: 1, modelCallRetries: 1 });
    expect(times).toHaveLength(2);
    expect(Number(times[1]) - Number(times[0])).toBeGreaterThanOrEqual(waitMs);
    await stage.replay(run);
  });

  it('a refused connection, until the provider is there', async () => {
    const port = await findFreePort('127.0.0.1');
    const run = await start(`http://127.0.0.1:${port}`);
    const failure = await eventually('a failed attempt', async () => {
      const [failed] = bodiesOf(await run.events(), 'agent:model_attempt_failed');
      return failed;
    });

    await providers.start([answer()], port);
    const step = await run.result();

    expect(failure.message).toBe('The provider could not be reached (ECONNREFUSED).');
    expect(step).toMatchObject({ status: 'success', value: 'done', iterations: 1 });
    expect(step.usage.modelCallRetries).toBeGreaterThanOrEqual(1);
    await stage.replay(run);
  });
});

describe('a failure that stays ends the run [row 53]', () => {
  it.each([
    ['401', refusal(401, 'bad key'), 'model_auth', 'HTTP 401: bad key'],
    ['400', refusal(400, 'bad field'), 'model_request_refused', 'HTTP 400: bad field'],
  ] as const)('%s', async (_name, reply, reason, cause) => {
    const { run, provider } = await startWith([reply]);

    const step = await run.result();

    expect(step).toMatchObject({
      status: 'error',
      reason,
      message: `iteration 1: ${cause}`,
      value: null,
      iterations: 1,
    });
    expect(provider.requests).toHaveLength(1);
    const events = await run.events();
    expect(bodiesOf(events, 'agent:error')).toEqual([
      { type: 'agent:error', message: `iteration 1: ${cause}` },
    ]);
    const { status } = await stage.client.workflow.getHandle(run.id).describe();
    expect(status.name).toBe('FAILED');
    await stage.replay(run);
  });
});

describe('a reply that is of no use', () => {
  it('is told to the model, which answers then', async () => {
    const { run, provider } = await startWith(['', 'no section at all', CUT_OFF, answer()], {
      limits: 'unlimited',
    });

    const step = await run.result();

    // The cut one is an answer, with which the model goes on in the same iteration.
    expect(step).toMatchObject({ status: 'success', value: 'done', iterations: 3 });
    expect(provider.requests).toHaveLength(4);
    const events = await run.events();
    expect(hasNoGap(events)).toBe(true);
    expect(
      bodiesOf(events, 'agent:parse_error').map(({ family, problems }) => ({
        family,
        codes: problems.map(({ code }) => code),
      })),
    ).toEqual([
      { family: 'format', codes: ['empty_turn'] },
      { family: 'format', codes: ['no_sections'] },
    ]);
    await stage.replay(run);
  });

  it('ends the run when it comes again and again', async () => {
    const { run } = await startWith(['no section at all'], { onUnparsed: 'retry' });

    const step = await run.result();

    expect(step).toMatchObject({
      status: 'limit_exceeded',
      reason: 'agent:format_parse_error_consecutive',
      message:
        'limit exceeded: agent:format_parse_error_consecutive is 4, the limit is 3. The model wrote: "no section at all"',
      iterations: 4,
    });
    await stage.replay(run);
  });
});
