import { describe, expect, test } from 'vitest';
import { buildRequest, modeOf } from '../../../src/core/modes/modes.ts';
import {
  failedCallResult,
  toolCallResult,
  type CallResult,
} from '../../../src/core/modes/observation.ts';
import type { Reply } from '../../../src/core/contract/model.ts';
import type { FormattedSection, Message } from '../../../src/core/base/message.ts';
import { toolchainOf } from '../../../src/core/toolchain/toolchain-of.ts';
import { replyOf } from '../runs/reply-fixture.ts';
import { reactSpec } from '../runs/spec-fixture.ts';

const spec = reactSpec();
const mode = modeOf(spec);
const yaml = toolchainOf(spec.toolchain);
const png = { type: 'media' as const, mediaType: 'image/png', data: 'AAAA' };
const wav = { type: 'media' as const, mediaType: 'audio/wav', url: 'https://example.org/a.wav' };

function callTo(tool: string, index: number): { callId: string; tool: string; args: {} } {
  return { callId: `1.${index}`, tool, args: {} };
}

const done = { attempts: 1, started: true, outcome: 'ok' as const };

function messagesOf(
  reply: Reply,
  outcome: { feedback?: readonly FormattedSection[]; results?: readonly CallResult[] },
): readonly Message[] {
  const turn = mode.readTurn(spec, reply, 1);
  return mode.turnMessages(spec, turn, reply, {
    sectionErrors: turn.sectionErrors,
    feedback: outcome.feedback ?? (turn.kind === 'malformed' ? turn.feedback : []),
    results: outcome.results ?? [],
  });
}

/** The text of the last message as the model reads it. */
function written(messages: readonly Message[]): string {
  const head = { spec, task: { text: 'x' } };
  const request = buildRequest(head, messages, {
    runId: 'r',
    iteration: 2,
    attempt: 1,
    lastTurn: false,
  });
  const part = request.messages.at(-2)?.parts[0];
  return part?.type === 'text' ? part.text : '';
}

