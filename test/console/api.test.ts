import { describe, expect, it } from 'vitest';
import type { AgentsView, AgentVersion } from '../../src/client/agents.ts';
import type { EventsAnswer, RunHeaderAnswer, RunsAnswer } from '../../src/console/api.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { UsageError } from '../../src/core/base/usage-error.ts';
import { memoryEverloop } from '../support/memory-everloop.ts';
import { passing } from '../support/passing.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { consoleStage, TOKEN, type Asked, type ConsoleStage } from './console-stage.ts';

/** A run that waits for a question, an approval and outside work. */
async function waiting(stage: ConsoleStage, requestId = 'request-1'): Promise<string> {
  const started = await stage.post('/api/v1/runs', { requestId, agent: 'clerk', task: 'Pay.' });
  expect(started).toMatchObject({ status: 200, body: { requestId } });
  const { run } = started.body as { readonly run: string };
  await passing(async () => {
    const { body } = await stage.ask('/api/v1/inbox');
    expect(body).toMatchObject({ items: [{}, {}, {}] });
  });
  return run;
}

const path = (run: string, rest = ''): string => `/api/v1/runs/${encodeURIComponent(run)}${rest}`;

describe('the API of a console', () => {
  it('starts a run with files beside its task', async () => {
    const stage = consoleStage(peopleAgents());
    const media = [{ type: 'media', mediaType: 'image/png', data: 'iVBORw0KGgo=' }];
    const request = { requestId: 'request-1', agent: 'clerk', task: 'Pay.', media };

    expect((await stage.post('/api/v1/runs', request)).status).toBe(200);
    expect(stage.everloop.started[0]).toMatchObject({ task: { text: 'Pay.', media } });
    const refused = await stage.post('/api/v1/runs', {
      ...request,
      requestId: 'request-2',
      media: 'x',
    });
    expect(refused.status).toBe(400);
  });

  it('starts a run, lists it, shows it whole, and answers it to its end', async () => {
    const stage = consoleStage(peopleAgents());
    const run = await waiting(stage);
    expect(run).toBe('clerk-request-1');

    const list = await stage.ask('/api/v1/runs?state=waiting');
    expect(list.body).toMatchObject({
      rows: [{ id: run, agent: 'clerk', state: 'waiting', root: run, closedAt: null }],
      cursor: null,
      counts: { waiting: 1 },
    });
    expect((await stage.ask(`/api/v1/runs/progress?id=${run}`)).body).toMatchObject({
      runs: [{ id: run, state: 'waiting', iteration: 1 }],
    });
    const header = (await stage.ask(path(run))).body as RunHeaderAnswer;
    expect(header.partial).toBeUndefined();
    expect(header.run).toMatchObject({
      id: run,
      agent: 'clerk',
      task: 'Pay.',
      parent: null,
      state: 'waiting',
      step: null,
      pending: [{ id: 'q1' }, { id: '1.2', kind: 'approval' }, { id: '1.3' }],
    });
    const events = (await stage.ask(path(run, '/events?limit=5'))).body as EventsAnswer;
    expect(events.events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect(events).toMatchObject({ next: 5, total: header.run.lastSeq });
    const typed = await stage.ask(path(run, '/events?types=agent:question:asked'));
    expect(typed.body).toMatchObject({ events: [{ text: 'Which John?' }], next: null });
    expect((await stage.ask(path(run, '/iterations'))).body).toMatchObject({
      iterations: [{ number: 0 }, { number: 1, calls: [{ tool: 'ask_user' }, {}, {}] }],
      lastSeq: header.run.lastSeq,
    });
    expect((await stage.ask(path(run, '/outline'))).body).toMatchObject({
      rows: [expect.arrayContaining([0]), expect.arrayContaining([1])],
      lastSeq: header.run.lastSeq,
    });
    expect((await stage.ask(path(run, '/spans?from=1&until=2'))).body).toEqual({ attempts: [] });

    await stage.post(path(run, '/answer'), { requestId: 'answer-1', id: 'q1', value: 2 });
    await stage.post(path(run, '/answer'), { requestId: 'answer-2', id: '1.3', value: 'built' });
    const decision = { requestId: 'decide-1', id: '1.2', decision: { approve: true } };
    expect(await stage.post(path(run, '/decide'), decision)).toMatchObject({
      status: 200,
      body: { requestId: 'decide-1', run, item: '1.2' },
    });

    await passing(async () => {
      const { body } = await stage.ask(path(run));
      expect(body).toMatchObject({ run: { state: 'ended', step: { status: 'success' } } });
    });
    expect((await stage.ask(path(run, '/calls/1.2'))).body).toMatchObject({
      callId: '1.2',
      tool: 'pay',
      args: { amount: 50 },
      output: 'paid 50',
      isCut: false,
    });
    const file = await stage.ask(path(run, '/export'));
    expect(file.headers.get('content-disposition')).toBe(`attachment; filename="${run}.json"`);
    expect(file.body).toMatchObject({
      id: run,
      startedWith: { task: { text: 'Pay.' } },
      step: { status: 'success' },
    });
    const history = await stage.ask(path(run, '/export?kind=history'));
    expect(history.headers.get('content-disposition')).toContain(`"${run}.history.json"`);
    expect(history.body).toEqual({ v: 1, id: run, links: [{ events: [] }, { events: [] }] });
    const other = await stage.ask(path(run, '/export?kind=video'));
    expect(other.body).toMatchObject({ code: 'invalid_input' });
    expect(stage.lines.map(({ action, run: of, outcome }) => [action, of, outcome])).toEqual([
      ['start', run, 'done'],
      ['answer', run, 'done'],
      ['answer', run, 'done'],
      ['decide', run, 'done'],
    ]);
  });

  it('refuses a body that breaks off', async () => {
    const stage = consoleStage(peopleAgents());
    const body = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode('{"requestId":'));
        controller.error(new Error('aborted'));
      },
    });
    const headers = {
      host: '127.0.0.1:8234',
      origin: 'http://127.0.0.1:8234',
      authorization: `Bearer ${TOKEN}`,
    };
    const init = { method: 'POST', headers, body, duplex: 'half' } as const;

    const answer = await stage.console.fetch(
      new Request('http://127.0.0.1:8234/api/v1/runs', init),
    );

    expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'invalid_input' }]);
  });

  it('writes no more of a name into its log than a name may have', async () => {
    const stage = consoleStage(peopleAgents());

    await stage.post('/api/v1/runs', { requestId: 'request-1', agent: 'x'.repeat(1_000_000) });

    expect(stage.lines).toMatchObject([{ action: 'start', run: 'x'.repeat(1_000) }]);
  });

  it('acts once for a requestId that comes twice, and refuses another body under it', async () => {
    const paid: number[] = [];
    const stage = consoleStage(peopleAgents({ onPay: (amount) => paid.push(amount) }));
    const run = await waiting(stage);
    const decision = { requestId: 'decide-1', id: '1.2', decision: { approve: true } };

    const answers = await Promise.all([
      stage.post(path(run, '/decide'), decision),
      stage.post(path(run, '/decide'), decision),
    ]);
    const again = await stage.post(path(run, '/decide'), decision);
    const other = await stage.post(path(run, '/decide'), {
      ...decision,
      decision: { deny: 'No.' },
    });

    for (const answer of [...answers, again]) {
      expect(answer).toMatchObject({ status: 200, body: { item: '1.2' } });
    }
    expect(other).toMatchObject({ status: 409, body: { code: 'conflict' } });
    await passing(() => expect(paid).toEqual([50]));
    expect(await stage.post('/api/v1/runs', { ...START, task: 'Pay.' })).toMatchObject({
      status: 200,
      body: { run },
    });
    expect(stage.everloop.started).toHaveLength(1);
  });

  it('tells the second of two people that somebody was first', async () => {
    const stage = consoleStage(peopleAgents());
    const run = await waiting(stage);
    const decide = (requestId: string, decision: object): ReturnType<ConsoleStage['post']> =>
      stage.post(path(run, '/decide'), { requestId, id: '1.2', decision });

    const [one, other] = [
      await decide('person-one', { approve: true }),
      await decide('person-two', { deny: 'No.' }),
    ];

    expect(one).toMatchObject({ status: 200 });
    expect(other).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(stage.lines.at(-1)).toMatchObject({ action: 'decide', outcome: 'conflict' });
  });

  it('pauses, steers, adjusts and cancels', async () => {
    const stage = consoleStage(peopleAgents());
    const run = await waiting(stage);

    expect(
      await stage.post(path(run, '/send'), { requestId: 'send-one', text: 'Hurry.' }),
    ).toMatchObject({ status: 200, body: { position: 1 } });
    expect(
      await stage.post(path(run, '/adjust'), { requestId: 'adjust-1', limits: { costUsd: 2 } }),
    ).toMatchObject({
      status: 200,
      body: { limits: expect.arrayContaining([expect.objectContaining({ max: 2_000_000 })]) },
    });
    expect(await stage.post(path(run, '/pause'), { requestId: 'pause-one' })).toMatchObject({
      body: { paused: true },
    });
    expect(await stage.post(path(run, '/resume'), { requestId: 'resume-1' })).toMatchObject({
      body: { paused: false },
    });
    expect(
      await stage.post(path(run, '/cancel'), { requestId: 'cancel-1', reason: 'Enough.' }),
    ).toMatchObject({ status: 200 });
    await passing(async () => {
      const { body } = await stage.ask(path(run));
      expect(body).toMatchObject({ run: { step: { status: 'canceled' } } });
    });
    expect(
      await stage.post(path(run, '/send'), { requestId: 'send-two', text: 'No?' }),
    ).toMatchObject({ status: 409, body: { code: 'run_ended' } });
  });

  it('refuses a body of 3 MB, whatever its headers say', async () => {
    const stage = consoleStage(peopleAgents());
    const body = JSON.stringify({ ...START, task: 'x'.repeat(3_000_000) });

    const refused = await stage.post('/api/v1/runs', body);
    const announced = await stage.post('/api/v1/runs', body, {
      headers: { 'content-length': '9' },
    });

    for (const answer of [refused, announced]) {
      expect(answer).toMatchObject({ status: 413, body: { code: 'too_large' } });
    }
    expect(stage.everloop.started).toEqual([]);
  });

  it.each([
    ['no JSON', '{', 'invalid_input'],
    ['a list', '[]', 'invalid_input'],
    [
      'an unknown field',
      { requestId: 'request-1', agent: 'a', task: 't', admin: true },
      'invalid_input',
    ],
    ['a requestId that is too short', { requestId: 'x', agent: 'a', task: 't' }, 'invalid_input'],
    ['no requestId', { agent: 'a', task: 't' }, 'invalid_input'],
    ['a task that is no text', { requestId: 'request-1', agent: 'a', task: 7 }, 'invalid_input'],
    [
      'a context of 400,000 levels',
      `{"requestId":"request-1","agent":"clerk","task":"t","context":{"a":${'['.repeat(400_000)}${']'.repeat(400_000)}}}`,
      'invalid_input',
    ],
    [
      'a name that is a prototype',
      '{"__proto__":{"agent":"a"},"requestId":"request-1"}',
      'invalid_input',
    ],
  ])('refuses a body with %s', async (_what, body, code) => {
    const stage = consoleStage(peopleAgents());

    expect(await stage.post('/api/v1/runs', body)).toMatchObject({ status: 400, body: { code } });
    expect(stage.everloop.started).toEqual([]);
  });

  it('says what is wrong with a path, an id or a parameter', async () => {
    const { ask, post } = consoleStage(peopleAgents());

    const wrong: readonly (readonly [string, number, string])[] = [
      ['/api/v1/runs/nobody', 404, 'run_not_found'],
      ['/api/v1/runs/nobody/events', 404, 'run_not_found'],
      ['/api/v1/runs?state=busy', 400, 'invalid_input'],
      ['/api/v1/runs?limit=1000', 400, 'invalid_input'],
      ['/api/v1/runs?since=9007199254740991', 400, 'invalid_input'],
      ['/api/v1/runs?cursor=0.YWJj', 400, 'invalid_input'],
      ['/api/v1/runs/nobody/iterations?from=-1', 400, 'invalid_input'],
      ['/api/v1/runs/progress', 400, 'invalid_input'],
      ['/api/v1/agents/nobody', 404, 'not_found'],
      ['/api/v1/nothing', 404, 'not_found'],
      ['/assets/nothing.js', 404, 'not_found'],
      ['/assets/..%2Findex.html', 404, 'not_found'],
    ];
    for (const [at, status, code] of wrong) {
      expect(await ask(at), at).toMatchObject({ status, body: { code } });
    }
    const fork = { requestId: 'request-1', at: 1 };
    expect(await post('/api/v1/runs/nobody/fork', fork)).toMatchObject({ status: 404 });
  });

  it('lists the workers', async () => {
    const place = { taskQueue: 'shop' };
    const { body } = await consoleStage([], { place }).ask('/api/v1/workers');

    expect(body).toEqual({
      taskQueue: 'shop',
      workers: [
        {
          identity: '7@host/node-22/everloop-0/b1/d',
          takes: ['workflows'],
          taskQueue: 'shop',
          lastContact: 9,
          build: 'b1',
        },
      ],
    });
  });

  it('shows and previews the agents that it was given', async () => {
    const agents = peopleAgents();
    const stage = consoleStage(agents, { agents: { agents } });

    expect((await stage.ask('/api/v1/agents')).body).toMatchObject({
      agents: [{ name: 'asker' }, { name: 'clerk', mode: 'react', models: ['m'] }],
    });
    expect((await stage.ask('/api/v1/agents/clerk')).body).toMatchObject({
      agent: {
        tools: expect.arrayContaining([expect.objectContaining({ name: 'pay', effect: 'once' })]),
      },
    });
    const preview = await stage.post('/api/v1/agents/clerk/preview', { task: 'Pay 50.' });
    expect(JSON.stringify(preview.body)).toContain('Pay 50.');
  });

  it('shows those that workers serve if it was given none, and starts and previews what it can', async () => {
    const stage = consoleStage(peopleAgents(), { place: { taskQueue: 'memory' } });

    const listed = await stage.ask('/api/v1/agents');
    const one = await stage.ask('/api/v1/agents/clerk');
    const preview = await stage.post('/api/v1/agents/clerk/preview', { task: 'Pay 50.' });
    const unknown = await stage.ask('/api/v1/agents/clark');
    const started = await stage.post('/api/v1/runs', START);

    expect(listed.body).toMatchObject({
      agents: [
        { name: 'asker', hasPreview: false, workers: 1 },
        { name: 'clerk', mode: 'react', models: ['m'], hasPreview: false, workers: 1 },
      ],
    });
    expect(listed.body).not.toHaveProperty('partial');
    expect(one.body).toMatchObject({
      agent: { tools: [{ name: 'pay', effect: 'once', approval: true }, { name: 'build' }] },
    });
    expect(preview).toMatchObject({
      status: 501,
      body: { code: 'not_recorded', message: expect.stringContaining('--agents FILE') },
    });
    expect([unknown.status, started.status]).toEqual([404, 200]);
  });

  it('shows versions of an agent as one card, and says what workers did not', async () => {
    const [clerk] = (await memoryEverloop(peopleAgents()).agents()).agents.slice(1);
    const served = (change: object) => ({ ...(clerk as AgentVersion), ...change });
    const agents = [
      served({ description: 'New.', taskQueue: 'here', workers: ['1', '2'] }),
      served({ description: 'Old.', taskQueue: 'here', workers: ['3'] }),
      served({ description: 'Other.', taskQueue: 'there', workers: ['4', '5', '6'] }),
      served({ name: 'far', taskQueue: 'there', workers: ['4'] }),
    ];
    const stageOf = (view: () => Promise<AgentsView>) =>
      consoleStage([], { place: { taskQueue: 'here' } }, (all) => ({ ...all, agents: view }));

    const fleet = stageOf(async () => ({ agents, silent: ['http://127.0.0.1:1'], more: 3 }));
    const none = stageOf(async () => ({ agents: [], silent: [], more: 0 }));
    const refused = stageOf(async () => {
      throw new UsageError('stream_token', 'Expected the token of the workers.');
    });

    expect((await fleet.ask('/api/v1/agents')).body).toMatchObject({
      agents: [
        { name: 'clerk', description: 'New.', versions: 2, workers: 2 },
        { name: 'far', elsewhere: 'there' },
      ],
      partial: [{ part: 'agents', message: /^1 of/ }, { message: /3 agents/ }].map((part) => ({
        ...part,
        message: expect.stringMatching(part.message),
      })),
    });
    expect((await none.ask('/api/v1/agents')).body).toMatchObject({
      agents: [],
      partial: [
        { part: 'agents', code: 'not_recorded', message: expect.stringMatching(/--agents/) },
      ],
    });
    expect((await refused.ask('/api/v1/agents')).body).toMatchObject({
      agents: [],
      partial: [{ part: 'agents', code: 'stream_token' }],
    });
  });
});

