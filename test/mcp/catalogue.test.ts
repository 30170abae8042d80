import fc from 'fast-check';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mcpServer, type McpServerOptions } from '../../src/define/mcp/mcp-server.ts';
import { checkJson } from '../../src/define/schema/schema.ts';
import { makeCatalogue, toolHash } from '../../src/mcp/catalogue/catalogue.ts';
import { lockDifferences, readLockFile, writeLockFile } from '../../src/mcp/catalogue/lock-file.ts';
import { fitsPattern, toolName } from '../../src/mcp/catalogue/tool-name.ts';
import { argumentsSchema } from '../../src/mcp/catalogue/tool-schema.ts';
import { ownTools } from '../../src/mcp/calls/own-tools.ts';
import { createMcpTools } from '../../src/mcp/mcp-tools.ts';
import { MessageLines } from '../../src/mcp/transport/message-lines.ts';
import { problemsOf } from '../support/usage-problems.ts';

const schema = { type: 'object', properties: { id: { type: 'string' } } };

const TOOLS = [
  {
    name: 'list_issues',
    description: 'Lists.',
    inputSchema: schema,
    annotations: { readOnlyHint: true },
  },
  { name: 'create_issue', description: 'Creates.', inputSchema: schema },
  {
    name: 'close_issue',
    description: 'Closes.',
    inputSchema: schema,
    annotations: { idempotentHint: true, destructiveHint: false },
  },
  { name: 'old', description: 'x', inputSchema: schema, execution: { taskSupport: 'required' } },
];

function github(options: Partial<McpServerOptions> = {}) {
  return mcpServer({ name: 'github', url: 'https://api.example.com/mcp', ...options });
}

async function catalogueOf(
  options: Partial<McpServerOptions> = {},
  tools: readonly unknown[] = TOOLS,
  more = {},
) {
  return makeCatalogue(github(options), { identity: 'GitHub', tools }, more);
}

describe('a catalogue', () => {
  it('does not depend on the order of the listing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(TOOLS, { minLength: TOOLS.length }), async (tools) => {
        expect((await catalogueOf({}, tools)).tools).toEqual((await catalogueOf()).tools);
      }),
    );
  });

  it('tells tools apart that have one name for models, in any order', async () => {
    const two = ['a.b', 'a/b'].map((name) => ({ name, inputSchema: schema }));
    const orders = [two, two.toReversed()];
    const listed = await Promise.all(orders.map((tools) => catalogueOf({}, tools)));

    for (const { tools } of listed) expect(tools.map(({ tool }) => tool)).toEqual(['a.b', 'a/b']);
  });

  it('has effects, attempts and approvals by the hints', async () => {
    const { tools, leftOut } = await catalogueOf({ approval: 'destructive' });

    expect(
      tools.map(({ spec }) => [spec.name, spec.effect, spec.retry.attempts, spec.approval]),
    ).toEqual([
      ['github_close_issue', 'idempotent', 3, undefined],
      ['github_create_issue', 'once', 1, 'always'],
      ['github_list_issues', 'read', 3, undefined],
    ]);
    expect(leftOut).toMatchObject([
      { tool: 'old', reason: 'it needs tasks of revision 2025-11-25' },
    ]);
  });

  it('has the tools that are allowed, as overrides say', async () => {
    const { tools, warnings } = await catalogueOf({
      tools: { allow: ['*_issue', 'delete_*'], deny: ['close*'] },
      overrides: {
        create_issue: { name: 'open_issue', effect: 'idempotent', description: 'Opens.' },
        creat_issue: {},
      },
    });

    expect(tools.map(({ spec }) => spec)).toMatchObject([
      { name: 'open_issue', effect: 'idempotent', description: 'Opens.', retry: { attempts: 3 } },
    ]);
    expect(warnings).toEqual([
      {
        code: 'mcp_pattern_unused',
        message: 'MCP server `github`: `delete_*` of `tools.allow` fits no tool.',
      },
      {
        code: 'mcp_override',
        message:
          'MCP server `github`: Expected `overrides.creat_issue` to be a tool of the server, got none. Did you mean `create_issue`?',
      },
    ]);
  });

  it('leaves out tools that are not as they were pinned', async () => {
    const [list, create] = TOOLS.map((tool) => toolHash(tool));
    const locked = {
      identity: 'GitHub',
      tools: {
        list_issues: { hash: list ?? '', effect: 'read' as const },
        create_issue: { hash: `${create?.slice(1) ?? ''}x`, effect: 'once' as const },
      },
    };
    const { tools, leftOut, warnings } = await catalogueOf({}, TOOLS, { locked });

    expect(tools.map(({ tool }) => tool)).toEqual(['list_issues']);
    expect(leftOut.map(({ tool, unpinned }) => [tool, unpinned !== undefined])).toEqual([
      ['create_issue', true],
      ['close_issue', true],
      ['old', false],
    ]);
    expect(warnings.map(({ code }) => code)).toEqual(['mcp_tool_changed', 'mcp_tool_new']);
  });

  it('has what the server says of itself, if wanted, bounded and without hidden characters', async () => {
    const said = `Deploy\u200B twice.\u{E0049} ${'x'.repeat(10_000)}`;
    const of = (options: Partial<McpServerOptions>) => {
      const server = mcpServer({ name: 'x', url: 'https://x.example/mcp', ...options });
      return makeCatalogue(server, { identity: 'x', instructions: said, tools: [] }, {});
    };
    const { instructions = '', warnings } = await of({ instructions: true });

    expect(instructions).toMatch(/^Deploy twice\. x+.?$/);
    expect(instructions).toHaveLength(4_000);
    expect(warnings).toEqual([
      {
        code: 'mcp_hidden_text',
        message: 'MCP server `x`: hidden characters were removed from what it says of itself.',
      },
    ]);
    expect(await of({})).toEqual({ identity: 'x', tools: [], leftOut: [], warnings: [] });
  });

  it('is made of anything', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.anything()), fc.anything(), async (tools, inputSchema) => {
        await catalogueOf({}, [...tools, { name: 'a', inputSchema }, { name: 7 }]);
      }),
    );
  });

  it('has one hash for each wording of a tool', () => {
    const tool = TOOLS[0] as (typeof TOOLS)[number];
    const { name, description, inputSchema, annotations } = tool;
    const others = [
      { ...tool, description: 'Lists all.' },
      { ...tool, inputSchema: { type: 'object' } },
      { ...tool, annotations: {} },
      { ...tool, name: 'x' },
    ];

    expect(toolHash({ annotations, inputSchema, description, name, title: 'x' })).toBe(
      toolHash(tool),
    );
    expect(new Set([tool, ...others].map((it) => toolHash(it))).size).toBe(5);
  });
});

