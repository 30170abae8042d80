/** Engines over the tools of the airline: what is found, and in which order. */
import { describe, expect, test } from 'vitest';
import { airlineAgent } from '../../examples/airline/agents.ts';
import { airlineStore } from '../../examples/airline/store.ts';
import { bm25Engine, searchWords } from '../../src/tools/bm25-engine.ts';
import { regexEngine } from '../../src/tools/regex-engine.ts';
import { searchableTool } from '../../src/tools/search-tool.ts';
import type { SearchableTool } from '../../src/define/definition/tool-search-options.ts';

const { tools } = airlineAgent({ store: airlineStore(), model: async () => '', variant: 'search' });
const airline = tools.map(searchableTool);
const io = { signal: new AbortController().signal };

function plainTool(name: string, fields: Partial<SearchableTool> = {}): SearchableTool {
  return {
    name,
    description: '',
    domain: '',
    categories: [],
    keywords: [],
    queries: [],
    ...fields,
  };
}

describe('[row 28] golden rankings by words', () => {
  test.each([
    {
      query: 'lookup customer',
      ranking: [
        'get_customer_info',
        'send_notification',
        'get_booking_info',
        'get_flight_info',
        'get_flight_seats_info',
        'search_airline_policy',
      ],
    },
    {
      query: 'lookup booking',
      ranking: [
        'get_booking_info',
        'cancel_booking',
        'reschedule_booking',
        'get_customer_info',
        'get_flight_info',
        'get_flight_seats_info',
        'search_airline_policy',
      ],
    },
    {
      query: 'search flight',
      ranking: [
        'search_flight_schedule',
        'get_flight_info',
        'get_flight_seats_info',
        'search_airline_policy',
        'reschedule_booking',
      ],
    },
    { query: 'customer', ranking: ['get_customer_info', 'send_notification'] },
    { query: 'shedule', ranking: ['search_flight_schedule'] },
    {
      query: 'later flight same day',
      ranking: [
        'search_flight_schedule',
        'get_flight_info',
        'reschedule_booking',
        'get_flight_seats_info',
      ],
    },
    {
      query: 'change fee',
      ranking: [
        'search_airline_policy',
        'reschedule_booking',
        'send_notification',
        'cancel_booking',
      ],
    },
    { query: 'xyzzy', ranking: [] },
    { query: 'the of', ranking: [] },
    { query: '', ranking: [] },
  ])('$query', async ({ query, ranking }) => {
    expect(await bm25Engine().search(query, airline, io)).toEqual(ranking);
  });
});

describe('[row 28] words', () => {
  test.each([
    { text: 'get_customer_info', words: ['get', 'customer', 'info'] },
    { text: 'getHTTPReply2Xml', words: ['get', 'http', 'reply2', 'xml'] },
    { text: 'An e-mail, OR the ＳＭＳ!', words: ['e', 'mail', 'sms'] },
    { text: 'Größe Ελλάδα', words: ['größe', 'ελλάδα'] },
    { text: '', words: [] },
  ])('$text', ({ text, words }) => {
    expect(searchWords(text)).toEqual(words);
  });
});

describe('[row 28] ranking', () => {
  test('equal scores are ordered by name', async () => {
    const catalogue = ['c_tool', 'b_tool', 'B_tool'].map((name) => plainTool(name));

    expect(await bm25Engine().search('tool', catalogue, io)).toEqual([
      'B_tool',
      'b_tool',
      'c_tool',
    ]);
    expect(await regexEngine().search('tool', catalogue, io)).toEqual([
      'B_tool',
      'b_tool',
      'c_tool',
    ]);
  });

  test('the index follows the catalogue', async () => {
    const engine = bm25Engine();
    const first = [plainTool('alpha')];
    const second = [plainTool('beta')];

    expect(await engine.search('alpha', first, io)).toEqual(['alpha']);
    expect(await engine.search('alpha', second, io)).toEqual([]);
    expect(await engine.search('beta', second, io)).toEqual(['beta']);
    expect(await engine.search('alpha', first, io)).toEqual(['alpha']);
  });

  test('1,000 tools are indexed and searched quickly enough to be asked in each turn', async () => {
    const catalogue = Array.from({ length: 1_000 }, (_, index) =>
      plainTool(`tool_${index}`, { description: `Does the work number ${index} of a thousand.` }),
    );

    expect((await bm25Engine().search('tool_517', catalogue, io))[0]).toBe('tool_517');
  });
});

describe('[row 28] patterns', () => {
  test.each([
    {
      name: 'the name of a tool',
      query: '^GET_.*info$',
      ranking: [
        'get_booking_info',
        'get_customer_info',
        'get_flight_info',
        'get_flight_seats_info',
      ],
    },
    {
      name: 'more matches first, counted over all texts',
      query: 'policy|polic(?:y|ies)|rules',
      ranking: ['search_airline_policy'],
    },
    {
      name: 'the number of matches, then the name',
      query: 'refund|cancel',
      ranking: ['cancel_booking'],
    },
    { name: 'nothing', query: 'xyzzy', ranking: [] },
  ])('finds $name', async ({ query, ranking }) => {
    expect(await regexEngine().search(query, airline, io)).toEqual(ranking);
  });

  test('counts matches', async () => {
    const catalogue = [
      plainTool('one', { description: 'x' }),
      plainTool('three', { description: 'x x', queries: ['x'] }),
      plainTool('two', { keywords: ['x', 'x'] }),
    ];

    expect(await regexEngine().search('\\bx\\b', catalogue, io)).toEqual(['three', 'two', 'one']);
  });

  test.each([
    { name: 'invalid', query: '(', quoted: '(' },
    { name: 'overlong', query: 'a'.repeat(201), quoted: 'a'.repeat(200) },
    { name: 'slow', query: '(\\w+\\s?)+;$', quoted: '(\\w+\\s?)+;$' },
  ])('refuses a pattern that is $name', async ({ query, quoted }) => {
    const slow = [plainTool('slow', { description: 'a'.repeat(60) })];

    await expect(regexEngine().search(query, slow, io)).rejects.toMatchObject({
      name: 'ToolError',
      message: `the pattern \`${quoted}\` is not valid.`,
    });
  });

  test('ends the thread of a search that is stopped', async () => {
    const stop = new AbortController();
    const slow = [plainTool('slow', { description: 'a'.repeat(60) })];
    const searching = regexEngine().search('(\\w+\\s?)+;$', slow, { signal: stop.signal });

    stop.abort();

    await expect(searching).rejects.toThrow('The search was stopped.');
  });
});
