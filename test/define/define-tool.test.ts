import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { StandardSchema } from '../../src/define/schema/standard-schema.ts';
import type { Json } from '../../src/core/base/json.ts';
import { checkJson } from '../../src/define/schema/schema.ts';
import { TOOL_DEFAULTS, type ToolOptions } from '../../src/define/tool/tool-options.ts';

const execute = (): string => 'done';
const minimal = { name: 'work', description: 'Works.', execute };

/** The problems of a tool with these options. */
function problemsOf(options: object): unknown {
  try {
    defineTool({ ...minimal, ...options } as ToolOptions);
  } catch (error) {
    return (error as { problems?: unknown }).problems;
  }
  return [];
}

describe('defineTool', () => {
  test('fills in the defaults', () => {
    expect(defineTool(minimal)).toEqual({
      kind: 'tool',
      spec: {
        name: 'work',
        description: 'Works.',
        parameters: null,
        effect: 'idempotent',
        local: false,
        timeoutMs: 60_000,
        retry: { attempts: 3, initialMs: 1_000, factor: 2 },
        sequential: false,
        maxResultBytes: 65_536,
      },
      standard: null,
      execute,
    });
  });

  test('keeps what is given', () => {
    const parameters = { type: 'object', properties: { b: {}, a: {} } };
    const { spec } = defineTool({
      ...minimal,
      policy: 'Once a day.',
      parameters,
      effect: 'read',
      local: true,
      timeoutMs: 5_000,
      retry: { attempts: 5 },
      sequential: true,
      maxResultBytes: 262_144,
    });

    expect(spec).toEqual({
      name: 'work',
      description: 'Works.',
      policy: 'Once a day.',
      parameters,
      effect: 'read',
      local: true,
      timeoutMs: 5_000,
      retry: { ...TOOL_DEFAULTS.retry, attempts: 5 },
      sequential: true,
      maxResultBytes: 262_144,
    });
    expect(JSON.stringify(spec.parameters)).toBe(JSON.stringify(parameters));
  });

  test('gives a local tool less time', () => {
    const { spec } = defineTool({ ...minimal, effect: 'read', local: true });

    expect(spec.timeoutMs).toBe(2_000);
  });

  test('gives a `once` tool a single attempt', () => {
    const { spec } = defineTool({ ...minimal, effect: 'once' });

    expect(spec.retry).toEqual({ attempts: 1, initialMs: 1_000, factor: 2 });
  });
});

