import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pairedMessages } from '../../../src/core/modes/chat.ts';
import { buildRequest, modeOf, readTurn } from '../../../src/core/modes/modes.ts';
import { failedCallResult, toolCallResult } from '../../../src/core/modes/observation.ts';
import type { Message, Part } from '../../../src/core/base/message.ts';
import { batchNotRunText } from '../../../src/core/toolchain/native-calls.ts';
import { toolchainOf } from '../../../src/core/toolchain/toolchain-of.ts';
import { cutReply, replyOf } from '../runs/reply-fixture.ts';
import { chatSpec, toolSpec } from '../runs/spec-fixture.ts';

const spec = chatSpec();
const mode = modeOf(spec);
const base = { blocks: {}, sections: [], sectionErrors: [] };
const options = { runId: 'r', iteration: 1, attempt: 1, lastTurn: false };
const png = { type: 'media' as const, mediaType: 'image/png', data: 'AAAA' };

describe('Reading a turn of chat [row 18] [row 35]', () => {
  test('calls are run, text beside them is no answer', () => {
    const reply = replyOf('Let me see.', {
      calls: [{ id: 'a', tool: 'search', args: '{"query":"x"}' }],
      finishReason: 'tool_calls',
    });

    expect(readTurn(spec, reply, 2)).toEqual({
      ...base,
      kind: 'calls',
      calls: [{ callId: '2.1', tool: 'search', args: { query: 'x' } }],
      callParts: [
        {
          type: 'tool_call',
          callId: '2.1',
          tool: 'search',
          args: { query: 'x' },
          providerData: { id: 'a' },
        },
      ],
    });
  });

  test('text without calls is the answer', () => {
    expect(readTurn(spec, replyOf(' Hello '), 1)).toEqual({
      ...base,
      callParts: [],
      kind: 'answer',
      candidates: [{ kind: 'value', value: 'Hello' }],
      attached: null,
    });
  });

  test.each([
    {
      title: 'neither',
      reply: replyOf(' '),
      problem: {
        code: 'empty_turn',
        message: 'the reply is empty',
      },
      feedback:
        'Nothing can be done with your reply: the reply is empty. Write your answer as the text of your reply, or call a tool.',
    },
    {
      title: 'cut before anything was said',
      reply: cutReply(''),
      problem: {
        code: 'truncated_reply',
        message: 'the reply was cut off by the length limit',
      },
      feedback:
        'Your reply was cut off by the length limit. Nothing in it was run. Write less and work in steps.',
    },
  ])('$title', ({ reply, problem, feedback }) => {
    expect(readTurn(spec, reply, 1)).toEqual({
      ...base,
      callParts: [],
      kind: 'malformed',
      family: 'format',
      problems: [problem],
      feedback: [{ name: 'error', content: feedback }],
      callAnswers: [],
      ends: false,
    });
  });

  test('one malformed call: the batch is not run, and each call is answered', () => {
    const reply = replyOf('', {
      calls: [
        { id: 'a', tool: 'search', args: { query: 'x' } },
        { id: 'b', tool: 'search', args: '{"query"' },
      ],
    });
    const turn = readTurn(spec, reply, 1);
    const said = 'call 2 (search): line 1, column 9: expected ":", got end of text';

    expect(turn).toMatchObject({ kind: 'malformed', family: 'toolchain', feedback: [] });
    expect(
      mode.turnMessages(spec, turn, reply, { sectionErrors: [], feedback: [], results: [] }),
    ).toEqual([
      { role: 'assistant', parts: turn.callParts },
      {
        role: 'tool',
        parts: [
          {
            type: 'tool_result',
            callId: '1.1',
            tool: 'search',
            parts: [{ type: 'text', text: batchNotRunText }],
            isError: true,
          },
          {
            type: 'tool_result',
            callId: '1.2',
            tool: 'search',
            parts: [{ type: 'text', text: `Error: ${said}` }],
            isError: true,
          },
        ],
      },
    ]);
  });

  test('cut inside the arguments of a call', () => {
    const reply = cutReply('', [{ id: 'a', tool: 'search', args: '{"query": "lon' }]);
    const turn = readTurn(spec, reply, 1);

    expect(turn).toMatchObject({
      kind: 'malformed',
      family: 'format',
      problems: [{ code: 'truncated_reply', message: 'the reply was cut off by the length limit' }],
    });
    expect(
      mode
        .turnMessages(spec, turn, reply, { sectionErrors: [], feedback: [], results: [] })
        .map((message) => message.role),
    ).toEqual(['assistant', 'tool', 'user']);
  });

  test('cut behind its calls: they are run', () => {
    const reply = cutReply('', [{ id: 'a', tool: 'search', args: '{}' }]);

    expect(readTurn(spec, reply, 1).kind).toBe('calls');
  });
});

