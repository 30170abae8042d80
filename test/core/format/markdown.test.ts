import { describe, expect, test } from 'vitest';
import type { FormatReading } from '../../../src/core/format/format.ts';
import { markdownFormat } from '../../../src/core/format/markdown.ts';

const names = ['thinking', 'action', 'answer'];

function blocks(...pairs: readonly (readonly [string, string])[]): FormatReading {
  return { kind: 'read', blocks: pairs.map(([name, content]) => ({ name, content })) };
}

const noSections: FormatReading = {
  kind: 'problem',
  problem: { code: 'no_sections', message: 'no section was found' },
};

function unknown(title: string): FormatReading {
  return {
    kind: 'problem',
    problem: { code: 'unknown_section', message: `there is no section ${title}` },
  };
}

const answerX = blocks(['answer', 'X']);

describe('Markdown replies [row 9]', () => {
  test.each<{ title: string; text: string; reading: FormatReading; strict?: FormatReading }>([
    {
      title: '1 two sections',
      text: '# Thinking\na\n# Answer\nX',
      reading: blocks(['thinking', 'a'], ['answer', 'X']),
    },
    { title: '2 text before', text: 'intro\n# answer\nX', reading: answerX },
    { title: '2 a colon', text: '# Answer:\nX', reading: answerX },
    { title: '2 a closing #', text: '# Answer #\nX', reading: answerX },
    { title: '2 more blanks', text: '#   Answer\nX', reading: answerX },
    { title: '2 a tab', text: '#\tAnswer  \nX', reading: answerX },
    { title: '3 level 2', text: '## Answer\nX', reading: noSections },
    { title: '3 a blank before', text: ' # Answer\nX', reading: noSections },
    { title: '3 no blank behind', text: '#Answer\nX', reading: noSections },
    { title: '3 the title on the next line', text: '#\nAnswer\nX', reading: noSections },
    {
      title: '3 emphasis',
      text: '# **Answer**\nX',
      reading: noSections,
      strict: unknown('**Answer**'),
    },
    {
      title: '4 an unknown heading inside',
      text: '# Answer\nText\n# Results\nmore',
      reading: blocks(['answer', 'Text\n# Results\nmore']),
      strict: unknown('Results'),
    },
    {
      title: '5 an unknown heading before',
      text: '# Title\n# Answer\n## Part\nx',
      reading: blocks(['answer', '## Part\nx']),
      strict: unknown('Title'),
    },
    {
      title: '6 a heading inside a fence',
      text: '# Action\n```yaml\n# note\ntool: a\n```',
      reading: blocks(['action', '```yaml\n# note\ntool: a\n```']),
    },
    {
      title: '7 a comment that looks like a heading',
      text: '# Action\ntool: a\n# note\nargs: {}',
      reading: blocks(['action', 'tool: a\n# note\nargs: {}']),
      strict: unknown('note'),
    },
    { title: '8 an empty section', text: '# Action\n# Answer\nX', reading: answerX },
    {
      title: '8 a section twice',
      text: '# Answer\na\n# Answer\nb',
      reading: blocks(['answer', 'a'], ['answer', 'b']),
    },
    {
      title: '9 two sections, answer first',
      text: '# Answer\nSee\n# Action\nplan',
      reading: blocks(['answer', 'See'], ['action', 'plan']),
    },
    {
      title: '10 a fence that never closes',
      text: '# Answer\n```\n# Action\nC',
      reading: blocks(['answer', '```'], ['action', 'C']),
    },
    {
      title: 'a fence of tildes around a fence of backticks',
      text: '# Answer\n~~~~\n```\n# Action\n~~~\n~~~~\nend',
      reading: blocks(['answer', '~~~~\n```\n# Action\n~~~\n~~~~\nend']),
    },
    {
      title: 'a fence closes with at least as many marks',
      text: '# Answer\n```\n# Action\n`````\n# Action\nC',
      reading: blocks(['answer', '```\n# Action\n`````'], ['action', 'C']),
    },
    {
      title: 'inline code is no fence',
      text: '# Answer\n```a``` b\n# Action\nC\n```\n',
      reading: blocks(['answer', '```a``` b'], ['action', 'C\n```']),
    },
    { title: 'CR LF', text: '# Answer\r\nX\r\n', reading: answerX },
    { title: 'empty sections only', text: '# Answer\n\n# Action', reading: noSections },
  ])('$title', ({ text, reading, strict }) => {
    expect(markdownFormat().parse(text, names, { wasCut: false })).toEqual(reading);
    expect(markdownFormat({ strict: true }).parse(text, names, { wasCut: false })).toEqual(
      strict ?? reading,
    );
  });

  test.each([
    { title: '11 inside the last section', text: '# Answer\nX', open: 'answer' },
    { title: 'behind a heading', text: '# Action\nC\n# Answer', open: 'answer' },
    { title: 'outside', text: 'I will', open: undefined },
  ])('a cut reply: $title [row 35]', ({ text, open }) => {
    const message = 'the reply was cut off by the length limit';

    expect(markdownFormat().parse(text, names, { wasCut: true })).toEqual({
      kind: 'problem',
      problem:
        open === undefined
          ? { code: 'truncated_reply', message }
          : {
              code: 'truncated_reply',
              message: `${message} inside the section ${open}`,
              path: open,
            },
    });
  });

  test('quotes 80 characters of an unknown title', () => {
    const reading = markdownFormat({ strict: true }).parse(`# ${'x'.repeat(100)}`, names, {
      wasCut: false,
    });

    expect(reading).toEqual(unknown('x'.repeat(80)));
  });
});

describe('Writing Markdown [row 11]', () => {
  test.each([
    { title: 'no sections', sections: [], text: '' },
    { title: 'an empty section', sections: [{ name: 'note' }], text: '# note' },
    {
      title: 'siblings',
      sections: [
        { name: 'a', content: '1' },
        { name: 'b', content: '2' },
      ],
      text: '# a\n1\n\n# b\n2',
    },
    {
      title: 'children',
      sections: [
        {
          name: 'observation',
          content: 'two calls',
          children: [
            { name: 'search', content: '3 hits' },
            { name: 'get_weather', children: [{ name: 'result', content: 'rain' }] },
          ],
        },
      ],
      text: '# observation\ntwo calls\n## search\n3 hits\n\n## get_weather\n### result\nrain',
    },
    {
      title: 'lines that would end the section or one around it',
      sections: [
        {
          name: 'a',
          content: '# x\n## y\n#z',
          children: [{ name: 'b', content: '# x\n## y\n### z' }],
        },
      ],
      text: '# a\n\\# x\n## y\n#z\n## b\n\\# x\n\\## y\n### z',
    },
    {
      title: 'verbatim content',
      sections: [{ name: 'a', content: '# x', isVerbatim: true as const }],
      text: '# a\n# x',
    },
  ])('$title', ({ sections, text }) => {
    expect(markdownFormat().format(sections)).toBe(text);
  });

  test('describes sections', () => {
    const text = markdownFormat().describe([
      { name: 'thinking', guidance: 'Think.' },
      { name: 'action', guidance: 'Act.' },
      { name: 'answer', guidance: 'Answer.' },
    ]);

    expect(text).toBe(
      'Write your reply as the sections below. Start each one with its level-1 heading, and use level-1 headings for nothing else.\n\n# thinking\nThink.\n\n# action\nAct.\n\n# answer\nAnswer.',
    );
  });
});