describe('[row 15] schemas of tools', () => {
  test('come from a Standard Schema object, without `$schema`', () => {
    const schema = z.object({ query: z.string().describe('Words.'), limit: z.number().default(5) });

    const tool = defineTool({ ...minimal, parameters: schema });

    expect(tool.spec.parameters).toEqual({
      type: 'object',
      properties: {
        query: { type: 'string', description: 'Words.' },
        limit: { type: 'number', default: 5 },
      },
      required: ['query'],
    });
    expect(tool.standard).toBe(schema);
  });

  test('are told to the model without the noise of a library', () => {
    const data = { pattern: 'x', format: 'y' };
    const parameters = z.object({
      count: z.number().int(),
      day: z.iso.date(),
      pattern: z.object({ format: z.string(), pattern: z.string() }).default(data),
    });

    expect(defineTool({ ...minimal, parameters }).spec.parameters).toEqual({
      type: 'object',
      properties: {
        count: { type: 'integer' },
        day: { type: 'string', format: 'date' },
        pattern: {
          default: data,
          type: 'object',
          properties: { format: { type: 'string' }, pattern: { type: 'string' } },
          required: ['format', 'pattern'],
        },
      },
      required: ['count', 'day'],
    });
  });

  test('of draft 7 are written in the current draft [L15]', () => {
    const parameters = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        at: {
          type: 'array',
          items: [{ type: 'number' }, { $ref: '#side' }],
          additionalItems: false,
        },
        age: { type: 'number', minimum: 0, exclusiveMinimum: true },
        size: { dependencies: { width: { properties: { depth: { $id: '#depth' } } } } },
        items: { type: 'string', $schema: 'http://json-schema.org/draft-07/schema#' },
      },
      definitions: { side: { $id: '#side', enum: ['left', 'right'] } },
    };

    const { spec } = defineTool({ ...minimal, parameters });

    expect(spec.parameters).toEqual({
      type: 'object',
      properties: {
        at: { type: 'array', prefixItems: [{ type: 'number' }, { $ref: '#side' }], items: false },
        age: { type: 'number', exclusiveMinimum: 0 },
        size: { dependencies: { width: { properties: { depth: { $anchor: 'depth' } } } } },
        items: { type: 'string' },
      },
      definitions: { side: { $anchor: 'side', enum: ['left', 'right'] } },
    });
    const check = (value: Json): number => checkJson(spec.parameters ?? {}, value).errors.length;
    expect(check({ at: [1, 'left'], age: 1 })).toBe(0);
    expect([
      check({ at: [1, 'up'] }),
      check({ at: [1, 'left', 2] }),
      check({ age: 0 }),
    ]).not.toContain(0);
  });

  test('with a reference at the root get its target as their root [L15]', () => {
    const definitions = {
      call: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    };

    const { spec } = defineTool({
      ...minimal,
      parameters: { $ref: '#/definitions/call', definitions },
    });

    expect(spec.parameters).toEqual({ ...definitions.call, definitions });
    expect(checkJson(spec.parameters ?? {}, {}).errors).toHaveLength(1);
  });

  test('with a union of objects at the root get the type that providers require [L15]', () => {
    const anyOf = [{ type: 'object', properties: { a: {} } }, { type: 'object' }];

    expect(defineTool({ ...minimal, parameters: { anyOf } }).spec.parameters).toEqual({
      anyOf,
      type: 'object',
    });
  });

  test('come from beside a Standard Schema object that cannot tell its own', () => {
    const jsonSchema = { type: 'object', properties: { day: { type: 'string' } } };

    const tool = defineTool({
      ...minimal,
      parameters: z.object({ day: z.date() }),
      jsonSchema,
    });

    expect(tool.spec.parameters).toEqual(jsonSchema);
  });

  test('are copied: later changes of the object change nothing', () => {
    const parameters = { type: 'object', properties: {} as Record<string, object> };
    const tool = defineTool({ ...minimal, parameters: parameters as never });

    parameters.properties['late'] = {};

    expect(tool.spec.parameters).toEqual({ type: 'object', properties: {} });
  });
});

describe('a tool that is searched, kept and described', () => {
  test('keeps what only the index needs out of the specification', () => {
    const search = { domain: 'Work', categories: ['a'], keywords: ['job'], queries: ['do it'] };
    const tool = defineTool({
      name: 'work',
      description: 'Works.',
      output: { type: 'string' },
      cache: true,
      search,
      execute: () => 'done',
    });

    expect(tool.search).toEqual(search);
    expect(tool.spec).toEqual({
      name: 'work',
      description: 'Works.',
      parameters: null,
      effect: 'idempotent',
      local: false,
      timeoutMs: 60_000,
      retry: { attempts: 3, initialMs: 1_000, factor: 2 },
      sequential: false,
      maxResultBytes: 65_536,
      output: { type: 'string' },
      cache: true,
      area: { domain: 'Work', categories: ['a'] },
    });
  });
});

