import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTurn } from '../../../src/core/modes/modes.ts';
import type { AgentSpec, ReactSpec } from '../../../src/core/contract/spec.ts';
import type { Turn } from '../../../src/core/contract/turn.ts';
import { cutReply, replyOf } from '../runs/reply-fixture.ts';
import { reactSpec } from '../runs/spec-fixture.ts';

function specWith(react: Partial<ReactSpec>, fields: Partial<AgentSpec> = {}): AgentSpec {
  const spec = reactSpec(fields);
  return spec.react === null ? spec : { ...spec, react: { ...spec.react, ...react } };
}

const base = { sections: [], sectionErrors: [], callParts: [] };
const action = '<action>tool: search\nargs:\n  query: x</action>';
const badAction = '<action>args: {}</action>';
const answer = '<answer>X</answer>';
const call = { callId: '4.1', tool: 'search', args: { query: 'x' } };
const noTool = { code: 'call_without_tool', message: 'call 1: the field "tool" is missing' };
const callFeedback = [
  {
    name: 'error',
    content:
      'The action could not be read, nothing was run.\n- call 1: the field "tool" is missing',
  },
];

function malformed(
  blocks: { [name: string]: number },
  code: string,
  message: string,
  feedback: string,
  ends = false,
  path?: string,
): Turn {
  const problem = path === undefined ? { code, message } : { code, message, path };
  return {
    ...base,
    blocks,
    kind: 'malformed',
    family: 'format',
    problems: [problem],
    feedback: [{ name: 'error', content: feedback }],
    callAnswers: [],
    ends,
  };
}

const noSectionsText =
  'Your reply could not be read: it has none of the sections thinking, action, answer. Write it again as described under output_format.';
const emptyText =
  'Your reply holds neither an action nor an answer. Act in the action section, or finish in the answer section.';