describe('Entries of chat', () => {
  test('a result for each call, media behind as a message of the user [row 36]', () => {
    const reply = replyOf('Let me see.', {
      parts: [
        { type: 'reasoning', text: 'hm', providerData: { signature: 's' } },
        { type: 'text', text: 'Let me see.' },
      ],
      calls: [
        { id: 'a', tool: 'search', args: {} },
        { id: 'b', tool: 'fly', args: {} },
      ],
    });
    const turn = readTurn(spec, reply, 1);
    if (turn.kind !== 'calls') throw new Error('no calls');
    const [first, second] = turn.calls;
    if (first === undefined || second === undefined) throw new Error('no calls');

    const messages = mode.turnMessages(spec, turn, reply, {
      sectionErrors: [],
      feedback: [],
      results: [
        toolCallResult(
          first,
          {
            outcome: 'ok',
            output: { n: 1 },
            media: [png],
            instructions: 'Look.',
            attempts: 1,
            started: true,
          },
          toolchainOf(spec.toolchain),
        ),
        failedCallResult(second, 'Error: unknown tool "fly". Tools: search.', false),
      ],
    });

    expect(messages).toEqual([
      { role: 'assistant', parts: [...reply.parts.slice(0, 2), ...turn.callParts] },
      {
        role: 'tool',
        parts: [
          {
            type: 'tool_result',
            callId: '1.1',
            tool: 'search',
            parts: [{ type: 'text', text: '{"n":1}\n[media 1: image/png]\n\nInstructions: Look.' }],
            isError: false,
          },
          {
            type: 'tool_result',
            callId: '1.2',
            tool: 'fly',
            parts: [{ type: 'text', text: 'Error: unknown tool "fly". Tools: search.' }],
            isError: true,
          },
        ],
      },
      { role: 'user', parts: [png] },
    ]);
  });

  test('feedback is one message of the user, as plain text [row 34]', () => {
    const reply = replyOf('X');
    const turn = readTurn(spec, reply, 1);
    if (turn.kind !== 'answer') throw new Error('no answer');
    const unfit = { kind: 'unfit' as const, problems: [], lines: ['a: missing'] };
    const feedback = mode.answerFeedback(spec, turn, unfit, reply, { attempt: 1, of: null });

    expect(
      mode.turnMessages(spec, turn, reply, { sectionErrors: [], feedback, results: [] }),
    ).toEqual([
      { role: 'assistant', parts: [{ type: 'text', text: 'X' }] },
      {
        role: 'user',
        parts: [
          {
            type: 'text',
            text: 'The answer could not be used.\n- a: missing\nAnswer again.',
          },
        ],
      },
    ]);
  });

  test('feedback with children is written as tags', () => {
    const reply = replyOf('X');
    const turn = readTurn(spec, reply, 1);
    const feedback = [{ name: 'tone', children: [{ name: 'hint', content: 'Softer.' }] }];

    expect(
      mode.turnMessages(spec, turn, reply, { sectionErrors: [], feedback, results: [] }).at(-1),
    ).toEqual({
      role: 'user',
      parts: [{ type: 'text', text: '<tone>\n<hint>\nSofter.\n</hint>\n</tone>' }],
    });
  });

  test('inputs are plain text, then media', () => {
    expect(mode.inputMessages({ text: 'Also B.', media: [png] })).toEqual([
      { role: 'user', parts: [{ type: 'text', text: 'Also B.' }, png] },
    ]);
    expect(mode.inputMessages({ text: '' })).toEqual([]);
  });
});

describe('Pairing of calls and results [row 18] [sub 9]', () => {
  const call = (callId: string): Part => ({ type: 'tool_call', callId, tool: 't', args: {} });
  const result = (callId: string, text = 'ok', isError = false): Part => ({
    type: 'tool_result',
    callId,
    tool: 't',
    parts: [{ type: 'text', text }],
    isError,
  });
  const canceled = (callId: string): Part =>
    result(callId, 'Error: canceled before it finished.', true);
  const user: Message = { role: 'user', parts: [{ type: 'text', text: 'x' }] };

  test.each<{ title: string; from: Message[]; to: Message[] }>([
    {
      title: 'paired calls stay',
      from: [
        { role: 'assistant', parts: [call('1'), call('2')] },
        { role: 'tool', parts: [result('1'), result('2')] },
      ],
      to: [
        { role: 'assistant', parts: [call('1'), call('2')] },
        { role: 'tool', parts: [result('1'), result('2')] },
      ],
    },
    {
      title: 'calls without results get one',
      from: [
        { role: 'assistant', parts: [call('1'), call('2')] },
        { role: 'tool', parts: [result('2')] },
        user,
      ],
      to: [
        { role: 'assistant', parts: [call('1'), call('2')] },
        { role: 'tool', parts: [result('2')] },
        { role: 'tool', parts: [canceled('1')] },
        user,
      ],
    },
    {
      title: 'at the end too',
      from: [{ role: 'assistant', parts: [call('1')] }],
      to: [
        { role: 'assistant', parts: [call('1')] },
        { role: 'tool', parts: [canceled('1')] },
      ],
    },
    {
      title: 'results without calls, and second results, are dropped',
      from: [
        { role: 'tool', parts: [result('0')] },
        { role: 'assistant', parts: [call('1')] },
        { role: 'tool', parts: [result('1'), result('1'), result('9')] },
        user,
      ],
      to: [{ role: 'assistant', parts: [call('1')] }, { role: 'tool', parts: [result('1')] }, user],
    },
  ])('$title', ({ from, to }) => {
    expect(pairedMessages(from)).toEqual(to);
  });

  test('a transcript cut anywhere is paired', () => {
    const part = fc.tuple(fc.boolean(), fc.constantFrom('1', '2', '3'));
    const message = fc
      .tuple(fc.constantFrom('user', 'assistant', 'tool'), fc.array(part, { maxLength: 3 }))
      .map(([role, parts]): Message => ({
        role: role as Message['role'],
        parts: parts.map(([isCall, id]) => (isCall ? call(id) : result(id))),
      }));
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), (messages) => {
        const paired = pairedMessages(messages);

        expect(pairedMessages(paired)).toEqual(paired);
      }),
    );
  });
});

