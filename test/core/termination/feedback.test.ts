import { describe, expect, test } from 'vitest';
import {
  explainCalls,
  explainReply,
  explainSection,
  explainUnfit,
  judgementFeedback,
  rewriteSection,
} from '../../../src/core/termination/feedback.ts';

const names = { sections: ['plan', 'act', 'finish'], action: 'act', answer: 'finish' };
const withoutTools = { ...names, sections: ['plan', 'finish'], action: null };

describe('Feedback [row 34]', () => {
  test.each([
    {
      title: 'no_sections',
      text: explainReply({ code: 'no_sections', message: '' }, names),
      expected:
        'Your reply could not be read: it has none of the sections plan, act, finish. Write it again as described under output_format.',
    },
    {
      title: 'empty_turn',
      text: explainReply({ code: 'empty_turn', message: '' }, names),
      expected:
        'Your reply holds neither an action nor an answer. Act in the act section, or finish in the finish section.',
    },
    {
      title: 'empty_turn without tools',
      text: explainReply({ code: 'empty_turn', message: '' }, withoutTools),
      expected: 'Your reply holds no answer. Finish in the finish section.',
    },
    {
      title: 'truncated_reply',
      text: explainReply({ code: 'truncated_reply', message: '' }, names),
      expected:
        'Your reply was cut off by the length limit. Nothing in it was run. Write less and work in steps.',
    },
    {
      title: 'truncated_reply inside a section',
      text: explainReply({ code: 'truncated_reply', message: '', path: 'finish' }, names),
      expected:
        'Your reply was cut off by the length limit inside the section finish. Nothing in it was run. Write less and work in steps.',
    },
    {
      title: 'ambiguous_sections',
      text: explainReply(
        { code: 'ambiguous_sections', message: 'act appears inside plan', path: 'plan' },
        names,
      ),
      expected:
        'Your reply mixes sections: act appears inside plan. Close one before you open the next.',
    },
    {
      title: 'unknown_section',
      text: explainReply(
        { code: 'unknown_section', message: 'there is no section Results' },
        names,
      ),
      expected: 'There is no section Results. The sections are plan, act, finish.',
    },
    {
      title: 'calls unreadable',
      text: explainCalls([
        { code: 'call_without_tool', message: 'call 1: the field "tool" is missing' },
        { code: 'call_shape', message: 'call 2: no' },
      ]),
      expected:
        'The action could not be read, nothing was run.\n- call 1: the field "tool" is missing\n- call 2: no',
    },
    {
      title: 'action_and_program',
      text: explainCalls([{ code: 'action_and_program', message: '' }]),
      expected: 'Write either an action or a program in one step, not both. Nothing was run.',
    },
    {
      title: 'several_programs',
      text: explainCalls([{ code: 'several_programs', message: '' }]),
      expected: 'Write one program per step. Nothing was run.',
    },
    {
      title: 'a structured section',
      text: explainSection('plan', ['a: missing', 'b: missing']),
      expected: 'The section plan could not be read.\n- a: missing\n- b: missing',
    },
    {
      title: 'answer unfit',
      text: explainUnfit(['a: missing'], rewriteSection('finish')),
      expected: 'The answer could not be used.\n- a: missing\nWrite the finish section again.',
    },
  ])('$title', ({ text, expected }) => {
    expect(text).toBe(expected);
  });

  test.each([
    { title: 'nothing to judge', judgement: { kind: 'continue' as const }, sections: [] },
    { title: 'accepted', judgement: { kind: 'accepted' as const, value: 1 }, sections: [] },
    {
      title: 'unfit',
      judgement: { kind: 'unfit' as const, problems: [], lines: ['a: missing'] },
      sections: [
        { name: 'error', content: 'The answer could not be used.\n- a: missing\nAnswer again.' },
      ],
    },
    {
      title: 'rejected without feedback',
      judgement: { kind: 'rejected' as const, validator: 'v', feedback: [], value: 1 },
      sections: [
        {
          name: 'feedback',
          content: 'The answer was not accepted. Improve it and answer again.',
        },
      ],
    },
    {
      title: 'rejected with sections',
      judgement: {
        kind: 'rejected' as const,
        validator: 'v',
        feedback: [{ name: 'tone', content: 'Too stiff.' }],
        value: 1,
      },
      sections: [{ name: 'tone', content: 'Too stiff.' }],
    },
  ])('sections of a judgement: $title', ({ judgement, sections }) => {
    expect(judgementFeedback(judgement, 'Answer again.')).toEqual(sections);
  });
});
