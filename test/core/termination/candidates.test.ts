import { describe, expect, test } from 'vitest';
import type { AnswerSpec } from '../../../src/core/contract/spec.ts';
import {
  answerGuidance,
  candidatesOf,
  judge,
  needsCheck,
  valuesToCheck,
} from '../../../src/core/termination/candidates.ts';
import type { Candidate, Judgement } from '../../../src/core/contract/judgement.ts';
import type { Verdict } from '../../../src/core/contract/outcome.ts';

const text: AnswerSpec = { kind: 'text', section: 'answer', validators: [] };
const schema = { type: 'object', properties: { b: {}, a: {} } };
const json: AnswerSpec = { kind: 'json', section: 'answer', schema, validators: [] };

const unreadable: Candidate = {
  kind: 'unreadable',
  problems: [
    {
      code: 'json_syntax',
      message: 'line 1, column 1: expected a value, got `x`',
      line: 1,
      column: 1,
    },
  ],
};

describe('Candidates of a turn [row 30]', () => {
  test.each<{ title: string; spec: AnswerSpec; contents: string[]; candidates: Candidate[] }>([
    {
      title: 'text, trimmed',
      spec: text,
      contents: [' a\nb ', ' '],
      candidates: [{ kind: 'value', value: 'a\nb' }],
    },
    {
      title: 'JSON, in the written order of keys',
      spec: json,
      contents: ['{"b": 1, "a": 2}'],
      candidates: [{ kind: 'value', value: { b: 1, a: 2 } }],
    },
    {
      title: 'JSON in a code block',
      spec: json,
      contents: ['Here:\n```json\n[1]\n```'],
      candidates: [{ kind: 'value', value: [1] }],
    },
    { title: 'an empty code block', spec: json, contents: ['```\n```'], candidates: [] },
    {
      title: 'several blocks',
      spec: json,
      contents: ['x', 'null'],
      candidates: [unreadable, { kind: 'value', value: null }],
    },
    {
      title: 'text around a block',
      spec: json,
      contents: ['a\nb\n```\n1\n```'],
      candidates: [
        {
          kind: 'unreadable',
          problems: [
            {
              code: 'text_around_block',
              message: 'There is text around the code block. Write only the value.',
            },
          ],
        },
      ],
    },
  ])('$title', ({ spec, contents, candidates }) => {
    expect(candidatesOf(spec, contents)).toEqual(candidates);
  });

  test('are checked elsewhere only with a schema or validators', () => {
    expect([text, json, { ...text, validators: ['v'] }].map(needsCheck)).toEqual([
      false,
      true,
      true,
    ]);
    expect(valuesToCheck([unreadable, { kind: 'value', value: 1 }])).toEqual([1]);
  });
});

describe('Judging in order [row 30]', () => {
  const one: Candidate = { kind: 'value', value: 1 };
  const two: Candidate = { kind: 'value', value: 2 };
  const unfit: Verdict = { kind: 'unfit', problems: ['a: missing', 'b: missing'] };
  const rejected = { kind: 'rejected', validator: 'v', feedback: [] } as const;
  const accepted: Verdict = { kind: 'accepted' };
  const syntax = unreadable.kind === 'unreadable' ? unreadable.problems : [];
  const unfitProblems = [
    { code: 'schema', message: 'a: missing' },
    { code: 'schema', message: 'b: missing' },
  ];

  test.each<{
    title: string;
    candidates: Candidate[];
    verdicts: Verdict[] | null;
    judgement: Judgement;
  }>([
    { title: 'nothing', candidates: [], verdicts: null, judgement: { kind: 'continue' } },
    {
      title: 'no check is needed',
      candidates: [one, two],
      verdicts: null,
      judgement: { kind: 'accepted', value: 1 },
    },
    {
      title: 'accepted as it is',
      candidates: [one],
      verdicts: [accepted],
      judgement: { kind: 'accepted', value: 1 },
    },
    {
      title: 'accepted with a changed value',
      candidates: [one],
      verdicts: [{ kind: 'accepted', value: null }],
      judgement: { kind: 'accepted', value: null },
    },
    {
      title: 'unreadable, then accepted',
      candidates: [unreadable, two],
      verdicts: [accepted],
      judgement: { kind: 'accepted', value: 2 },
    },
    {
      title: 'unfit, then accepted',
      candidates: [one, two],
      verdicts: [unfit, accepted],
      judgement: { kind: 'accepted', value: 2 },
    },
    {
      title: 'unfit, then rejected',
      candidates: [one, two],
      verdicts: [unfit, { ...rejected, value: 'coerced' }],
      judgement: { ...rejected, value: 'coerced' },
    },
    {
      title: 'rejected, the next is not looked at',
      candidates: [one, two],
      verdicts: [rejected],
      judgement: { ...rejected, value: 1 },
    },
    {
      title: 'all unfit',
      candidates: [unreadable, one],
      verdicts: [unfit],
      judgement: {
        kind: 'unfit',
        problems: [...syntax, ...unfitProblems],
        lines: ['line 1, column 1: expected a value, got `x`', 'a: missing', 'b: missing'],
      },
    },
    {
      title: 'all unreadable',
      candidates: [unreadable],
      verdicts: [],
      judgement: {
        kind: 'unfit',
        problems: syntax,
        lines: ['line 1, column 1: expected a value, got `x`'],
      },
    },
  ])('$title', ({ candidates, verdicts, judgement }) => {
    expect(judge(candidates, verdicts)).toEqual(judgement);
  });
});

describe('Guidance of answers [row 12]', () => {
  test.each<{ title: string; spec: AnswerSpec; guidance: string }>([
    { title: 'text', spec: text, guidance: 'Write the finished answer here.' },
    { title: 'text, given', spec: { ...text, guidance: 'Be brief.' }, guidance: 'Be brief.' },
    {
      title: 'JSON',
      spec: json,
      guidance:
        'Write the finished answer here.\n\nWrite one JSON value that fits this schema:\n{"type":"object","properties":{"b":{},"a":{}}}',
    },
    {
      title: 'JSON, given, with an example',
      spec: { ...json, guidance: 'Rate it.', example: { a: 1 } },
      guidance:
        'Rate it.\n\nWrite one JSON value that fits this schema:\n{"type":"object","properties":{"b":{},"a":{}}}\n\nFor example:\n{"a":1}',
    },
  ])('$title', ({ spec, guidance }) => {
    expect(answerGuidance(spec)).toBe(guidance);
  });
});
