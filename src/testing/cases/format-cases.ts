/** The laws of a format, as cases for the tests of its author. */
import type { FormattedSection } from '../../core/base/message.ts';
import type { Block, DescribedSection } from '../../core/format/format.ts';
import type { OwnFormat } from '../../core/format/own-format.ts';
import { shown } from '../../core/text/shown.ts';
import {
  broken,
  cutsOf,
  frozen,
  halvesOf,
  hostileTexts,
  readSafely,
  wantSame,
  wantText,
  type PartCase,
} from './part-case.ts';

const NAMES: readonly string[] = frozen(['thinking', 'plan', 'action', 'answer']);

const DESCRIBED: readonly DescribedSection[] = frozen([
  { name: 'thinking', guidance: 'Say what is missing.' },
  { name: 'action', guidance: 'Write a call:\n\ntool: tool_name\nargs:\n  name: value' },
  { name: 'answer', guidance: 'Write the finished answer here.' },
]);

/** Content that has no marks of a usual format. */
const CONTENTS: readonly string[] = [
  'x',
  'two\nlines',
  'a paragraph\n\nand another, with "quotes", commas; and (brackets)',
  '- a list\n  - in a list\n\ttab',
  'ünïcödé 😀 文字',
  '{"tool": "search", "args": {"query": "a: b"}}',
];

/**
 * The laws of a format, as named cases for any test runner: it never throws, a model that follows the
 * description is understood, content stays in its section, and no reply holds a worker.
 *
 * @example
 * for (const { name, run } of formatCases(brackets)) test(name, run);
 */
export function formatCases(format: OwnFormat): readonly PartCase[] {
  const parse = (text: string, names = NAMES): readonly Block[] => parsed(format, text, names);
  const written = (): string =>
    CONTENTS.map((content, index) => {
      const name = NAMES[index % NAMES.length] ?? '';
      return writtenBy(format, [{ name, content }]);
    }).join('\n');
  return [
    {
      name: 'describes each section with its guidance',
      run: () => {
        const text = describedBy(format);
        for (const { name, guidance } of DESCRIBED) {
          if (!text.includes(name)) broken(`the description to name ${name}`, text);
          const first = guidance.split('\n')[0] ?? '';
          if (!text.includes(first)) broken(`the description to have the guidance ${first}`, text);
        }
        wantSame('the second description', text, describedBy(format));
      },
    },
    {
      name: 'reads the layout that it describes',
      run: () => {
        const text = describedBy(format);
        const found = parse(
          text,
          DESCRIBED.map(({ name }) => name),
        );
        const wanted = DESCRIBED.map(({ name, guidance }) => ({ name, content: guidance }));
        wantSame('the sections of the description', wanted, found, text);
      },
    },
    {
      name: 'reads what it writes',
      run: () => {
        for (const content of CONTENTS) {
          const sections = frozen(NAMES.map((name) => ({ name, content })));
          const text = writtenBy(format, sections);
          wantSame('the sections', sections, parse(text), text);
        }
      },
    },
    {
      name: 'reads the same sections from the same reply',
      run: () => wantSame('the second reading', parse(written()), parse(written())),
    },
    {
      name: 'finds no section in a reply without one',
      run: () => {
        for (const text of ['', ' \n', 'I do not know.', 'The answer is 42.\nThe plan holds.']) {
          wantSame('the sections', [], parse(text), text);
        }
      },
    },
    {
      name: 'keeps content inside its section',
      run: () => {
        const inner = writtenBy(format, [{ name: 'answer', content: 'x' }]);
        const text = writtenBy(format, frozen([{ name: 'action', content: `a\n${inner}\nb` }]));
        const names = parse(text).map(({ name }) => name);
        if (names.includes('answer')) broken('content to open no section', names.join(), text);
      },
    },
    {
      name: 'writes sections in sections, empty ones and those without content',
      run: () => {
        const children = [
          { name: 'error', content: 'no 😀' },
          { name: 'search', content: '' },
        ];
        for (const sections of [[], [{ name: 'observation', children }], [{ name: 'task' }]]) {
          writtenBy(format, frozen(sections));
        }
      },
    },
    {
      name: 'reads replies that are cut off at any place',
      run: () => {
        const text = writtenBy(
          format,
          NAMES.map((name) => ({ name, content: 'two\nlines 😀' })),
        );
        const whole = parse(text).map(({ name }) => name);
        for (const cut of cutsOf(text)) {
          const names = parse(cut).map(({ name }) => name);
          wantSame('the names of the sections', whole.slice(0, names.length), names, cut);
        }
      },
    },
    {
      name: 'reads and writes halves of characters',
      run: () => {
        for (const text of [...halvesOf(written()), ...halvesOf(describedBy(format))]) {
          parse(text);
          writtenBy(format, [{ name: 'task', content: text }]);
        }
      },
    },
    {
      name: 'reads hostile and huge replies in time',
      run: () => {
        for (const text of [...hostileTexts(written()), ...hostileTexts(describedBy(format))]) {
          parse(text);
        }
      },
    },
  ];
}

function describedBy(format: OwnFormat): string {
  return wantText('`describe`', format.describe(DESCRIBED));
}

function writtenBy(format: OwnFormat, sections: readonly FormattedSection[]): string {
  return wantText('`format`', format.format(sections));
}

/** The sections of `text`, as the loop takes them. */
function parsed(format: OwnFormat, text: string, names: readonly string[]): readonly Block[] {
  const reading = readSafely((whole) => format.parse(whole, names), text);
  if (reading.kind === 'threw') broken('`parse` never to throw', reading.text, text);
  const { value } = reading;
  if (!Array.isArray(value)) broken('`parse` to return a list', value, text);
  return (value as unknown as readonly Block[])
    .map((block) => {
      if (typeof block?.name !== 'string' || typeof block.content !== 'string') {
        broken('sections with `name` and `content`', shown(block), text);
      }
      return { name: block.name, content: block.content.trim() };
    })
    .filter(({ name, content }) => names.includes(name) && content !== '');
}