describe('[row 26] what is wrong with a tool', () => {
  const mute: StandardSchema = {
    '~standard': { version: 1, vendor: 'mute', validate: (value) => ({ value }) },
  };
  const nameRule =
    'Expected a tool name of 1 to 64 letters, digits, `_` or `-` that starts with a letter, got';
  const schemaRule = 'Expected `parameters` of `work` to be a schema for an object, got';

  test.each([
    {
      name: 'no name',
      options: { name: '' },
      code: 'tool_name',
      message: `${nameRule} \`\`. Rename it.`,
    },
    {
      name: 'a name that starts with a digit',
      options: { name: '1st' },
      code: 'tool_name',
      message: `${nameRule} \`1st\`. Rename it.`,
    },
    {
      name: 'a name of 65 letters',
      options: { name: 'a'.repeat(65) },
      code: 'tool_name',
      message: `${nameRule} \`${'a'.repeat(65)}\`. Rename it.`,
    },
    {
      name: 'a name that is no text',
      options: { name: 5 },
      code: 'tool_name',
      message: `${nameRule} 5. Rename it.`,
    },
    ...[
      'tool_registry_search',
      'ask_user',
      'respond',
      'return',
      'fail',
      'lisp_eval',
      'llm_query',
      'ask-user',
    ].map((name) => ({
      name: `the built-in ${name}`,
      options: { name },
      code: 'reserved_name',
      message: `Expected a free tool name, got the built-in \`${name}\`. Rename it.`,
    })),
    {
      name: 'no description',
      options: { description: ' ' },
      code: 'tool_description',
      message:
        'Expected `description` of `work` to say what the tool does, got " ". Write a sentence.',
    },
    {
      name: 'a policy that is no text',
      options: { policy: 5 },
      code: 'tool_policy',
      message: 'Expected `policy` of `work` to be a text, got 5. Change it.',
    },
    {
      name: 'no function',
      options: { execute: undefined },
      code: 'tool_execute',
      message:
        'Expected `execute` of `work` to be a function, got none. Write the function that does the work.',
    },
    {
      name: 'a module of a tool that is not isolated',
      options: { module: '/tmp/run.js' },
      code: 'tool_isolate',
      message:
        'Expected no `module` of `work`, which is not isolated, got "/tmp/run.js". Set `isolate: \'thread\'`, or remove it.',
    },
    {
      name: 'an unknown place',
      options: { isolate: 'machine', execute: undefined, module: '/tmp/run.js' },
      code: 'tool_isolate',
      message:
        "Expected `isolate` of `work` to be 'thread' or 'process', got \"machine\". Choose one of them.",
    },
    {
      name: 'an isolated local tool',
      options: {
        isolate: 'thread',
        execute: undefined,
        module: '/tmp/run.js',
        local: true,
        effect: 'read',
      },
      code: 'tool_isolate',
      message:
        'Expected `isolate` or `local` of `work`, got both. Remove one of them: a local call blocks a workflow task while it waits.',
    },
    {
      name: 'a relative module',
      options: { isolate: 'thread', execute: undefined, module: './run.js' },
      code: 'tool_isolate',
      message:
        'Expected `module` of `work` to be a `file:` URL or an absolute path, got "./run.js". Make one with `new URL`, relative to your file.',
    },
    {
      name: 'no module',
      options: { isolate: 'process', execute: undefined },
      code: 'tool_isolate',
      message:
        'Expected `module` of `work` to be a `file:` URL or an absolute path, got none. Make one with `new URL`, relative to your file.',
    },
    {
      name: 'an isolated tool with a function',
      options: { isolate: 'thread', module: '/tmp/run.js' },
      code: 'tool_isolate',
      message:
        'Expected no `execute` of the isolated tool `work`, got a function. Export it as `run` from `module`.',
    },
    {
      name: 'a heap that is too small',
      options: { isolate: 'thread', execute: undefined, module: '/tmp/run.js', heapMb: 4 },
      code: 'number',
      message: 'Expected `heapMb` of `work` from 16 up, got 4. Change it.',
    },
    {
      name: 'parameters that are no schema',
      options: { parameters: 5 },
      code: 'tool_schema',
      message: `${schemaRule} 5. Use JSON Schema or a Standard Schema object, such as one of zod.`,
    },
    {
      name: 'parameters that are no object',
      options: { parameters: { type: 'string' } },
      code: 'tool_schema',
      message: `${schemaRule} {"type":"string"}. Its root must have \`"type": "object"\`.`,
    },
    {
      name: 'parameters that do not compile',
      options: { parameters: { type: 'object', properties: { a: { $ref: '#/$defs/none' } } } },
      code: 'tool_schema',
      message: `${schemaRule} {"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}. can't resolve reference #/$defs/none from id #.`,
    },
    {
      name: 'a Standard Schema object without JSON Schema',
      options: { parameters: mute },
      code: 'tool_schema',
      message: `${schemaRule} a schema of mute. It cannot tell its JSON Schema: give that as \`jsonSchema\` beside it.`,
    },
    {
      name: 'a Standard Schema object that JSON Schema cannot say',
      options: { parameters: z.object({ at: z.date() }) },
      code: 'tool_schema',
      message: `${schemaRule} a schema of zod. It has no JSON Schema (Date cannot be represented in JSON Schema): give one as \`jsonSchema\` beside it.`,
    },
    {
      name: 'an unknown effect',
      options: { effect: 'twice' },
      code: 'tool_effect',
      message:
        "Expected `effect` of `work` to be 'read', 'idempotent' or 'once', got \"twice\". Choose one of them.",
    },
    {
      name: 'retries of a `once` tool',
      options: { effect: 'once', retry: { attempts: 2 } },
      code: 'once_retry',
      message:
        "Expected a single attempt of the `once` tool `work`, got 2. Remove `retry`, or use effect 'idempotent'.",
    },
    {
      name: 'a local tool that writes',
      options: { local: true },
      code: 'local_tool',
      message:
        "Expected the local tool `work` to have effect 'read' and a `timeoutMs` of at most 5000, got 'idempotent' and 2000. Change them, or remove `local`.",
    },
    {
      name: 'a slow local tool',
      options: { local: true, effect: 'read', timeoutMs: 5_001 },
      code: 'local_tool',
      message:
        "Expected the local tool `work` to have effect 'read' and a `timeoutMs` of at most 5000, got 'read' and 5001. Change them, or remove `local`.",
    },
    {
      name: 'no time',
      options: { timeoutMs: 0 },
      code: 'number',
      message: 'Expected `timeoutMs` of `work` from 1 up, got 0. Change it.',
    },
    {
      name: 'no attempt',
      options: { retry: { attempts: 0 } },
      code: 'number',
      message: 'Expected `retry.attempts` of `work` from 1 up, got 0. Change it.',
    },
    {
      name: 'a shrinking wait',
      options: { retry: { factor: 0.5 } },
      code: 'number',
      message: 'Expected `retry.factor` of `work` from 1 up, got 0.5. Change it.',
    },
    {
      name: 'too large results',
      options: { maxResultBytes: 4_194_305 },
      code: 'number',
      message: 'Expected `maxResultBytes` of `work` from 1 to 4194304, got 4194305. Change it.',
    },
    {
      name: 'questions that are no function',
      options: { asks: 'Who?' },
      code: 'tool_ask',
      message: 'Expected `asks` of `work` to be a function, got "Who?". Change it.',
    },
    {
      name: 'a cache that is no switch',
      options: { cache: 60 },
      code: 'tool_cache',
      message: 'Expected `cache` of `work` to be true or false, got 60. Change it.',
    },
    {
      name: 'a cached tool that acts once',
      options: { cache: true, effect: 'once' },
      code: 'tool_cache',
      message:
        'Expected no `cache` for the `once` tool `work`, got true. Remove it: its second call would do nothing.',
    },
    {
      name: 'an output that is no schema',
      options: { output: 3 },
      code: 'tool_schema',
      message:
        'Expected `output` of `work` to be a schema, got 3. Use JSON Schema or a Standard Schema object, such as one of zod.',
    },
    {
      name: 'search texts that are none',
      options: { search: { domain: 'Work', keywords: 'job' } },
      code: 'tool_search',
      message: 'Expected `search.keywords` of `work` to be a list of texts, got "job". Change it.',
    },
    {
      name: 'a misspelt search text',
      options: { search: { keyword: ['job'] } },
      code: 'unknown_option',
      message: 'Expected an option of `search` of `work`, got `keyword`. Did you mean `keywords`?',
    },
    {
      name: 'a misspelt option',
      options: { timeoutMS: 5 },
      code: 'unknown_option',
      message: 'Expected an option of tool `work`, got `timeoutMS`. Did you mean `timeoutMs`?',
    },
    {
      name: 'an approval that is none',
      options: { approval: 'sometimes' },
      code: 'tool_approval',
      message:
        "Expected `approval` of `work` to be 'always', 'never' or a function, got \"sometimes\". Choose one of them.",
    },
    {
      name: 'a time to approve what nobody approves',
      options: { approvalTimeoutMs: 1_000 },
      code: 'tool_approval',
      message:
        'Expected no `approvalTimeoutMs` for `work`, which needs no approval, got 1000. Set `approval`, or remove it.',
    },
    {
      name: 'a time to approve of nothing',
      options: { approval: 'always', approvalTimeoutMs: 0 },
      code: 'number',
      message: 'Expected `approvalTimeoutMs` of `work` from 1 to 315360000000, got 0. Change it.',
    },
  ])('reports $name', ({ options, code, message }) => {
    expect(problemsOf(options)).toEqual([{ code, message }]);
  });

  test('reports everything in one error', () => {
    const define = (): unknown =>
      defineTool({ name: '', description: '', parameters: { type: 'array' }, execute });

    expect(define).toThrow(
      expect.objectContaining({
        name: 'UsageError',
        code: 'tool_name',
        message: [
          'Expected a tool name of 1 to 64 letters, digits, `_` or `-` that starts with a letter, got ``. Rename it.',
          'Expected `description` of `` to say what the tool does, got "". Write a sentence.',
          'Expected `parameters` of `` to be a schema for an object, got {"type":"array"}. Its root must have `"type": "object"`.',
        ].join('\n'),
      }),
    );
  });
});
