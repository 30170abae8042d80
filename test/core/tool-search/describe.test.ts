import { describe, expect, test } from 'vitest';
import type { ToolSearchSpec } from '../../../src/core/contract/spec.ts';
import { declaredTools, hitsText, toolsText } from '../../../src/core/tool-search/describe.ts';
import { searchPage, rankHits, searchToolSpec } from '../../../src/core/tool-search/query.ts';
import { toolchainOf } from '../../../src/core/toolchain/toolchain-of.ts';
import { toolSpec } from '../runs/spec-fixture.ts';

const both: ToolSearchSpec = {
  hint: 'domains',
  pageSize: 2,
  pins: [],
  engines: [
    { id: 'bm25', guidance: 'plain words, for example "look up a booking"' },
    { id: 'regex', guidance: 'a pattern' },
  ],
  noResults: 'No tool matches. Try other words, or a broader query.',
};

const found = [
  toolSpec({ name: 'now', description: 'Tell the time.', parameters: null }),
  toolSpec({
    name: 'find_flight',
    description: 'Find a flight.',
    parameters: null,
    area: { domain: 'Flight', categories: ['lookup', 'flight'] },
  }),
  toolSpec({
    name: 'cancel',
    description: 'Cancel a booking.',
    policy: 'Ask first.',
    parameters: { type: 'object', properties: { id: { type: 'string' } } },
    area: { domain: 'Booking' },
  }),
  toolSpec({
    name: 'find_seat',
    description: 'Find a seat.',
    parameters: null,
    area: { domain: 'Flight', categories: ['seat', 'lookup'] },
  }),
];

function agentWith(search: ToolSearchSpec): Parameters<typeof toolsText>[0] {
  return { tools: [...found, searchToolSpec(search, true)], toolSearch: search };
}

const yaml = toolchainOf({ kind: 'yaml', section: 'action' });
const json = toolchainOf({ kind: 'json', section: 'action' });

describe('[row 27] the section `tools` of an agent with tool search', () => {
  test('lists areas, the search tool with its engines, and the pins', () => {
    expect(toolsText(agentWith({ ...both, pins: ['cancel', 'now'] }), yaml)).toBe(
      `There are 4 tools in these areas:
- Flight (lookup, flight, seat): 2 tools
- Booking: 1 tool
- other: 1 tool
Find the ones you need with tool_registry_search, then call them like any other tool.

- tool_registry_search: Find tools by what they do. The result shows how to call them.
  Parameters:
    type: object
    properties:
      query:
        type: string
      query_type:
        type: string
        enum:
          - bm25
          - regex
        default: bm25
      page:
        type: integer
        minimum: 1
        default: 1
    required:
      - query
  Queries:
  - bm25: plain words, for example "look up a booking"
  - regex: a pattern

Always at hand:

- cancel: Cancel a booking.
  Policy: Ask first.
  Parameters:
    type: object
    properties:
      id:
        type: string

- now: Tell the time.
  Parameters: none`,
    );
  });

  test('lists names instead, and asks for no engine where there is one', () => {
    const one = { ...both, hint: 'names' as const, engines: both.engines.slice(0, 1) };

    expect(toolsText(agentWith(one), json)).toBe(
      `There are 4 tools:
- now
- find_flight
- cancel
- find_seat
Find the ones you need with tool_registry_search, then call them like any other tool.

- tool_registry_search: Find tools by what they do. The result shows how to call them.
  Parameters: {"type":"object","properties":{"query":{"type":"string"},"page":{"type":"integer","minimum":1,"default":1}},"required":["query"]}
  Queries:
  - bm25: plain words, for example "look up a booking"`,
    );
  });
});

describe('[row 27] hits', () => {
  const blocks = {
    now: '- now: Tell the time.\n  Parameters: none',
    find_flight: '- find_flight: Find a flight.\n  Parameters: none',
    find_seat: '- find_seat: Find a seat.\n  Parameters: none',
  };

  test.each([
    {
      name: 'the first page',
      ranking: ['now', 'find_flight', 'find_seat'],
      page: 1,
      text: `${blocks.now}\n\n${blocks.find_flight}\n\nPage 1 of 2, 3 tools.`,
      shown: ['now', 'find_flight'],
    },
    {
      name: 'the last page',
      ranking: ['now', 'find_flight', 'find_seat'],
      page: 2,
      text: `${blocks.find_seat}\n\nPage 2 of 2, 3 tools.`,
      shown: ['find_seat'],
    },
    {
      name: 'a page behind the last',
      ranking: ['now', 'find_flight', 'find_seat'],
      page: 3,
      text: 'There is no page 3, the last is 2.',
      shown: [],
    },
    {
      name: 'nothing found',
      ranking: [],
      page: 1,
      text: 'No tool matches. Try other words, or a broader query.',
      shown: [],
    },
    {
      name: 'a tool shown above',
      ranking: ['now', 'find_flight'],
      before: ['now'],
      page: 1,
      text: `${blocks.find_flight}\n\nAlready shown above: now\n\nPage 1 of 1, 2 tools.`,
      shown: ['now', 'find_flight'],
    },
    {
      name: 'tools that were all shown above',
      ranking: ['now', 'find_flight'],
      before: ['find_flight', 'now'],
      page: 1,
      text: 'Already shown above: now, find_flight\n\nPage 1 of 1, 2 tools.',
      shown: ['now', 'find_flight'],
    },
  ])('$name', ({ ranking, page, before = [], text, shown }) => {
    const hits = searchPage(ranking, page, both.pageSize);

    expect(hitsText(agentWith(both), hits, new Set<string>(before), yaml)).toEqual({ text, shown });
  });

  test('scores that differ in the last bits alone are equal', () => {
    const hits = [
      { name: 'b', score: 0.3 },
      { name: 'a', score: 0.1 + 0.2 },
      { name: 'c', score: 0.300_01 },
    ];

    expect(rankHits(hits)).toEqual(['c', 'a', 'b']);
  });
});

describe('[row 27] declared to a provider', () => {
  test('the search tool, the pins, and what was found, each once', () => {
    const declared = declaredTools(agentWith({ ...both, pins: ['cancel'] }), ['now', 'cancel']);

    expect(declared).toEqual([
      {
        name: 'tool_registry_search',
        description: `Find tools by what they do. The result shows how to call them.

There are 4 tools in these areas:
- Flight (lookup, flight, seat): 2 tools
- Booking: 1 tool
- other: 1 tool
Find the ones you need with tool_registry_search, then call them like any other tool.

Queries:
- bm25: plain words, for example "look up a booking"
- regex: a pattern`,
        parameters: searchToolSpec(both, true).parameters,
      },
      {
        name: 'cancel',
        description: 'Cancel a booking.\n\nPolicy: Ask first.',
        parameters: { type: 'object', properties: { id: { type: 'string' } } },
      },
      {
        name: 'now',
        description: 'Tell the time.',
        parameters: { type: 'object', properties: {} },
      },
    ]);
  });

  test('all tools without tool search', () => {
    expect(declaredTools({ tools: found }, []).map(({ name }) => name)).toEqual([
      'now',
      'find_flight',
      'cancel',
      'find_seat',
    ]);
  });
});
