/** docs/mcp.md: its code is that of examples which run here, and of examples/10-mcp-servers.ts. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { answerServer, githubServer, runServed } from '../../examples/docs/mcp.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { callInput } from '../../src/define/tool/call-input.ts';
import { listServers } from '../../src/testing/listed-servers.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { fakeRun } from '../cli/cli-fixture.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';
import { fakeServer, fakeServers } from '../support/fake-servers.ts';
import { wildServer } from '../support/mcp-servers.ts';

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('docs/mcp.md quotes its examples', () => {
  const [, servers = ''] = /\/\/ region servers\n([^]*?\n  tools: \[[^\n]*\n)/.exec(
    read('examples/10-mcp-servers.ts'),
  ) ?? [''];

  expect(blocksOf('mcp').size).toBe(3);
  expect(blocksOf('mcp')).toEqual(regionsOf('mcp'));
  expect(read('docs/mcp.md')).toContain(`\`\`\`ts\n${servers}\`\`\``);
});

test('a server over HTTP', () => {
  expect(githubServer()).toMatchObject({
    transport: { kind: 'http', auth: { bearer: { env: 'GITHUB_TOKEN' } } },
    allow: ['list_*', 'create_issue'],
    approval: 'destructive',
  });
});

test('the answer to what a server asks', async () => {
  const form = { type: 'object', properties: { env: { enum: ['staging', 'production'] } } };
  const { tools } = fakeServers({
    ops: [
      {
        name: 'deploy',
        call: (_args, resume) =>
          resume?.responses['where'] ??
          callInput({ requests: { where: { kind: 'form', message: 'Where?', form } } }),
      },
    ],
  });
  const call = { toolCalls: [{ name: 'ops_deploy', args: { query: 'x' } }] };
  const { model, requests } = scriptedModel([call, 'done']);
  const agent = defineAgent({ name: 'clerk', mode: 'chat', model, tools: [fakeServer('ops')] });
  const run = startInMemory({ agent, task: 'Go', mcp: await listServers([agent], tools) });
  await run.resultOrPending();
  await answerServer(
    fakeRun('r', {
      pending: async () => run.pending(),
      answer: async (id, value) => (run.answer(id, value), { id }),
    }),
  );

  expect((await run.result).status).toBe('success');
  expect(JSON.stringify(requests[1]?.messages)).toContain('staging');
});

test('a run in memory', async () => {
  const { model } = scriptedModel([
    { toolCalls: [{ name: 'wild_echo', args: { text: 'x' } }] },
    'done',
  ]);
  const step = await runServed(
    defineAgent({ name: 'clerk', mode: 'chat', model, tools: [wildServer()] }),
  );

  expect(step).toMatchObject({ status: 'success', stats: { counters: { 'agent:tool_calls': 1 } } });
});
