import { describe, expect, test } from 'vitest';
import { catalogueText, fieldLines, modelTool } from '../../../src/core/toolchain/catalogue.ts';
import { toolchainOf } from '../../../src/core/toolchain/toolchain-of.ts';
import { toolSpec } from '../runs/spec-fixture.ts';

const tools = [
  toolSpec({
    name: 'search',
    description: 'Find pages.\nSeveral words are one phrase.',
    policy: 'At most twice.\nNever for names.',
    parameters: {
      type: 'object',
      required: ['query'],
      properties: {
        query: { type: 'string', description: 'what to find' },
        filter: { type: 'object', properties: { year: { type: 'integer' } } },
      },
    },
  }),
  toolSpec({ name: 'now', description: 'Tell the time.', parameters: null }),
];

describe('The catalogue [row 19]', () => {
  test.each([
    {
      kind: 'yaml' as const,
      text: `You can use these tools:

- search: Find pages.
  Several words are one phrase.
  Policy: At most twice.
  Never for names.
  Parameters:
    type: object
    required:
      - query
    properties:
      query:
        type: string
        description: what to find
      filter:
        type: object
        properties:
          year:
            type: integer

- now: Tell the time.
  Parameters: none`,
    },
    {
      kind: 'json' as const,
      text: `You can use these tools:

- search: Find pages.
  Several words are one phrase.
  Policy: At most twice.
  Never for names.
  Parameters: {"type":"object","required":["query"],"properties":{"query":{"type":"string","description":"what to find"},"filter":{"type":"object","properties":{"year":{"type":"integer"}}}}}

- now: Tell the time.
  Parameters: none`,
    },
  ])('in $kind', ({ kind, text }) => {
    expect(catalogueText(tools, toolchainOf({ kind, section: 'action' }))).toBe(text);
  });

  test('is empty without tools', () => {
    expect(catalogueText([], toolchainOf({ kind: 'json', section: 'action' }))).toBe('');
  });

  test('for providers: the policy follows the description', () => {
    expect(tools.map(modelTool)).toEqual([
      {
        name: 'search',
        description:
          'Find pages.\nSeveral words are one phrase.\n\nPolicy: At most twice.\nNever for names.',
        parameters: tools[0]?.parameters,
      },
      {
        name: 'now',
        description: 'Tell the time.',
        parameters: { type: 'object', properties: {} },
      },
    ]);
    expect(modelTool(toolSpec({ name: 'look-up' })).name).toBe('look_up');
  });
});

describe('Field lines [row 20]', () => {
  test('name, type, whether required, description, in the order of the schema', () => {
    const schema = {
      type: 'object',
      required: ['b', 'a'],
      properties: {
        b: { type: 'string', description: 'who' },
        a: { type: 'integer' },
        list: { type: 'array', items: { type: 'number' } },
        lists: { type: 'array', items: { type: 'array' } },
        choice: { enum: ['x', 1] },
        map: { type: 'object' },
        union: { anyOf: [] },
        both: { type: ['string', 'null'] },
        any: {},
        flag: true,
      },
    };

    expect(fieldLines(schema)).toBe(
      `- b (string, required): who
- a (integer, required)
- list (list of number)
- lists (list of list of any)
- choice (one of x, 1)
- map (object)
- union (any)
- both (string or null)
- any (any)
- flag (any)`,
    );
    expect(fieldLines(null)).toBe('');
  });
});