describe('Entries of react', () => {
  test('results stand in the order of the calls, named as the tools [row 20]', () => {
    const reply = replyOf('<action>- tool: search\n- tool: fly</action>');

    const messages = messagesOf(reply, {
      results: [
        toolCallResult(callTo('search', 1), { ...done, output: '3 hits' }, yaml),
        failedCallResult(callTo('fly', 2), 'Error: unknown tool "fly". Tools: search.', false),
      ],
    });

    expect(messages).toEqual([
      { role: 'assistant', parts: reply.parts },
      {
        role: 'user',
        parts: [
          {
            type: 'sections',
            sections: [
              {
                name: 'observation',
                children: [
                  { name: 'search', content: '3 hits' },
                  { name: 'unknown_tool', content: 'Error: unknown tool "fly". Tools: search.' },
                ],
              },
            ],
          },
        ],
      },
    ]);
    expect(written(messages)).toBe(
      '<observation>\n<search>\n3 hits\n</search>\n<unknown_tool>\nError: unknown tool "fly". Tools: search.\n</unknown_tool>\n</observation>',
    );
  });

  test('media are numbered over the turn and follow the observation [row 36]', () => {
    const reply = replyOf('<action>- tool: search\n- tool: search</action>');

    const messages = messagesOf(reply, {
      results: [
        toolCallResult(callTo('search', 1), { ...done, output: { n: 1 }, media: [png, wav] }, yaml),
        toolCallResult(
          callTo('search', 2),
          { ...done, media: [png], instructions: 'Look at it.' },
          yaml,
        ),
      ],
    });

    expect(messages[1]).toEqual({
      role: 'user',
      parts: [
        {
          type: 'sections',
          sections: [
            {
              name: 'observation',
              children: [
                { name: 'search', content: 'n: 1\n[media 1: image/png]\n[media 2: audio/wav]' },
                {
                  name: 'search',
                  children: [
                    { name: 'result', content: '(no output)\n[media 3: image/png]' },
                    { name: 'instructions', content: 'Look at it.' },
                  ],
                },
              ],
            },
          ],
        },
        png,
        wav,
        png,
      ],
    });
  });

  test('errors of sections come first, then feedback, then results [row 33]', () => {
    const answerFirst = reactSpec({
      answer: { kind: 'text', section: 'answer', validators: ['v'] },
    });
    const reply = replyOf('<action>tool: search</action><answer>X</answer>');
    const turn = {
      ...mode.readTurn(answerFirst, reply, 1),
      sectionErrors: [{ name: 'plan', problems: [{ code: 'schema', message: 'a: missing' }] }],
    };

    const [, observation] = mode.turnMessages(answerFirst, turn, reply, {
      sectionErrors: turn.sectionErrors,
      feedback: [{ name: 'feedback', content: 'No.' }],
      results: [failedCallResult(callTo('search', 1), 'Error: x')],
    });

    expect(observation?.parts).toEqual([
      {
        type: 'sections',
        sections: [
          {
            name: 'observation',
            children: [
              { name: 'error', content: 'The section plan could not be read.\n- a: missing' },
              { name: 'feedback', content: 'No.' },
              { name: 'search', content: 'Error: x' },
            ],
          },
        ],
      },
    ]);
  });

  test('an answer that is not accepted tells of the unreadable calls beside it [row 33]', () => {
    const answerFirst = reactSpec();
    const withPrecedence = {
      ...answerFirst,
      react: answerFirst.react && { ...answerFirst.react, precedence: 'answer' as const },
    };
    const reply = replyOf('<action>args: {}</action><answer>X</answer>');
    const turn = mode.readTurn(withPrecedence, reply, 1);

    const [, observation] = mode.turnMessages(withPrecedence, turn, reply, {
      sectionErrors: [],
      feedback: [{ name: 'feedback', content: 'No.' }],
      results: [],
    });

    expect(observation?.parts).toEqual([
      {
        type: 'sections',
        sections: [
          {
            name: 'observation',
            children: [
              { name: 'feedback', content: 'No.' },
              {
                name: 'error',
                content:
                  'The action could not be read, nothing was run.\n- call 1: the field "tool" is missing',
              },
            ],
          },
        ],
      },
    ]);
  });

  test('a reply that cannot be read is cut to 8 KB [row 34]', () => {
    const reply = replyOf('x'.repeat(10_000));

    expect(messagesOf(reply, {})).toEqual([
      {
        role: 'assistant',
        parts: [
          {
            type: 'text',
            text: `${'x'.repeat(8192)}\n[cut: 8192 of 10000 bytes shown]`,
          },
        ],
      },
      {
        role: 'user',
        parts: [
          {
            type: 'sections',
            sections: [
              {
                name: 'observation',
                children: [
                  {
                    name: 'error',
                    content:
                      'Your reply could not be read: it has none of the sections thinking, action, answer. Write it again as described under output_format.',
                  },
                ],
              },
            ],
          },
        ],
      },
    ]);
  });

  test('an empty reply leaves no message of the assistant [row 35]', () => {
    expect(messagesOf(replyOf(''), {}).map((message) => message.role)).toEqual(['user']);
  });

  test('reasoning is kept in the entry, and not sent back', () => {
    const reply = replyOf('', {
      parts: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: '<answer>X</answer>' },
      ],
    });

    expect(mode.answerMessages(reply)).toEqual([{ role: 'assistant', parts: reply.parts }]);
    expect(
      buildRequest({ spec, task: { text: '' } }, mode.answerMessages(reply), {
        runId: 'r',
        iteration: 2,
        attempt: 1,
        lastTurn: false,
      }).messages.slice(1),
    ).toEqual([
      { role: 'assistant', parts: [{ type: 'text', text: '<answer>X</answer>' }] },
      { role: 'user', parts: [{ type: 'text', text: 'Continue.' }] },
    ]);
  });

  test('inputs are a section `message`, then media [row 36]', () => {
    expect(mode.inputMessages({ text: 'Also look at B.', media: [png] })).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'sections', sections: [{ name: 'message', content: 'Also look at B.' }] },
          png,
        ],
      },
    ]);
    expect(mode.inputMessages({ text: '', media: [png] })).toEqual([
      { role: 'user', parts: [png] },
    ]);
    expect(mode.inputMessages({ text: '' })).toEqual([]);
  });

  test('a reply judged as a whole is told that it lacks sections [row 35]', () => {
    const turn = {
      ...mode.readTurn(spec, replyOf('<answer>X</answer>'), 1),
      kind: 'answer' as const,
      candidates: [],
      attached: null,
      unparsed: { code: 'no_sections', message: 'no section was found' },
    };

    expect(
      mode.answerFeedback(
        spec,
        turn,
        { kind: 'rejected', validator: 'v', feedback: [], value: 'x' },
        replyOf(''),
        { attempt: 1, of: null },
      ),
    ).toEqual([
      {
        name: 'error',
        content:
          'Your reply could not be read: it has none of the sections thinking, action, answer. Write it again as described under output_format.',
      },
      {
        name: 'feedback',
        content: 'The answer was not accepted. Improve it and answer again.',
      },
    ]);
    expect(
      mode.answerFeedback(spec, turn, { kind: 'accepted', value: 'X' }, replyOf(''), {
        attempt: 1,
        of: null,
      }),
    ).toEqual([]);
  });
});