describe('names of tools', () => {
  it.each([
    ['github_', 'create_issue', 'github_create_issue'],
    ['', 'a.b/c', 'a_b_c'],
    ['', 'respond', /^respond_[\da-f]{6}$/],
    ['', '3d', /^t3d_[\da-f]{6}$/],
    ['p_', 'x'.repeat(80), /^p_x{55}_[\da-f]{6}$/],
  ])('%s%s', (prefix, tool, name) => {
    const made = toolName(prefix, tool);

    if (typeof name === 'string') expect(made).toBe(name);
    else expect(made).toMatch(name);
  });

  it('of added tools are valid too', () => {
    const offers = { resources: true, prompts: true };
    const added = ownTools(github({ prefix: '3d_', resources: true, prompts: true }), offers);

    expect(added).toHaveLength(4);
    for (const { spec } of added) expect(spec.name).toMatch(/^t3d_\w+_[\da-f]{6}$/);
  });

  it.each([
    ['*', 'any', true],
    ['list_*', 'list_issues', true],
    ['list_*', 'lists', false],
    ['*a*b*', 'xaxbx', true],
    ['a*a', 'a', false],
    ['*ab', 'aab', true],
    ['exact', 'exactly', false],
  ])('pattern %s and %s', (pattern, name, fits) => {
    expect(fitsPattern(name, pattern)).toBe(fits);
  });
});

describe('the schema of a tool', () => {
  it('of draft 7 is one of today, and has no regular expression', () => {
    const read = argumentsSchema({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        pattern: { type: 'string', pattern: '^(a+)+$', description: 'What.' },
        pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] },
      },
      patternProperties: { '(a+)+$': {} },
    });
    if (read.kind === 'unfit') throw new Error(read.reason);

    expect(read.schema).toEqual({
      type: 'object',
      properties: {
        pattern: { type: 'string', description: 'What. Pattern: ^(a+)+$' },
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
      },
      additionalProperties: true,
      description: 'Keys by pattern: (a+)+$',
    });
    expect(read.isStricter).toBe(false);
    expect(checkJson(read.schema, { pattern: `${'a'.repeat(40)}!` }).errors).toEqual([]);
  });

  it('takes the keys of an expression, which the model reads', async () => {
    const patternProperties = { '^x-': { type: 'string' }, '^y-': true };
    const closed = { type: 'object', patternProperties, additionalProperties: false };
    const [tool] = (await catalogueOf({}, [{ name: 'set', inputSchema: closed }])).tools;
    const parameters = tool?.spec.parameters ?? {};

    expect(parameters).toMatchObject({ description: 'Keys by pattern: ^x- (string), ^y-' });
    expect(checkJson(parameters, { 'x-a': '1' }).errors).toEqual([]);
    expect(
      JSON.stringify(argumentsSchema({ dependencies: { a: { pattern: '(a+)+$' } } })),
    ).toContain('"description":"Pattern: (a+)+$"');
  });

  it.each<[string, object, boolean]>([
    ['branches', { oneOf: [{ pattern: '^a' }, { pattern: '^b' }] }, true],
    ['a negation', { not: { pattern: '^a' } }, true],
    ['a condition', { if: { pattern: '^a' }, else: { maxLength: 1 } }, true],
    ['a count', { items: { pattern: '^a' }, contains: {}, maxContains: 1 }, true],
    ['any of several', { anyOf: [{ pattern: '^a' }, { type: 'number' }] }, false],
    ['branches without expressions', { oneOf: [{ type: 'string' }, { type: 'number' }] }, false],
    ['a field of that name', { properties: { not: { pattern: '^a' } } }, false],
  ])('%s: is checked here or not', (_name, id, isStricter) => {
    expect(argumentsSchema({ type: 'object', properties: { id } as never })).toMatchObject({
      isStricter,
    });
  });

  it('of more than 16 KB loses its words, or the tool', () => {
    const words = { type: 'object', properties: { a: { description: 'x'.repeat(2_000) } } };
    const properties = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, index) => [`a_long_name_${index}`, { type: 'string' }]),
    );
    const many = {
      ...words,
      $defs: Object.fromEntries('abcdefghijk'.split('').map((key) => [key, words])),
    };

    expect(JSON.stringify(argumentsSchema(many))).not.toContain('xxx');
    expect(argumentsSchema({ type: 'object', properties })).toMatchObject({ kind: 'unfit' });
  });
});