describe('the programs of a run', () => {
  it('are listed, and each is shown with its source', async () => {
    const programs = ['(def a 1)', '(return (inc a))'].map((it) => `\`\`\`clojure\n${it}\n\`\`\``);
    const { model } = scriptedModel(programs);
    const agent = defineAgent({ name: 'p', mode: 'lisp', model: { id: 'm', model } });
    const stage = consoleStage([agent]);
    const run = await stage.everloop.start('p', { id: 'p-1', task: 'Go.' });
    await run.result();

    const listed = await stage.ask(path('p-1', '/programs'));
    const newest = await stage.ask(path('p-1', '/program'));
    const first = await stage.ask(path('p-1', '/program?program=1.p'));
    const none = await stage.ask(path('p-1', '/program?program=9.p'));

    expect(listed.body).toMatchObject({
      programs: [
        { programId: '1.p', outcome: 'value' },
        { programId: '2.p', outcome: 'returned' },
      ],
    });
    expect(newest.body).toMatchObject({
      program: { programId: '2.p', source: '(return (inc a))' },
    });
    expect(first.body).toMatchObject({
      program: { source: '(def a 1)', status: { forms: [{ state: 'done', preview: "#'a" }] } },
    });
    expect(none.body).toEqual({ program: null });
  });
});

