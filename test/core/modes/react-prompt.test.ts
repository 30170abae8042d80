import { describe, expect, test } from 'vitest';
import { modeOf, buildRequest } from '../../../src/core/modes/modes.ts';
import { systemTexts } from '../../../src/core/modes/react-prompt.ts';
import { toolCallResult } from '../../../src/core/modes/observation.ts';
import { BUILT_IN_GUIDANCE } from '../../../src/define/definition/tool-search-options.ts';
import type { AgentSpec, ReactSpec, ToolSearchSpec } from '../../../src/core/contract/spec.ts';
import type { Message } from '../../../src/core/base/message.ts';
import { searchToolSpec } from '../../../src/core/tool-search/query.ts';
import { toolchainOf } from '../../../src/core/toolchain/toolchain-of.ts';
import type { TranscriptHead } from '../../../src/core/contract/transcript.ts';
import { renderRequest } from '../../support/render-request.ts';
import { replyOf } from '../runs/reply-fixture.ts';
import { chatSpec, reactSpec, toolSpec } from '../runs/spec-fixture.ts';

const tools = [
  toolSpec({
    name: 'get_flight_info',
    description: 'Look up a flight by number.',
    policy: 'Only for flights that the customer named.',
    parameters: {
      type: 'object',
      properties: { flight_number: { type: 'string', description: 'such as AA100' } },
      required: ['flight_number'],
    },
  }),
  toolSpec({ name: 'now', description: 'Tell the time.', parameters: null }),
];

function airline(react: Partial<ReactSpec>, fields: Partial<AgentSpec> = {}): AgentSpec {
  const spec = reactSpec({
    name: 'airline',
    instructions: { kind: 'text', text: 'You are the help desk of SkyWings.' },
    rules: { kind: 'text', text: 'State only what a tool or the customer told you.' },
    tools,
    ...fields,
  });
  return spec.react === null ? spec : { ...spec, react: { ...spec.react, ...react } };
}

const options = { runId: 'r', iteration: 1, attempt: 1, lastTurn: false };
const task = { text: 'Please move me to a later flight.' };
const png = { type: 'media' as const, mediaType: 'image/png', data: 'AAAA' };

/** The messages of one iteration: a call and its result. */
function firstTurn(spec: AgentSpec): readonly Message[] {
  const mode = modeOf(spec);
  const text =
    spec.mode === 'chat'
      ? ''
      : '<thinking>Find it.</thinking>\n<action>\ntool: get_flight_info\nargs: {flight_number: AA100}\n</action>';
  const calls = [{ id: 'call_1', tool: 'get_flight_info', args: { flight_number: 'AA100' } }];
  const reply = replyOf(text, spec.mode === 'chat' ? { calls } : {});
  const turn = mode.readTurn(spec, reply, 1);
  if (turn.kind !== 'calls') throw new Error(turn.kind);
  return mode.turnMessages(spec, turn, reply, {
    sectionErrors: [],
    feedback: [],
    results: turn.calls.map((call) =>
      toolCallResult(
        call,
        {
          outcome: 'ok',
          output: { departs: '2026-03-11T08:00', free_seats: 45 },
          attempts: 1,
          started: true,
        },
        toolchainOf(spec.toolchain),
      ),
    ),
  });
}

const markdownJson = airline(
  { format: { kind: 'markdown', strict: false }, thinking: null },
  {
    toolchain: { kind: 'json', section: 'action' },
    parallel: false,
    answer: {
      kind: 'json',
      section: 'answer',
      schema: { type: 'object', properties: { flight: { type: 'string' } } },
      example: { flight: 'AA102' },
      validators: [],
    },
  },
);

/** The same desk with tools that have to be found, one of them pinned. */
const search: ToolSearchSpec = {
  hint: 'domains',
  pageSize: 3,
  pins: ['now'],
  engines: [
    { id: 'bm25', guidance: BUILT_IN_GUIDANCE.bm25 },
    { id: 'regex', guidance: BUILT_IN_GUIDANCE.regex },
  ],
  noResults: 'No tool matches.',
};
const areas = [{ domain: 'Flight', categories: ['lookup'] }, undefined];
const searching = airline(
  {},
  {
    toolSearch: search,
    tools: [
      ...tools.map((tool, index) => {
        const area = areas[index];
        return area === undefined ? tool : { ...tool, area };
      }),
      searchToolSpec(search, true),
    ],
  },
);

const history = [
  { role: 'user' as const, text: 'Hello.' },
  { role: 'assistant' as const, text: 'Good morning.' },
];
const context = { customer: { id: 'C001', tier: 'gold' }, _token: 'secret' };

