import { afterEach, describe, expect, it } from 'vitest';
import { mcpServer } from '../../src/define/mcp/mcp-server.ts';
import type { McpProgress } from '../../src/define/mcp/mcp-tools.ts';
import { createMcpTools } from '../../src/mcp/mcp-tools.ts';
import { redactorOf } from '../../src/mcp/text/secrets.ts';
import { eventually } from '../support/eventually.ts';
import { fakeServer } from '../support/fake-servers.ts';
import { callListed, startHttpServer, wildServer } from '../support/mcp-servers.ts';

const SECRET = 'sentinel/secret of-the-test';
const ENCODED = Buffer.from(`user:${SECRET}`).toString('base64');
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

describe('the secrets of a server', () => {
  it('are in nothing that a server says over stdio', async () => {
    const server = wildServer({}, { env: { SECRET: { env: 'SECRET' } } });
    const lines: string[] = [];
    const log = (_level: string, message: string): void => void lines.push(message);
    const tools = createMcpTools({
      servers: [server],
      environment: { ...process.env, SECRET },
      log,
    });
    closers.push(() => tools.close());
    const listing = await tools.list([server]);
    const reported: McpProgress[] = [];
    const more = { asksUser: true, onProgress: (one: McpProgress) => void reported.push(one) };
    const told = await callListed(tools, [server], 'wild_leak', {}, more);
    const failed = await callListed(tools, [server], 'wild_leak', { fails: true }, more);
    await eventually('the line', () => lines.some((line) => line.includes('my secret is')));

    expect(told.value).toMatchObject({
      output: {
        result: { '[redacted]': expect.any(String) as string },
        text: expect.any(String) as string,
      },
      instructions: 'The server asked: Is [redacted] right? Ask with ask_user and call again.',
    });
    expect(told.emitted).toMatchObject([{ name: 'mcp:for_user', data: { text: '[redacted]' } }]);
    expect(failed.error?.message).toContain('[redacted] or ');
    expect(reported[0]).toEqual({ progress: 1, message: '[redacted] is half of it' });
    expect(lines).toContain('MCP server wild: my secret is [redacted]');
    const said = JSON.stringify({ listing, told, failed: failed.error?.message, reported, lines });
    expect(said).toContain('Says its secret: [redacted].');
    expect(said).not.toContain(SECRET);
    expect(said).not.toContain(ENCODED.slice(12, 30));
  });

  it('are in no question and no failure over HTTP', async () => {
    const http = await startHttpServer();
    closers.push(http.close);
    const auth = { bearer: { env: 'SECRET' } };
    const server = mcpServer({ name: 'asking', url: http.url, auth, connectTimeoutMs: 60_000 });
    const environment = { ...process.env, SECRET };
    const tools = createMcpTools({ servers: [server], environment });
    closers.push(() => tools.close());
    const { value } = await callListed(tools, [server], 'asking_refund', { order: SECRET });

    expect(value).toMatchObject({
      requests: { why: { message: 'Why is [redacted] refunded?' } },
      // The server's own note, which it gets back as it came.
      state: `state of ${SECRET}`,
    });
  });

  it('are found encoded, also tokens that came later, of which the newest are known', () => {
    const { exact, add } = redactorOf(fakeServer('x'), {});
    for (let token = 0; token < 30; token++) add(`token-number-${token}`);

    expect(exact('a token-number-29 and token-number-10')).toBe('a [redacted] and [redacted]');
    expect(exact('token-number-9')).toBe('token-number-9');
    expect(exact(Buffer.from('token-number-29').toString('base64'))).toBe('[redacted]');
  });
});