const START = { requestId: 'request-1', agent: 'clerk', task: 'Pay.' };

describe('what a console answers when a part of it does not', () => {
  it('gives what is known in time, and names the rest', async () => {
    const stage = consoleStage(peopleAgents(), { answerMs: 100 }, (everloop) => ({
      ...everloop,
      attach: (id) => ({ ...everloop.attach(id), view: () => new Promise(() => undefined) }),
    }));
    await stage.everloop.start('clerk', { id: 'clerk-1', task: 'Pay.' });

    expect((await stage.ask(path('clerk-1'))).body).toMatchObject({
      run: { id: 'clerk-1', agent: 'clerk', task: 'Pay.', state: 'silent', status: null },
      partial: [
        { part: 'view', code: 'busy' },
        { part: 'first', code: 'busy' },
      ],
    });
    expect((await stage.ask('/api/v1/runs/progress?id=clerk-1')).body).toMatchObject({
      runs: [{ id: 'clerk-1', state: 'silent' }],
    });
  });

  it('asks once for all who ask at the same time', async () => {
    let asked = 0;
    const stage = consoleStage(peopleAgents(), {}, (everloop) => ({
      ...everloop,
      attach: (id) => {
        const run = everloop.attach(id);
        return {
          ...run,
          view: async () => {
            asked += 1;
            await new Promise((resolve) => setTimeout(resolve, 50));
            return run.view();
          },
        };
      },
    }));
    await stage.everloop.start('clerk', { id: 'clerk-1', task: 'Pay.' });

    await Promise.all(Array.from({ length: 8 }, () => stage.ask(path('clerk-1'))));

    expect(asked).toBe(1);
  });

  it('goes on with a list at a cursor that it gave, and at no other', async () => {
    const stage = consoleStage(peopleAgents());
    for (const id of ['clerk-1', 'clerk-2', 'clerk-3']) {
      await stage.everloop.start('clerk', { id, task: 'Pay.' });
    }
    const pageAt = (cursor: string): Promise<Asked> =>
      stage.ask(`/api/v1/runs?limit=2&cursor=${encodeURIComponent(cursor)}`);
    const { body } = await pageAt('');
    const { rows, cursor } = body as RunsAnswer;

    expect(rows.map(({ id }) => id)).toEqual(['clerk-1', 'clerk-2']);
    expect(await pageAt(cursor ?? '')).toMatchObject({
      body: { rows: [{ id: 'clerk-3' }], cursor: null },
    });
    for (const made of ['2', `${cursor}0`, `x${cursor}`]) {
      expect(await pageAt(made), made).toMatchObject({
        status: 400,
        body: { code: 'invalid_input' },
      });
    }
  });

  it('writes four files at once, and takes the place of one that nobody reads on', async () => {
    const stage = consoleStage(peopleAgents());
    await stage.everloop.start('clerk', { id: 'clerk-1', task: 'Pay.' });
    const file = (method = 'GET'): Promise<Response> =>
      stage.request(path('clerk-1', '/export?kind=history'), { method });

    for (let head = 0; head < 5; head += 1) expect((await file('HEAD')).status).toBe(200);
    const open = [await file(), await file(), await file(), await file()];
    const refused = await file();
    await open[0]?.body?.cancel();
    const next = await file();

    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ code: 'busy' });
    expect(await next.json()).toMatchObject({ id: 'clerk-1' });
    expect(await (await file()).json()).toMatchObject({ id: 'clerk-1' });
  });

  it('passes on what the service says, and shows nothing of a bug', async () => {
    const failing = (error: Error): ConsoleStage =>
      consoleStage(peopleAgents(), {}, (everloop) => ({
        ...everloop,
        attach: (id) => ({ ...everloop.attach(id), program: () => Promise.reject(error) }),
      }));
    const silent = failing(new UsageError('no_worker', 'Expected a worker, got silence.'));
    const broken = failing(new Error('secret detail'));

    expect(await silent.ask(path('clerk-1', '/program'))).toMatchObject({
      status: 503,
      body: { code: 'no_worker', message: 'Expected a worker, got silence.' },
    });
    const answer = await broken.ask(path('clerk-1', '/program'));
    expect(answer).toMatchObject({ status: 500, body: { code: 'internal' } });
    expect(JSON.stringify(answer.body)).not.toContain('secret');
  });
});