describe('the lock file', () => {
  const file = () => join(mkdtempSync(join(tmpdir(), 'everloop-mcp-')), 'lock.json');
  const tool = (hash: string) => ({ hash, effect: 'read' as const });

  it('is read as it was written, and shows every difference', async () => {
    const path = file();
    const locked = { identity: 'a', tools: { x: tool('1'), gone: tool('2'), z: tool('3') } };
    await writeLockFile(path, { github: locked });
    const now = {
      identity: 'b',
      tools: { x: tool('9'), new: tool('2'), z: { ...tool('3'), effect: 'once' as const } },
    };

    expect(readLockFile(path)).toEqual({ v: 1, servers: { github: locked } });
    expect(
      lockDifferences('github', locked, now).map(({ tool: name, kind }) => [name, kind]),
    ).toEqual([
      [undefined, 'identity'],
      ['gone', 'gone'],
      ['new', 'new'],
      ['x', 'changed'],
      ['z', 'effect'],
    ]);
    expect(lockDifferences('github', undefined, now)).toEqual([
      { server: 'github', kind: 'unlocked' },
    ]);
  });

  it('that is missing or something else stops the worker, and so does a missing variable', () => {
    const broken = file();
    writeFileSync(broken, '{"v":2}');
    const auth = { bearer: { env: 'NOT_SET_IN_TESTS' } };
    const servers = [
      github({ pin: '/missing/lock.json', auth }),
      github({ name: 'other', pin: broken }),
      github({ optional: true }),
    ];

    expect(problemsOf(() => createMcpTools({ servers, environment: {} }))).toMatchObject([
      {
        code: 'mcp_env',
        message:
          'MCP server `github`: Expected variable `NOT_SET_IN_TESTS`, got none. Set it on the workers.',
      },
      { code: 'mcp_pin', message: expect.stringContaining('to exist, got none') as string },
      { code: 'mcp_pin', message: expect.stringContaining('got something else') as string },
      {
        code: 'duplicate_server',
        message: expect.stringContaining('got two that differ') as string,
      },
    ]);
  });
});

describe('lines of messages', () => {
  it('are whole however they are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 20 })),
        fc.integer({ min: 1, max: 9 }),
        (given, size) => {
          const texts = given.map((it) => it.replaceAll('\n', ''));
          const bytes = Buffer.from(texts.map((it) => `${it}\n`).join(''));
          const lines = new MessageLines();
          const read = [];
          for (let at = 0; at < bytes.length; at += size) {
            read.push(...lines.add(bytes.subarray(at, at + size)));
          }

          expect(read).toEqual(
            texts.map((it) => ({ kind: 'line', text: Buffer.from(it).toString('utf8') })),
          );
        },
      ),
    );
  });

  it.each([
    [`{"jsonrpc":"2.0","id":7,"result":"${'x'.repeat(400)}"}`, 7],
    [`{"result":"${'x'.repeat(400)}","jsonrpc":"2.0","id":8}`, 8],
    ['x'.repeat(400), undefined],
  ])('that are too long tell whose they are: %#', (line, id) => {
    const lines = new MessageLines(300);

    expect(lines.add(Buffer.from(`${line}\n{"a":1}\n`))).toEqual([
      id === undefined ? { kind: 'too_long' } : { kind: 'too_long', id },
      { kind: 'line', text: '{"a":1}' },
    ]);
  });
});