describe('Requests of react [row 32]', () => {
  test.each<{ file: string; head: TranscriptHead; messages: readonly Message[] }>([
    {
      file: 'react-xml-yaml-1',
      head: { spec: airline({}), task, context, history },
      messages: [],
    },
    {
      file: 'react-xml-yaml-2',
      head: { spec: airline({}), task, context, history },
      messages: firstTurn(airline({})),
    },
    { file: 'react-markdown-json-1', head: { spec: markdownJson, task, context }, messages: [] },
    {
      file: 'react-without-tools',
      head: { spec: airline({}, { tools: [], instructions: null, rules: null }), task },
      messages: [],
    },
    {
      file: 'react-sections-examples-media',
      head: {
        spec: airline(
          {
            thinking: { name: 'thinking', kind: 'text', guidance: 'Think in one sentence.' },
            sections: [
              {
                name: 'plan',
                kind: 'yaml',
                schema: { type: 'array', items: { type: 'string' } },
                example: ['look up', 'move'],
              },
            ],
            markers: null,
          },
          {
            examples: [
              { role: 'user', parts: [{ type: 'text', text: 'When does AA101 leave?' }] },
              {
                role: 'assistant',
                parts: [{ type: 'sections', sections: [{ name: 'answer', content: 'At 14:00.' }] }],
              },
            ],
          },
        ),
        task: { ...task, media: [png] },
      },
      messages: [],
    },
    {
      file: 'react-search',
      head: { spec: searching, task },
      messages: [],
    },
    {
      file: 'chat-1',
      head: {
        spec: chatSpec({
          ...airline({}),
          mode: 'chat',
          react: null,
          toolchain: chatSpec().toolchain,
        }),
        task,
        context,
        history,
      },
      messages: [],
    },
    {
      file: 'chat-2',
      head: {
        spec: chatSpec({
          ...airline({}),
          mode: 'chat',
          react: null,
          toolchain: chatSpec().toolchain,
        }),
        task,
        context,
        history,
      },
      messages: firstTurn(chatSpec({ tools })),
    },
  ])('$file', async ({ file, head, messages }) => {
    const request = buildRequest(head, messages, options);

    await expect(renderRequest(request)).toMatchFileSnapshot(`../../golden/prompts/${file}.txt`);
  });

  test.each([{ spec: airline({}) }, { spec: markdownJson }, { spec: chatSpec({ tools }) }])(
    'what can be cached stays the same from iteration to iteration',
    ({ spec }) => {
      const head = { spec, task, context, history };
      const turn = firstTurn(spec === markdownJson ? airline({}) : spec);

      const first = buildRequest(head, [], options);
      const second = buildRequest(head, turn, { ...options, iteration: 2 });

      expect(second.messages.slice(0, first.cacheUpTo)).toEqual(
        first.messages.slice(0, first.cacheUpTo),
      );
      expect(second.cacheUpTo).toBe(first.cacheUpTo + turn.length);
    },
  );

  test('a prompt function replaces the system message, and knows its texts', () => {
    const spec = airline({}, { rules: { kind: 'function' } });
    const texts = systemTexts(spec, { rules: 'It is Tuesday.' });
    const prompt: readonly Message[] = [
      { role: 'system', parts: [{ type: 'text', text: `Mine.\n${texts.tools}` }] },
    ];

    const request = buildRequest({ spec, task }, [], { ...options, prompt });

    expect(Object.keys(texts)).toEqual([
      'instructions',
      'method',
      'rules',
      'tools',
      'outputFormat',
    ]);
    expect(texts.rules).toBe('It is Tuesday.');
    expect(request.messages.slice(0, 2)).toEqual([
      ...prompt,
      {
        role: 'user',
        parts: [{ type: 'text', text: '<task>\nPlease move me to a later flight.\n</task>' }],
      },
    ]);
  });

  test('media without text make a message without sections [row 36]', () => {
    const head = { spec: airline({}), task: { text: '', media: [png] } };

    expect(buildRequest(head, [], options).messages[1]).toEqual({ role: 'user', parts: [png] });
  });

  test('texts of worker functions stand where the specification says so', () => {
    const spec = airline({}, { instructions: { kind: 'function' }, rules: { kind: 'function' } });

    const request = buildRequest({ spec, task }, [], { ...options, instructions: 'Today: help.' });

    const [part] = request.messages[0]?.parts ?? [];
    const text = part?.type === 'text' ? part.text : '';
    expect(text.startsWith('<instructions>\nToday: help.\n</instructions>\n<how_to_work>')).toBe(
      true,
    );
    expect(text).not.toContain('<rules>');
  });
});
