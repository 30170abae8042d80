/**
 * Workers that are killed where a provider has refused, loads media by URL or runs tools itself, and where
 * a guard looks at a task: the next worker goes on as if nothing had happened.
 */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, inject, it, type ExpectStatic } from 'vitest';
import type { StartOptions } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { startPlainServer, type PlainServer } from '../support/aimock.ts';
import { fixtureProcesses, type FixtureProcess } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import type { ProvidedWorker } from '../support/fixtures/serve-provided.ts';
import { HIDDEN_CARD } from '../support/provided-agents.ts';
import { openStage, type Stage } from '../support/stage.ts';

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAE=', 'base64');

let stage: Stage;
const servers: PlainServer[] = [];
const workers = fixtureProcesses<ProvidedWorker>('serve-provided');
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  await workers.stop();
  await stage?.close();
  await Promise.all(servers.map((server) => server.stop()));
});

/** A request that the provider got. */
interface Asked {
  readonly path: string;
  readonly body: string;
}

/** Answers a request, the `number`-th of its path; null: it is left open. */
type Answer = (
  asked: Asked,
  number: number,
) => string | Buffer | null | { readonly status: number };

interface Played {
  readonly run: RunHandle;
  readonly asked: readonly Asked[];
  /** Kills the worker, and starts another one. */
  readonly replace: () => Promise<void>;
}

/** Starts a run of `agent` on a worker of its own, whose provider answers by `answer`. */
async function play(
  agent: string,
  options: StartOptions | ((url: string) => StartOptions),
  answer: Answer,
): Promise<Played> {
  const asked: Asked[] = [];
  const reply = (response: ServerResponse, given: ReturnType<Answer>): void => {
    if (given === null) return;
    if (typeof given === 'string' || Buffer.isBuffer(given)) {
      const type = Buffer.isBuffer(given) ? 'image/png' : 'text/event-stream';
      return void response.setHeader('content-type', type).end(given);
    }
    const { status } = given;
    response.writeHead(status).end(JSON.stringify({ error: { message: 'no credit' } }));
  };
  const server = await startPlainServer(({ url = '' }, response, body) => {
    asked.push({ path: url, body });
    const number = asked.filter(({ path }) => path === url).length;
    reply(response, answer({ path: url, body }, number));
  });
  servers.push(server);
  const taskQueue = `provided-${randomUUID()}`;
  const archiveDir = await mkdtemp(join(stage.folder, 'provided-'));
  const { address, namespace } = stage;
  const work = { address, namespace, archiveDir, taskQueue, providerUrl: server.url };
  let worker: FixtureProcess = await workers.start(work);
  const given = typeof options === 'function' ? options(server.url) : options;
  const run = await stage.everloopOf(taskQueue, archiveDir).start(agent, given);
  const replace = async (): Promise<void> => {
    await worker.kill('SIGKILL');
    worker = await workers.start(work);
  };
  return { run, asked, replace };
}

const sse = (events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

function chat(content: string): string {
  const chunk = { id: 'c', created: 1, model: 'm', object: 'chat.completion.chunk' };
  const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
  const last = { index: 0, delta: {}, finish_reason: 'stop' };
  const text = { index: 0, delta: { role: 'assistant', content }, finish_reason: null };
  return `${sse([
    { ...chunk, choices: [text] },
    { ...chunk, choices: [last], usage },
  ])}data: [DONE]\n\n`;
}

function gemini(text: string): string {
  const content = { role: 'model', parts: [{ text }] };
  const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 1, totalTokenCount: 6 };
  return sse([{ candidates: [{ content, finishReason: 'STOP' }], usageMetadata }]);
}

const BLOCKS = {
  search: {
    type: 'server_tool_use',
    id: 'srvtoolu_1',
    name: 'web_search',
    input: { query: 'Vienna' },
  },
  found: {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [
      {
        type: 'web_search_result',
        url: 'https://weather.example',
        title: 'Vienna',
        encrypted_content: 'e',
      },
    ],
  },
  note: { type: 'tool_use', id: 'toolu_1', name: 'note', input: {} },
} as const;