describe('Reading a turn of react [row 33] [row 35]', () => {
  test.each<{ title: string; spec?: AgentSpec; text: string; cut?: boolean; turn: Turn }>([
    {
      title: 'an action',
      text: `<thinking>t</thinking>${action}`,
      turn: { ...base, blocks: { thinking: 1, action: 1 }, kind: 'calls', calls: [call] },
    },
    {
      title: 'an answer',
      text: answer,
      turn: {
        ...base,
        blocks: { answer: 1 },
        kind: 'answer',
        candidates: [{ kind: 'value', value: 'X' }],
        attached: null,
      },
    },
    {
      title: 'several answers, in order',
      text: '<answer>a</answer><answer>b</answer>',
      turn: {
        ...base,
        blocks: { answer: 2 },
        kind: 'answer',
        candidates: [
          { kind: 'value', value: 'a' },
          { kind: 'value', value: 'b' },
        ],
        attached: null,
      },
    },
    {
      title: 'action and answer: the answer is dropped',
      text: `${answer}${action}`,
      turn: {
        ...base,
        blocks: { answer: 1, action: 1 },
        kind: 'calls',
        calls: [call],
        discardedAnswer: true,
      },
    },
    {
      title: 'action and answer, answer first',
      spec: specWith({ precedence: 'answer' }),
      text: `${action}${answer}`,
      turn: {
        ...base,
        blocks: { action: 1, answer: 1 },
        kind: 'answer',
        candidates: [{ kind: 'value', value: 'X' }],
        attached: { kind: 'calls', calls: [call] },
      },
    },
    {
      title: 'unreadable action and answer, answer first',
      spec: specWith({ precedence: 'answer' }),
      text: `${badAction}${answer}`,
      turn: {
        ...base,
        blocks: { action: 1, answer: 1 },
        kind: 'answer',
        candidates: [{ kind: 'value', value: 'X' }],
        attached: { kind: 'problems', problems: [noTool], feedback: callFeedback },
      },
    },
    {
      title: 'answer first, but there is only an action',
      spec: specWith({ precedence: 'answer' }),
      text: action,
      turn: { ...base, blocks: { action: 1 }, kind: 'calls', calls: [call] },
    },
    {
      title: 'an empty action beside an answer',
      text: `<action></action>${answer}`,
      turn: {
        ...base,
        blocks: { answer: 1 },
        kind: 'answer',
        candidates: [{ kind: 'value', value: 'X' }],
        attached: null,
      },
    },
    {
      title: 'an empty list of calls beside an answer',
      text: `<action>[]</action>${answer}`,
      turn: {
        ...base,
        blocks: { action: 1, answer: 1 },
        kind: 'answer',
        candidates: [{ kind: 'value', value: 'X' }],
        attached: null,
      },
    },
    {
      title: 'two action blocks as one batch',
      text: `${action}<action>tool: book</action>`,
      turn: {
        ...base,
        blocks: { action: 2 },
        kind: 'calls',
        calls: [call, { callId: '4.2', tool: 'book', args: {} }],
      },
    },
    {
      title: 'an unreadable action beside an answer',
      text: `${badAction}${answer}`,
      turn: {
        ...base,
        blocks: { action: 1, answer: 1 },
        kind: 'malformed',
        family: 'toolchain',
        problems: [noTool],
        feedback: callFeedback,
        callAnswers: [],
        ends: false,
      },
    },
    {
      title: 'nothing readable',
      text: 'Hello',
      turn: malformed({}, 'no_sections', 'no section was found', noSectionsText),
    },
    {
      title: 'nothing readable, and that is the end',
      spec: specWith({ onUnparsed: 'fail' }),
      text: 'Hello',
      turn: malformed({}, 'no_sections', 'no section was found', noSectionsText, true),
    },
    {
      title: 'nothing readable, judged as a whole',
      spec: specWith({ onUnparsed: 'answer' }),
      text: ' Hello ',
      turn: {
        ...base,
        blocks: {},
        kind: 'answer',
        candidates: [{ kind: 'value', value: 'Hello' }],
        attached: null,
        unparsed: { code: 'no_sections', message: 'no section was found' },
      },
    },
    {
      title: 'an empty reply, which is not judged',
      spec: specWith({ onUnparsed: 'answer' }),
      text: ' ',
      turn: malformed(
        {},
        'empty_turn',
        'the reply holds neither an action nor an answer',
        emptyText,
      ),
    },
    {
      title: 'thinking only',
      text: '<thinking>t</thinking>',
      turn: malformed(
        { thinking: 1 },
        'empty_turn',
        'the reply holds neither an action nor an answer',
        emptyText,
      ),
    },
    {
      title: 'thinking only, and that is the end',
      spec: specWith({ onUnparsed: 'fail' }),
      text: '<thinking>t</thinking>',
      turn: malformed(
        { thinking: 1 },
        'empty_turn',
        'the reply holds neither an action nor an answer',
        emptyText,
        true,
      ),
    },
    {
      title: 'thinking only, with `answer`',
      spec: specWith({ onUnparsed: 'answer' }),
      text: '<thinking>t</thinking>',
      turn: malformed(
        { thinking: 1 },
        'empty_turn',
        'the reply holds neither an action nor an answer',
        emptyText,
      ),
    },
    {
      title: 'an action before an answer that is cut off',
      text: `${action}<answer>Hel`,
      cut: true,
      turn: malformed(
        {},
        'truncated_reply',
        'the reply was cut off by the length limit inside the section answer',
        'Your reply was cut off by the length limit inside the section answer. Nothing in it was run. Write less and work in steps.',
        false,
        'answer',
      ),
    },
    {
      title: 'thinking, then cut off between sections',
      text: '<thinking>t</thinking> so',
      cut: true,
      turn: malformed(
        { thinking: 1 },
        'truncated_reply',
        'the reply was cut off by the length limit',
        'Your reply was cut off by the length limit. Nothing in it was run. Write less and work in steps.',
      ),
    },
    {
      title: 'an action, then cut off between sections',
      text: `${action} so`,
      cut: true,
      turn: { ...base, blocks: { action: 1 }, kind: 'calls', calls: [call] },
    },
    {
      title: 'strict: sections inside each other',
      spec: specWith({ format: { kind: 'xml', strict: true } }),
      text: `<thinking>then <answer></thinking>${answer}`,
      turn: malformed(
        {},
        'ambiguous_sections',
        'answer appears inside thinking',
        'Your reply mixes sections: answer appears inside thinking. Close one before you open the next.',
        false,
        'thinking',
      ),
    },
    {
      title: 'strict Markdown: an unknown section',
      spec: specWith({ format: { kind: 'markdown', strict: true } }),
      text: '# Answer\nX\n# More\ny',
      turn: malformed(
        {},
        'unknown_section',
        'there is no section More',
        'There is no section More. The sections are thinking, action, answer.',
      ),
    },
    {
      title: 'without tools an action is no section',
      spec: reactSpec({ tools: [] }),
      text: `${action}<thinking>t</thinking>`,
      turn: malformed(
        { thinking: 1 },
        'empty_turn',
        'the reply holds neither an action nor an answer',
        'Your reply holds no answer. Finish in the answer section.',
      ),
    },
    {
      title: 'an unreadable JSON answer is judged as unfit later',
      spec: reactSpec({
        answer: { kind: 'json', section: 'answer', schema: {}, validators: [] },
      }),
      text: '<answer>{</answer>',
      turn: {
        ...base,
        blocks: { answer: 1 },
        kind: 'answer',
        candidates: [
          {
            kind: 'unreadable',
            problems: [
              {
                code: 'json_syntax',
                message: 'line 1, column 2: expected a key in double quotes, got end of text',
                line: 1,
                column: 2,
              },
            ],
          },
        ],
        attached: null,
      },
    },
    {
      title: 'names of its own',
      spec: reactSpec({
        toolchain: { kind: 'json', section: 'act' },
        answer: { kind: 'text', section: 'finish', validators: [] },
      }),
      text: '<act>{"tool": "search", "args": {"query": "x"}}</act>',
      turn: { ...base, blocks: { act: 1 }, kind: 'calls', calls: [call] },
    },
  ])('$title', ({ spec = reactSpec(), text, cut = false, turn }) => {
    expect(readTurn(spec, cut ? cutReply(text) : replyOf(text), 4)).toEqual(turn);
  });

  test.each([
    ['<thinking>t</thinking>\n<answer>\nX', ['X']],
    ['<thinking>t</thinking> <answer>X</answer', ['X']],
    ['<answer>X <b>bold</b> <', ['X <b>bold</b>']],
    ['Sure.\n  <answer>X<answer>', ['X']],
    ['<thinking>\nlong\n<answer>X', ['X']],
    ['I write <answer> soon', null],
    [`<answer>X\n${action}`, null],
    ['<answer>  ', null],
  ])('an answer may stay open at the end of a reply: %j', (text, contents) => {
    const turn = readTurn(reactSpec(), replyOf(text), 1);

    expect(turn.kind === 'answer' ? turn.candidates : null).toEqual(
      contents === null ? null : contents.map((value) => ({ kind: 'value', value })),
    );
    expect(readTurn(reactSpec(), cutReply(text), 1).kind).not.toBe('answer');
  });

  test('a filtered reply is empty', () => {
    const reply = replyOf('I can', { finishReason: 'content_filter' });

    expect(readTurn(reactSpec(), reply, 1)).toEqual(
      malformed({}, 'empty_turn', 'the reply holds neither an action nor an answer', emptyText),
    );
  });

  test('reads structured sections, which decide nothing [row 12]', () => {
    const spec = specWith({
      sections: [
        { name: 'plan', kind: 'json', schema: { type: 'object' } },
        { name: 'state', kind: 'yaml', schema: { properties: { id: { type: 'string' } } } },
        { name: 'note', kind: 'text' },
      ],
    });
    const text =
      '<plan>{"a": 1}</plan><plan>{</plan><state>id: 007</state><note>n</note><plan>```\n```</plan><answer>X</answer>';

    expect(readTurn(spec, replyOf(text), 1)).toEqual({
      ...base,
      blocks: { plan: 3, state: 1, note: 1, answer: 1 },
      sections: [
        { name: 'plan', value: { a: 1 } },
        { name: 'state', value: { id: '007' } },
      ],
      sectionErrors: [
        {
          name: 'plan',
          problems: [
            {
              code: 'json_syntax',
              message: 'line 1, column 2: expected a key in double quotes, got end of text',
              line: 1,
              column: 2,
            },
          ],
        },
      ],
      kind: 'answer',
      candidates: [{ kind: 'value', value: 'X' }],
      attached: null,
    });
  });

  test('reads the text around reasoning as one', () => {
    const reply = replyOf('', {
      parts: [
        { type: 'reasoning', text: '<answer>no</answer>' },
        { type: 'text', text: '<answer>X</ans' },
        { type: 'text', text: 'wer>' },
      ],
    });

    expect(readTurn(reactSpec(), reply, 1)).toMatchObject({
      candidates: [{ kind: 'value', value: 'X' }],
    });
  });

  test('any reply is a turn, without a throw [row 10]', () => {
    const text = fc
      .array(
        fc.oneof(
          fc.constantFrom('<action>', '</action>', '<answer>', '</answer>', '<plan>', '</plan>'),
          fc.constantFrom(
            'tool: ',
            'search',
            '\n',
            '{',
            '}',
            '- ',
            '```\n',
            '__proto__',
            '# Answer\n',
          ),
          fc.string({ unit: 'binary', maxLength: 4 }),
        ),
        { maxLength: 25 },
      )
      .map((pieces) => pieces.join(''));
    const specs = (['xml', 'markdown'] as const).flatMap((kind) =>
      (['yaml', 'json'] as const).map((toolchain) =>
        specWith(
          {
            format: { kind, strict: false },
            precedence: 'answer',
            sections: [{ name: 'plan', kind: 'yaml', schema: {} }],
          },
          { toolchain: { kind: toolchain, section: 'action' } },
        ),
      ),
    );
    fc.assert(
      fc.property(text, fc.constantFrom(...specs), fc.boolean(), (written, spec, cut) => {
        const turn = readTurn(spec, cut ? cutReply(written) : replyOf(written), 1);

        expect(JSON.parse(JSON.stringify(turn))).toEqual(turn);
      }),
      { numRuns: 500 },
    );
  });
});