describe('Requests of chat [row 32]', () => {
  test('the first one: history, context, task, media, tools with their policy', () => {
    const tool = toolSpec({ policy: 'At most twice.' });
    const head = {
      spec: chatSpec({
        instructions: { kind: 'text', text: 'You help.' },
        rules: { kind: 'function' },
        tools: [tool],
        settings: { temperature: 0 },
        examples: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
      }),
      task: { text: 'Do it.', media: [png] },
      context: { note: 'a </data> b', size: { w: 1 }, _secret: 'x' },
      history: [
        { role: 'user' as const, text: 'Before?' },
        { role: 'assistant' as const, text: 'Yes.' },
      ],
    };

    expect(buildRequest(head, [], { ...options, rules: 'Be kind.' })).toEqual({
      mode: 'chat',
      agent: 'tester',
      runId: 'r',
      iteration: 1,
      attempt: 1,
      messages: [
        { role: 'system', parts: [{ type: 'text', text: 'You help.\n\nBe kind.' }] },
        { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
        { role: 'user', parts: [{ type: 'text', text: 'Before?' }] },
        { role: 'assistant', parts: [{ type: 'text', text: 'Yes.' }] },
        {
          role: 'user',
          parts: [
            {
              type: 'text',
              text: '# Context\n<data name="note">a <\\/data> b</data>\n<data name="size">{"w":1}</data>\n# Task\nDo it.',
            },
            png,
          ],
        },
      ],
      tools: [
        {
          name: 'search',
          description: 'Find pages.\n\nPolicy: At most twice.',
          parameters: tool.parameters,
        },
      ],
      toolChoice: 'auto',
      settings: { temperature: 0 },
      cacheUpTo: 5,
    });
  });

  test('the last turn forbids calls, behind what can be cached', () => {
    const request = buildRequest({ spec, task: { text: 'x' } }, [], { ...options, lastTurn: true });

    expect(request).toMatchObject({ toolChoice: 'none', cacheUpTo: 1 });
    expect(request.messages.at(-1)).toEqual({
      role: 'user',
      parts: [{ type: 'text', text: 'This is the last turn: answer without calling tools.' }],
    });
  });

  test('without tools there is nothing to choose', () => {
    const request = buildRequest(
      { spec: chatSpec({ tools: [] }), task: { text: 'x' } },
      [],
      options,
    );

    expect(Object.keys(request)).toEqual([
      'mode',
      'agent',
      'runId',
      'iteration',
      'attempt',
      'messages',
      'settings',
      'cacheUpTo',
    ]);
  });

  test('a JSON answer is described in the system message', () => {
    const json = chatSpec({
      answer: {
        kind: 'json',
        section: 'answer',
        schema: { type: 'object' },
        guidance: 'Rate it.',
        example: { a: 1 },
        validators: [],
      },
    });

    expect(buildRequest({ spec: json, task: { text: 'x' } }, [], options).messages[0]).toEqual({
      role: 'system',
      parts: [
        {
          type: 'text',
          text: 'Your reply without tool calls is the answer. Rate it.\n\nWrite one JSON value that fits this schema:\n{"type":"object"}\n\nFor example:\n{"a":1}',
        },
      ],
    });
  });

  test('reasoning goes back, summaries are plain text', () => {
    const messages: readonly Message[] = [
      {
        role: 'user',
        parts: [{ type: 'sections', sections: [{ name: 'summary', content: 'So far.' }] }],
      },
      {
        role: 'assistant',
        parts: [{ type: 'reasoning', text: 'hm', providerData: { signature: 's' } }],
      },
    ];

    expect(buildRequest({ spec, task: { text: '' } }, messages, options).messages).toEqual([
      { role: 'user', parts: [{ type: 'text', text: 'So far.' }] },
      messages[1],
    ]);
  });
});
