import { describe, expect, it } from 'vitest';
import type { DiffAnswer, MomentAnswer } from '../../src/console/api-forks.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import type { ForkSourceOptions, ForkStartOptions } from '../../src/client/forks.ts';
import { passing } from '../support/passing.ts';
import { act, answer, searchTool } from '../support/runs.ts';
import { fakeRun } from '../cli/cli-fixture.ts';
import { consoleStage, READ_TOKEN, type ConsoleStage } from './console-stage.ts';

/** A console with a run that searched twice, with a tool that is not `read`, and has ended. */
async function stageOf(): Promise<ConsoleStage> {
  const replies = [act('a'), act('b'), answer('first'), answer('second')];
  const agent = defineAgent({
    name: 'tester',
    mode: 'react',
    tools: [searchTool()],
    model: { id: 'm', model: scriptedModel(replies).model },
  });
  const stage = consoleStage([agent]);
  const run = await stage.everloop.start('tester', { id: 'tester-1', task: 'Go' });
  await run.result();
  return stage;
}

const at = '/api/v1/runs/tester-1';

describe('the moment of a run', () => {
  it('has the conversation, what of it can be edited, and what a fork may repeat', async () => {
    const { ask } = await stageOf();

    const { status, body } = await ask(`${at}/moment?iteration=2`);
    const moment = body as MomentAnswer;
    expect({ status, moment }).toMatchObject({
      status: 200,
      moment: { iteration: 2, model: 'm', moreEntries: 0, mayRepeat: 'search (idempotent) ×1' },
    });
    expect(moment.entries[0]).toMatchObject({ index: 0, iteration: 1, together: [0] });
    expect((await ask(`${at}/moment?iteration=3`)).body).toMatchObject({ mayRepeat: '' });
  });

  it('is refused to who may only look, and where there is none', async () => {
    const { ask } = await stageOf();

    expect(await ask(`${at}/moment?iteration=2`, { token: READ_TOKEN })).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    const wrong: readonly (readonly [string, number, string])[] = [
      [`${at}/moment?iteration=0`, 400, 'invalid_input'],
      [`${at}/moment?iteration=two`, 400, 'invalid_input'],
      [`${at}/moment?iteration=40`, 400, 'fork_moment'],
      ['/api/v1/runs/nobody/moment?iteration=1', 404, 'run_not_found'],
    ];
    for (const [path, status, code] of wrong) {
      expect(await ask(path), path).toMatchObject({ status, body: { code } });
    }
  });
});

describe('a fork', () => {
  it('is refused with the list of what it may repeat, until it says what its calls do', async () => {
    const stage = await stageOf();
    const body = { requestId: 'request-1', at: 2 };

    const refused = await stage.post(`${at}/fork`, body);
    const forked = await stage.post(`${at}/fork`, { ...body, effects: 'reuse' });
    const again = await stage.post(`${at}/fork`, { ...body, effects: 'reuse' });

    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'fork_effects', message: expect.stringContaining('search (idempotent) ×1') },
    });
    expect(forked).toMatchObject({ status: 200, body: { run: 'tester-1-fork-request-1' } });
    expect(again.body).toEqual(forked.body);
    await passing(async () => {
      const { body: header } = await stage.ask('/api/v1/runs/tester-1-fork-request-1');
      expect(header).toMatchObject({ run: { state: 'ended' } });
    });
    expect(stage.lines.map(({ action, run, outcome }) => [action, run, outcome])).toEqual([
      ['fork', 'tester-1', 'fork_effects'],
      ['fork', 'tester-1-fork-request-1', 'done'],
    ]);
  });

  it('passes on what it is told, and refuses what is none', async () => {
    const calls: [ForkSourceOptions, ForkStartOptions | undefined][] = [];
    const stage = consoleStage([], {}, (everloop) => ({
      ...everloop,
      fork: async (source, options) => {
        calls.push([source, options]);
        return fakeRun(options?.id ?? '');
      },
    }));
    const edits = [{ entry: 0, text: 'b' }, { drop: 1 }, { append: 'Now.' }];
    const told = { edits, instructions: 'Be brief.', model: 'm2', limits: { costUsd: 1 } };
    const body = { requestId: 'request-1', at: 3, ...told, definition: 'current', effects: 'run' };

    await stage.post('/api/v1/runs/top%2F1.1/fork', body);
    expect(calls).toEqual([
      [
        { run: 'top/1.1', at: { iteration: 3 } },
        { id: 'top-fork-request-1', ...told, definition: 'current', effects: 'run' },
      ],
    ]);
    const wrong = [
      '{',
      [],
      { ...body, state: {} },
      { ...body, instructions: 7 },
      { ...body, limits: 'none' },
      { ...body, effects: [] },
      { at: 3 },
    ];
    for (const each of wrong) {
      expect(await stage.post('/api/v1/runs/r/fork', each)).toMatchObject({
        status: 400,
        body: { code: 'invalid_input' },
      });
    }
    const looking = { token: READ_TOKEN };
    expect(await stage.post('/api/v1/runs/r/fork', body, looking)).toMatchObject({ status: 403 });
    expect(calls).toHaveLength(1);
  });

  it('says in its header where it comes from', async () => {
    const stage = await stageOf();
    const fork = { source: { workflowId: 'tester-1' }, at: { iteration: 2 } };
    const forged = { source: { workflowId: 7 }, at: { iteration: 2 } };
    const headerOf = async (start: object): Promise<unknown> => {
      const { ask } = consoleStage([], {}, () => ({
        ...stage.everloop,
        attach: (id) => ({
          ...stage.everloop.attach(id),
          startedWith: async () => ({ agent: 'a', task: { text: '' }, ...start }) as never,
        }),
      }));
      return (await ask(at)).body;
    };

    expect(await headerOf({ fork })).toMatchObject({
      run: { forkedFrom: { run: 'tester-1', iteration: 2 } },
    });
    expect(await headerOf({ fork: { ...fork, at: 'latest' } })).toMatchObject({
      run: { forkedFrom: { run: 'tester-1', iteration: null } },
    });
    for (const start of [{}, { fork: forged }, { fork: 'x' }]) {
      expect(await headerOf(start)).not.toHaveProperty('run.forkedFrom');
    }
  });
});

describe('two runs', () => {
  it('are compared from the end of what they share', async () => {
    const stage = await stageOf();
    await stage.everloop.fork({ run: 'tester-1', at: { iteration: 3 } }, { id: 'tester-2' });
    await stage.everloop.attach('tester-2').result();

    const { body } = await stage.ask('/api/v1/diff?a=tester-1&b=tester-2');
    const { diff } = body as DiffAnswer;
    expect(diff).toMatchObject({
      left: { id: 'tester-1', status: 'success', models: ['m'], value: 'first', changes: [] },
      right: { id: 'tester-2', status: 'success', value: 'second', changes: [] },
    });
    expect(diff.left.entries.at(-1)?.text).toContain('first');
  });

  it('must be two that exist', async () => {
    const { ask } = await stageOf();

    const wrong: readonly (readonly [string, number, string])[] = [
      ['/api/v1/diff', 400, 'invalid_input'],
      ['/api/v1/diff?a=tester-1&b=tester-1', 400, 'invalid_input'],
      ['/api/v1/diff?a=tester-1', 404, 'run_not_found'],
      ['/api/v1/diff?a=nobody&b=tester-1', 404, 'run_not_found'],
    ];
    for (const [path, status, code] of wrong) {
      expect(await ask(path), path).toMatchObject({ status, body: { code } });
    }
  });
});
