import { describe, expect, test } from 'vitest';
import type { Block, FormatReading } from '../../../src/core/format/format.ts';
import { xmlFormat } from '../../../src/core/format/xml.ts';

const names = ['thinking', 'action', 'answer'];
const whole = { wasCut: false };
const cut = { wasCut: true };

function blocks(...pairs: readonly (readonly [string, string])[]): FormatReading {
  return { kind: 'read', blocks: pairs.map(([name, content]): Block => ({ name, content })) };
}

const noSections: FormatReading = {
  kind: 'problem',
  problem: { code: 'no_sections', message: 'no section was found' },
};

function truncated(open?: string): FormatReading {
  const message = 'the reply was cut off by the length limit';
  return {
    kind: 'problem',
    problem:
      open === undefined
        ? { code: 'truncated_reply', message }
        : { code: 'truncated_reply', message: `${message} inside the section ${open}`, path: open },
  };
}

function ambiguous(inner: string, outer: string): FormatReading {
  return {
    kind: 'problem',
    problem: {
      code: 'ambiguous_sections',
      message: `${inner} appears inside ${outer}`,
      path: outer,
    },
  };
}

const answerX = blocks(['answer', 'X']);

describe('XML replies [row 9]', () => {
  test.each<{ title: string; text: string; reading: FormatReading; strict?: FormatReading }>([
    {
      title: '1 two sections',
      text: '<thinking>a</thinking>\n<answer>X</answer>',
      reading: blocks(['thinking', 'a'], ['answer', 'X']),
    },
    {
      title: '2 a quoted opening tag',
      text: '<thinking>see <answer>.</thinking><answer>X</answer>',
      reading: blocks(['thinking', 'see <answer>.'], ['answer', 'X']),
      strict: ambiguous('answer', 'thinking'),
    },
    {
      title: '3 a quoted section',
      text: '<thinking>use <answer>ex</answer> now</thinking><answer>X</answer>',
      reading: blocks(['thinking', 'use <answer>ex</answer> now'], ['answer', 'X']),
      strict: ambiguous('answer', 'thinking'),
    },
    {
      title: '4 a first tag that is text',
      text: '<answer>a <answer>b</answer>',
      reading: blocks(['answer', 'b']),
    },
    {
      title: '5 a section inside itself',
      text: '<answer>a<answer>b</answer>c</answer>',
      reading: blocks(['answer', 'a<answer>b</answer>c']),
    },
    { title: '6 an empty section', text: '<action></action><answer>X</answer>', reading: answerX },
    { title: '7 an unclosed section', text: '<answer>unfinished', reading: noSections },
    { title: '7 a blank section', text: '<thinking> </thinking>', reading: noSections },
    { title: '7 attributes', text: '<answer id="1">X</answer>', reading: noSections },
    {
      title: '11 other tags and text around',
      text: 'Hi <b>you</b> <answer>X</answer> bye',
      reading: answerX,
    },
    { title: '11 case and blanks', text: '<ANSWER>X</Answer >', reading: answerX },
    { title: '11 a stray closing tag', text: '</answer><answer>X</answer>', reading: answerX },
    {
      title: '12 an unclosed section before a closed one',
      text: '<thinking>never closed <action>C</action>',
      reading: blocks(['action', 'C']),
    },
    {
      title: '13 a section twice',
      text: '<action>A</action><action>B</action>',
      reading: blocks(['action', 'A'], ['action', 'B']),
    },
    {
      title: '14 tags in a value',
      text: '<action>{"html":"<answer>no</answer>"}</action>',
      reading: blocks(['action', '{"html":"<answer>no</answer>"}']),
      strict: ambiguous('answer', 'action'),
    },
    {
      title: '15 nothing is decoded',
      text: '<answer>1 < 2 &amp; a</action>b</answer>',
      reading: blocks(['answer', '1 < 2 &amp; a</action>b']),
      strict: ambiguous('action', 'answer'),
    },
    {
      title: '16 the outer one never closes',
      text: '<thinking>a <thinking>b</thinking> <answer>X</answer>',
      reading: blocks(['thinking', 'b'], ['answer', 'X']),
    },
    {
      title: '17 the outermost wins',
      text: '<answer><thinking>t</thinking>X</answer>',
      reading: blocks(['answer', '<thinking>t</thinking>X']),
      strict: ambiguous('thinking', 'answer'),
    },
    {
      title: '18 a fence around the reply',
      text: '```xml\n<answer>X</answer>\n```',
      reading: answerX,
    },
    { title: 'CR LF', text: '<answer>a\r\nb\rc</answer>', reading: blocks(['answer', 'a\nb\nc']) },
    { title: 'nothing', text: '', reading: noSections },
  ])('$title', ({ text, reading, strict }) => {
    expect(xmlFormat().parse(text, names, whole)).toEqual(reading);
    expect(xmlFormat({ strict: true }).parse(text, names, whole)).toEqual(strict ?? reading);
  });

  test.each<{ title: string; text: string; reading: FormatReading }>([
    { title: '8 inside a section', text: '<answer>unfinished', reading: truncated('answer') },
    { title: '8 outermost', text: '<action>{"q":"<answer>', reading: truncated('action') },
    { title: '8 outside', text: 'I will look', reading: truncated() },
    { title: '8 empty sections only', text: '<action></action>', reading: truncated() },
    {
      title: '9 behind a closed one',
      text: '<action>C</action><answer>Hel',
      reading: truncated('answer'),
    },
    { title: '10 in between', text: '<action>C</action> and so', reading: blocks(['action', 'C']) },
    {
      title: 'an empty section inside an open one',
      text: '<action>C</action><answer>Hel<thinking></thinking>',
      reading: truncated('answer'),
    },
    {
      title: 'an unclosed one before the last block',
      text: '<thinking>a <action>C</action>',
      reading: blocks(['action', 'C']),
    },
  ])('a cut reply: $title [row 35]', ({ text, reading }) => {
    expect(xmlFormat().parse(text, names, cut)).toEqual(reading);
    expect(xmlFormat({ strict: true }).parse(text, names, cut)).toEqual(reading);
  });

  test('names keep the case in which they are registered', () => {
    expect(xmlFormat().parse('<ANSWER>X</answer>', ['Answer'], whole)).toEqual(
      blocks(['Answer', 'X']),
    );
  });
});