function claude(blocks: readonly object[], stop: string): string {
  const usage = { input_tokens: 5, output_tokens: 1 };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage };
  const told = blocks.flatMap((block, index) => {
    const { input, text } = block as { input?: object; text?: string };
    const delta =
      text === undefined
        ? input && { type: 'input_json_delta', partial_json: JSON.stringify(input) }
        : { type: 'text_delta', text };
    const begun =
      input === undefined
        ? text === undefined
          ? block
          : { ...block, text: '' }
        : { ...block, input: {} };
    return [
      { type: 'content_block_start', index, content_block: begun },
      ...(delta === undefined ? [] : [{ type: 'content_block_delta', index, delta }]),
      { type: 'content_block_stop', index },
    ];
  });
  const end = { type: 'message_delta', delta: { stop_reason: stop }, usage };
  const events = [{ type: 'message_start', message }, ...told, end, { type: 'message_stop' }];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

const named = (asked: readonly Asked[], name: string): readonly Asked[] =>
  asked.filter(({ path }) => path.includes(name));

async function finished(run: RunHandle, expect: ExpectStatic, value: string): Promise<void> {
  expect(await run.result()).toMatchObject({ status: 'success', value });
  await stage.replay(run);
}

describe.concurrent('a worker that is killed', { timeout: 120_000 }, () => {
  it('while a run asks its operator leaves the question to the next', async ({ expect }) => {
    const { run, asked, replace } = await play('watcher', { task: 'Watch.' }, (_asked, number) =>
      number === 1 ? { status: 402 } : chat('Watched.'),
    );

    const item = await eventually('a question', async () => (await run.pending())[0], 60_000);
    await replace();
    await run.answer(item.id, 'Try again');

    await finished(run, expect, 'Watched.');
    expect(asked).toHaveLength(2);
  });

  it('after it has fetched a medium lets the next fetch it again', async ({ expect }) => {
    const start = (url: string): StartOptions => {
      const media = { type: 'media' as const, mediaType: 'image/png', url: `${url}/a.png` };
      return { task: { text: 'Look.', media: [media] } };
    };
    const { run, asked, replace } = await play('reader', start, ({ path }, number) => {
      if (path === '/a.png') return PNG;
      return number === 1 ? null : gemini('Seen.');
    });

    await eventually('a request', () => named(asked, 'gemini').length === 1, 60_000);
    await replace();

    await finished(run, expect, 'Seen.');
    expect(named(asked, '/a.png')).toHaveLength(2);
    const [first, second] = named(asked, 'gemini');
    expect(first?.body).toContain(PNG.toString('base64'));
    expect(second?.body).toBe(first?.body);
  });

  it('beside what a provider ran itself sends and counts it once', async ({ expect }) => {
    const { run, asked, replace } = await play(
      'searcher',
      { task: 'Search.' },
      (_asked, number) => {
        if (number === 1) return claude([BLOCKS.search, BLOCKS.found, BLOCKS.note], 'tool_use');
        return number === 2 ? null : claude([{ type: 'text', text: 'Rain.' }], 'end_turn');
      },
    );

    await eventually('the second request', () => asked.length === 2, 60_000);
    await replace();

    await finished(run, expect, 'Rain.');
    const step = await run.result();
    expect(asked).toHaveLength(3);
    expect(asked[2]?.body).toBe(asked[1]?.body);
    expect(asked[1]?.body).toContain('web_search_tool_result');
    expect(step.sources).toMatchObject([{ url: 'https://weather.example' }]);
    expect(step.stats.counters).toMatchObject({ 'agent:hosted_calls': 1, 'agent:tool_calls': 1 });
  });

  it('while a guard looks at a task has the next one look, before any model', async ({
    expect,
  }) => {
    const { run, asked, replace } = await play(
      'guarded',
      { task: `Pay by ${HIDDEN_CARD}.` },
      ({ path }, number) => {
        if (path === '/guard') return number === 1 ? null : 'ok';
        return chat('Paid.');
      },
    );

    await eventually('the guard', () => asked.length === 1, 60_000);
    await replace();

    await finished(run, expect, 'Paid.');
    expect(named(asked, '/guard')).toHaveLength(2);
    const [request] = named(asked, 'completions');
    expect(request?.body).toContain('Pay by [card].');
    expect(request?.body).not.toContain(HIDDEN_CARD);
  });
});
