/** `GET /agents` at the endpoint of a worker, and a client that asks several workers. */
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { mergeAgents, readAgents } from '../../src/client/agents.ts';
import type { EndpointAddress } from '../../src/client/streaming/chunk-endpoints.ts';
import { followChunks } from '../../src/client/streaming/follow-chunks.ts';
import type { AgentDescription, WorkerAgents } from '../../src/core/streaming/agent-description.ts';
import { agentsBody, readAgentsBody } from '../../src/core/streaming/agents-wire.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { signStreamToken } from '../../src/protection/stream-token.ts';
import { CONFIG_DEFAULTS } from '../../src/worker/config/config.ts';
import { servedAgents } from '../../src/worker/serve/served-agents.ts';
import { createChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import {
  openChunkEndpoint,
  type ChunkEndpointOptions,
} from '../../src/worker/streaming/chunk-endpoint.ts';

const TOKEN = 'a-token-of-sixteen';

const closings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

function clerk(instructions: string, name = 'clerk') {
  const model = { id: 'm', model: async () => 'Done.' };
  return defineAgent({ name, description: instructions, instructions, model });
}

function bodyOf(words: string, taskQueue = CONFIG_DEFAULTS.taskQueue): () => string | undefined {
  return servedAgents({ agents: [clerk(words)] }, { taskQueue }).body;
}

/** The body of another process on this machine. */
function bodyFrom(worker: string, words: string): () => string {
  const served = servedAgents({ agents: [clerk(words)] }, { taskQueue: 'everloop' }).list();
  return () => agentsBody({ ...served, worker });
}

async function open(options: Partial<ChunkEndpointOptions> = {}): Promise<EndpointAddress> {
  const endpoint = await openChunkEndpoint({ source: createChunkBus(), token: TOKEN, ...options });
  closings.push(endpoint.close);
  return { url: endpoint.url, token: TOKEN };
}

/** A server that is no worker of ours. */
async function pretend(answer: (server: Server) => void): Promise<EndpointAddress> {
  const server = createServer();
  answer(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closings.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: TOKEN };
}

async function ask(url: string, token: string = TOKEN, method = 'GET'): Promise<IncomingMessage> {
  const request = get(url, { method, agent: false, headers: { authorization: `Bearer ${token}` } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let text = '';
  for await (const piece of response) text += String(piece);
  return text;
}

describe('GET /agents', () => {
  it('gives the agents, the queue and the identity, as JSON that no cache keeps', async () => {
    const { url } = await open({ agents: bodyOf('Pays.', 'bills') });

    const response = await ask(`${url}/agents`);

    expect([response.statusCode, response.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(readAgentsBody(await textOf(response))).toMatchObject({
      worker: expect.stringMatching(/^\d+@.*\/everloop-/),
      taskQueue: 'bills',
      agents: [{ name: 'clerk', models: ['m'] }],
      more: 0,
    });
  });

  it.each([
    { name: 'no token', token: '', method: 'GET', status: 401 },
    { name: 'a wrong token', token: 'another', method: 'GET', status: 401 },
    {
      name: 'a scoped token, which opens one tree',
      token: signStreamToken({ rootRunId: 'r', ttlMs: undefined, readers: TOKEN }).token,
      method: 'GET',
      status: 401,
    },
    { name: 'another method', token: TOKEN, method: 'POST', status: 405 },
  ])('refuses $name', async ({ token, method, status }) => {
    const { url } = await open({ agents: bodyOf('Pays.') });

    expect((await ask(`${url}/agents`, token, method)).statusCode).toBe(status);
  });

  it('is not there without a list, and says so while the worker is not ready', async () => {
    const without = await open();
    const early = await open({ agents: () => undefined });

    const answers = await Promise.all([without, early].map(({ url }) => ask(`${url}/agents`)));

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 503]);
  });

  it('gives a place back when its reader is gone', async () => {
    const { url } = await open({ agents: bodyOf('Pays.'), maxReaders: 1 });

    for (let turn = 0; turn < 3; turn += 1) {
      const response = await ask(`${url}/agents`);
      await textOf(response);
      await once(response.socket, 'close');
    }

    expect((await ask(`${url}/agents`)).statusCode).toBe(200);
  });

  it('hides secrets of the worker', () => {
    const parts = { agents: [clerk('Log in with hush-hush.')] };
    const hide = (text: string): string => text.replaceAll('hush-hush', '[secret]');
    const secrets = { hide, unset: [] };

    const { list } = servedAgents(parts, { taskQueue: 'q', secrets });

    expect(list().agents[0]?.description).toBe('Log in with [secret].');
  });

  it('has no answer while the definitions have problems', () => {
    const { body } = servedAgents({ agents: [{} as never] }, { taskQueue: 'q' });

    expect(body()).toBeUndefined();
  });
});

describe('readAgentsBody', () => {
  const whole = servedAgents({ agents: [clerk('Pays.')] }, { taskQueue: 'q' }).list();
  const [agent] = whole.agents as readonly [AgentDescription];
  const changed = (change: object): string => agentsBody({ ...whole, ...change } as WorkerAgents);

  it.each([
    ['no JSON', '<html>'],
    ['a list', '[]'],
    ['another version', JSON.stringify({ ...whole, v: 2 })],
    ['no queue', changed({ taskQueue: null })],
    ['agents that are no list', changed({ agents: { length: 1 } })],
    ['an agent without tools', changed({ agents: [{ ...agent, tools: null }] })],
    ['a tool that is a text', changed({ agents: [{ ...agent, tools: ['pay'] }] })],
    ['a model that is a number', changed({ agents: [{ ...agent, models: [1] }] })],
    ['a limit without a number', changed({ agents: [{ ...agent, limits: [{ key: 'k' }] }] })],
  ])('refuses %s', (_name, text) => {
    expect(readAgentsBody(text)).toBeUndefined();
    expect(readAgentsBody(agentsBody(whole))).toEqual(whole);
  });
});

describe('everloop.agents()', () => {
  it('merges what is equal, and shows versions that differ', async () => {
    const addresses = await Promise.all([
      open({ agents: bodyFrom('1@a', 'Old.') }),
      open({ agents: bodyFrom('2@a', 'New.') }),
      open({ agents: bodyFrom('3@b', 'New.') }),
    ]);
    const [again] = addresses;
    const chunks = followChunks({
      find: [async () => addresses, async () => (again ? [again] : [])],
    });

    const { agents, silent, more } = await readAgents(chunks);

    expect(agents).toMatchObject([
      { name: 'clerk', description: 'New.', taskQueue: 'everloop', workers: ['2@a', '3@b'] },
      { name: 'clerk', description: 'Old.', workers: ['1@a'] },
    ]);
    expect([silent, more]).toEqual([[], 0]);
  });

  it('names workers that are gone, without a list, or not ours', async () => {
    const silentOne = await open();
    const gone = { url: 'http://127.0.0.1:1', token: TOKEN };
    const other = await pretend((server) => {
      server.on('request', (_request, response) => response.end('<html>'));
    });
    const flood = await pretend((server) => {
      server.on('request', (_request, response) => {
        const more = (): void => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
        };
        response.on('drain', more);
        more();
      });
    });
    const good = await open({ agents: bodyOf('Pays.') });
    const failing = (): Promise<never> => Promise.reject(new Error('No names today.'));
    const chunks = followChunks({
      find: [failing, async () => [silentOne, gone, other, flood, good]],
    });

    const { agents, silent } = await readAgents(chunks);

    expect(agents).toMatchObject([{ name: 'clerk' }]);
    expect(silent.toSorted()).toEqual(
      [silentOne, gone, other, flood].map(({ url }) => url).toSorted(),
    );
  });

  it('fails when all workers refuse the token, or there is nothing to ask', async () => {
    const { url } = await open({ agents: bodyOf('Pays.') });
    const chunks = followChunks({ find: [async () => [{ url, token: 'another' }]] });

    await expect(readAgents(chunks)).rejects.toMatchObject({ code: 'stream_token' });
    await expect(readAgents(undefined)).rejects.toMatchObject({ code: 'no_stream' });
    await expect(readAgents({ subscribe: createChunkBus().subscribe })).rejects.toMatchObject({
      code: 'no_stream',
    });
  });

  it('has those of its own process beside them', async () => {
    const near = servedAgents({ agents: [clerk('Near.', 'near')] }, { taskQueue: 'here' });
    const far = await open({ agents: bodyFrom('9@far', 'Far.') });
    const chunks = followChunks({
      find: [async () => [far]],
      beside: { ...createChunkBus(), agents: near.list },
    });

    const { agents } = await readAgents(chunks);

    expect(agents.map(({ name, taskQueue }) => `${name} ${taskQueue}`)).toEqual([
      'clerk everloop',
      'near here',
    ]);
  });

  it('counts what workers left out once for each worker', () => {
    const worker = { worker: '1@a', taskQueue: 'q', agents: [], more: 2 };

    expect(mergeAgents({ workers: [worker, worker], silent: [] }).more).toBe(2);
  });
});