describe('Writing XML [row 11]', () => {
  test.each([
    { title: 'no sections', sections: [], text: '' },
    { title: 'an empty section', sections: [{ name: 'note' }], text: '<note>\n\n</note>' },
    {
      title: 'siblings',
      sections: [
        { name: 'a', content: '1' },
        { name: 'b', content: '2' },
      ],
      text: '<a>\n1\n</a>\n<b>\n2\n</b>',
    },
    {
      title: 'children',
      sections: [
        {
          name: 'observation',
          children: [
            { name: 'search', content: '3 hits' },
            { name: 'get_weather', content: 'Error: no such city' },
          ],
        },
      ],
      text: '<observation>\n<search>\n3 hits\n</search>\n<get_weather>\nError: no such city\n</get_weather>\n</observation>',
    },
    {
      title: 'content before children',
      sections: [{ name: 'a', content: 'x', children: [{ name: 'b' }] }],
      text: '<a>\nx\n<b>\n\n</b>\n</a>',
    },
    {
      title: 'closing tags of the section and those around it',
      sections: [
        { name: 'a', children: [{ name: 'b', content: 'x</a>y</B >z</c><a>' }] },
        { name: 'c', content: '</a></b>' },
      ],
      text: '<a>\n<b>\nx<\\/a>y<\\/B >z</c><a>\n</b>\n</a>\n<c>\n</a></b>\n</c>',
    },
    {
      title: 'verbatim content',
      sections: [{ name: 'a', content: '</a>', isVerbatim: true as const }],
      text: '<a>\n</a>\n</a>',
    },
  ])('$title', ({ sections, text }) => {
    expect(xmlFormat().format(sections)).toBe(text);
  });

  test('describes sections', () => {
    const text = xmlFormat().describe([
      { name: 'thinking', guidance: 'Think.' },
      { name: 'action', guidance: 'Act.\n\nOne call.' },
      { name: 'answer', guidance: 'Answer.' },
    ]);

    expect(text).toBe(
      'Write your reply as the sections below. Open and close each one with its tag, exactly as spelled, and put nothing outside them.\n\n<thinking>\nThink.\n</thinking>\n\n<action>\nAct.\n\nOne call.\n</action>\n\n<answer>\nAnswer.\n</answer>',
    );
  });
});
