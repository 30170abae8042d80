import { describe, expect, it } from 'vitest';
import { mcpServer, type McpServerOptions } from '../../src/define/mcp/mcp-server.ts';
import { problemsOf } from '../support/usage-problems.ts';

const URL_OF = 'https://api.example.com/mcp';

/** Options as a program without types may write them. */
function problems(options: object) {
  return problemsOf(() => mcpServer(options as McpServerOptions));
}

describe('mcpServer', () => {
  it('has its defaults', () => {
    expect(mcpServer({ name: 'github', url: URL_OF })).toEqual({
      kind: 'mcp_server',
      name: 'github',
      transport: { kind: 'http', url: URL_OF, headers: {} },
      prefix: 'github_',
      overrides: {},
      approval: 'never',
      resources: false,
      prompts: false,
      instructions: false,
      optional: false,
      scope: 'worker',
      maxConcurrent: 16,
      idleMs: 300_000,
      timeoutMs: 60_000,
      connectTimeoutMs: 8_000,
    });
  });

  it('sends a secret to the origin of the server, unless another is named', () => {
    const clientCredentials = { clientId: 'me', clientSecret: { env: 'SECRET' } };

    expect(
      mcpServer({ name: 'a', url: URL_OF, auth: { clientCredentials } }).transport,
    ).toMatchObject({ auth: { clientCredentials: { issuer: 'https://api.example.com' } } });
  });

  it('reports all problems at once, each after the name of the server', () => {
    expect(() =>
      mcpServer({
        name: 'github',
        url: 'http://x.example',
        command: 'npx',
        timeoutMs: 0,
      }),
    ).toThrow(
      [
        'MCP server `github`: Expected `url` or `command`, got both. Remove one.',
        'MCP server `github`: Expected `url` to be https, or http on this machine, got `http://x.example`. Change it.',
        'MCP server `github`: Expected `timeoutMs` from 1 up, got 0. Change it.',
      ].join('\n'),
    );
  });

  it.each<[string, object, string, RegExp]>([
    ['neither', {}, 'mcp_transport', /got neither/],
    ['a name', { url: URL_OF, name: 'a b' }, 'mcp_name', /got `a b`/],
    [
      'a bearer',
      { url: URL_OF, auth: { bearer: 'abc' } },
      'mcp_secret',
      /\{ env: NAME \}, got a text/,
    ],
    [
      'a secret of a client',
      { url: URL_OF, auth: { clientCredentials: { clientId: 'a', clientSecret: 'abc' } } },
      'mcp_secret',
      /`auth.clientCredentials.clientSecret` to be \{ env: NAME \}, got a text/,
    ],
    [
      'a header',
      { url: URL_OF, headers: { Authorization: 'Bearer abc' } },
      'mcp_secret',
      /`headers.Authorization`/,
    ],
    ['a password', { url: 'https://me:abc@x.example' }, 'mcp_secret', /without a user/],
    ['arguments', { url: URL_OF, args: ['x'] }, 'mcp_transport', /no `args` beside `url`/],
    ['headers', { command: 'x', headers: {} }, 'mcp_transport', /no `headers` beside `command`/],
    [
      'an override',
      { url: URL_OF, overrides: { x: { effects: 'read' } } },
      'unknown_option',
      /effects/,
    ],
    [
      'an effect',
      { url: URL_OF, overrides: { x: { effect: 'no' } } },
      'mcp_option',
      /overrides.x.effect/,
    ],
    [
      'a local call of a process',
      { command: 'x', overrides: { x: { effect: 'read', local: true } } },
      'mcp_option',
      /no `overrides.x.local` beside `command`/,
    ],
    ['an option', { url: URL_OF, timeout: 1 }, 'unknown_option', /`timeout`/],
  ])('refuses %s', (_name, options, code, message) => {
    const [problem] = problems({ name: 'a', ...options });

    expect(problem).toMatchObject({ code, message: expect.stringMatching(message) as string });
    expect(problem?.message).not.toContain('abc');
  });

  it.each(['http://localhost:1/mcp', 'http://127.0.0.1/mcp', 'http://[::1]:2/mcp'])(
    'takes http on this machine: %s',
    (url) => {
      expect(problems({ name: 'a', url })).toEqual([]);
    },
  );
});
