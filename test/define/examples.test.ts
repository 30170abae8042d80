import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { jsonAnswer, jsonSection, yamlSection } from '../../src/define/agent/reply-layout.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

const schema = z.object({ order: z.object({ count: z.int(), at: z.iso.datetime() }) });
const wrong = { order: { count: 'two', at: '2026-03-10T09:05:00Z' } };
const right = { order: { count: 2, at: '2026-03-10T09:05:00Z' } };

describe('examples that models are shown', () => {
  test.each([
    ['the JSON answer', jsonAnswer({ schema, example: wrong }), 'answer_schema'],
    ['section `plan`', jsonSection({ name: 'plan', schema, example: wrong }), 'section_schema'],
    ['section `plan`', yamlSection({ name: 'plan', schema, example: wrong }), 'section_schema'],
  ])('of %s that do not fit their schema are refused with the path', (owner, part, code) => {
    expect(part.problems).toEqual([
      {
        code,
        message: expect.stringMatching(
          new RegExp(
            `^Expected \`example\` of ${owner} to fit its schema, got .*At \`order.count\``,
          ),
        ) as string,
      },
    ]);
  });

  test('that do not fit end the definition of their agent', () => {
    expect(() =>
      defineAgent({
        name: 'clerk',
        mode: 'react',
        model: scriptedModel([]).model,
        answer: jsonAnswer({ schema, example: wrong }),
      }),
    ).toThrow('At `order.count`');
  });

  test('that fit are kept, also in forms that are coerced', () => {
    const spoken = { order: { count: 2, at: '2026-03-10 09:05' } };

    for (const example of [right, spoken]) {
      const answer = jsonAnswer({ schema, example });
      expect(answer.problems).toEqual([]);
      expect(answer.spec).toMatchObject({ example });
    }
  });
});
