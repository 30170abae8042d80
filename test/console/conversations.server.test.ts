/** What pages of conversations ask of a console, on a real server. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ActionLine } from '../../src/console/actions.ts';
import type { ActionAnswer } from '../../src/console/api-actions.ts';
import type { TurnsAnswer } from '../../src/console/api.ts';
import { createConsole, type Console } from '../../src/console/serve/console.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { textOf } from '../../src/core/base/message.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { eventually } from '../support/eventually.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { TOKEN } from './console-stage.ts';

const ORIGIN = 'http://127.0.0.1:8234';

const model: ModelFunction = async ({ messages }) => {
  const said = messages.findLast(({ role }) => role === 'user');
  const text = said === undefined ? '' : textOf(said);
  if (text === 'fail') throw Object.assign(new Error('no'), { statusCode: 400 });
  return `re: ${text}`;
};
const clerk = defineAgent({ name: 'clerk', mode: 'chat', model: { id: 'm', model } });

let stage: Stage;
let everloop: Everloop;
let console: Console;
const lines: ActionLine[] = [];
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  ({ everloop } = await stage.serve([clerk]));
  console = createConsole({
    everloop,
    access: { token: TOKEN },
    log: (line) => lines.push(line),
  });
});
afterAll(async () => {
  console.close();
  await stage.close();
});

async function ask(path: string, body?: object): Promise<{ status: number; body: unknown }> {
  const answer = await console.fetch(
    new Request(`${ORIGIN}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { host: new URL(ORIGIN).host, origin: ORIGIN, authorization: `Bearer ${TOKEN}` },
      ...(body && { body: JSON.stringify({ requestId: randomUUID(), ...body }) }),
    }),
  );
  return { status: answer.status, body: await answer.json() };
}

async function turnsOf(run: string, ended: number): Promise<TurnsAnswer['turns']> {
  let turns: TurnsAnswer['turns'] = [];
  await eventually(`${ended} turns`, async () => {
    const { body } = await ask(`/runs/${encodeURIComponent(run)}/turns`);
    ({ turns = [] } = body as Partial<TurnsAnswer>);
    return turns.filter(({ step }) => step !== null).length === ended;
  });
  return turns;
}

describe('a conversation at the console', () => {
  it('has a turn for each message, once for each requestId, in one run, and logs no words', async () => {
    const id = `guest-${randomUUID().slice(0, 8)}`;
    const run = `~conversation:${id}`;
    const say = async (requestId: string, text: string): Promise<ActionAnswer> => {
      const answer = await ask(`/conversations/${id}/say`, { requestId, agent: 'clerk', text });
      expect(answer.status).toBe(200);
      return answer.body as ActionAnswer;
    };

    expect(await say('request-1', 'Hello.')).toMatchObject({ run });
    expect(await say('request-1', 'Hello.')).toMatchObject({ run });
    await turnsOf(run, 1);
    await say('request-2', 'fail');
    const turns = await turnsOf(run, 2);

    expect(turns).toMatchObject([
      { number: 1, messageId: 'request-1', text: 'Hello.', more: [], iteration: 1 },
      { number: 2, messageId: 'request-2', step: { status: 'error' }, value: null, iteration: 2 },
    ]);
    expect(turns[0]).toMatchObject({ step: { status: 'success' }, value: 're: Hello.' });
    const { body } = await ask(`/runs/${encodeURIComponent(run)}`);
    expect(body).toMatchObject({
      run: {
        conversation: { id },
        state: 'waiting',
        pending: [],
        status: { waitsFor: ['message'], conversation: { count: 2 } },
      },
    });
    const iterations = await ask(`/runs/${encodeURIComponent(run)}/iterations`);
    expect(saidIn(iterations.body)).toEqual(['Hello.', 'fail']);
    expect(lines.map(({ action, run: of }) => [action, of])).toEqual([
      ['say', run],
      ['say', run],
    ]);
    expect(JSON.stringify(lines)).not.toContain('Hello');
  });

  it('keeps what tenants say apart, and closes nothing by looking', async () => {
    const id = `guest-${randomUUID().slice(0, 8)}`;
    const said = { agent: 'clerk', tenant: 'acme', text: 'one' };
    const { body } = await ask(`/conversations/${id}/say`, said);
    const run = `acme:~conversation:${id}`;

    expect(body).toMatchObject({ run });
    expect(await turnsOf(run, 1)).toMatchObject([{ text: 'one' }]);
    expect((await ask(`/runs/${encodeURIComponent(run)}`)).body).toMatchObject({
      run: { conversation: { id, tenant: 'acme' } },
    });
  });

  it('says so when there are no turns', async () => {
    const plain = await ask('/runs/clerk-7/turns');
    expect(plain).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
    const gone = await ask(`/runs/${encodeURIComponent('~conversation:nobody')}/turns`);
    expect(gone).toMatchObject({ status: 404, body: { code: 'run_not_found' } });
  });
});

/** What the marks of the pages say was said. */
function saidIn(body: unknown): readonly unknown[] {
  const { iterations } = body as {
    readonly iterations: readonly {
      readonly marks: readonly { readonly kind: string; readonly detail?: string }[];
    }[];
  };
  return iterations
    .flatMap(({ marks }) => marks)
    .filter(({ kind }) => kind === 'said' || kind === 'input')
    .map(({ detail }) => detail);
}
