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
  return Object.entries(LAWS).map(([name, law]) => ({ name, run: () => law(format) }));
}

/** The laws, by name. */
const LAWS: Readonly<Record<string, (format: OwnFormat) => void>> = {
  'describes each section with its guidance': (format) => {
    const text = describedBy(format);
    for (const { name, guidance } of DESCRIBED) {
      if (!text.includes(name)) broken(`the description to name ${name}`, text);
      const first = guidance.split('\n')[0] ?? '';
      if (!text.includes(first)) broken(`the description to have the guidance ${first}`, text);
    }
    wantSame('the second description', text, describedBy(format));
  },
  'reads the layout that it describes': (format) => {
    const text = describedBy(format);
    const found = parsed(
      format,
      text,
      DESCRIBED.map(({ name }) => name),
    );
    const wanted = DESCRIBED.map(({ name, guidance }) => ({ name, content: guidance }));
    wantSame('the sections of the description', wanted, found, text);
  },
  'reads what it writes': (format) => {
    for (const content of CONTENTS) {
      const sections = frozen(NAMES.map((name) => ({ name, content })));
      const text = writtenBy(format, sections);
      wantSame('the sections', sections, parsed(format, text), text);
    }
  },
  'reads the same sections from the same reply': (format) =>
    wantSame(
      'the second reading',
      parsed(format, sampleBy(format)),
      parsed(format, sampleBy(format)),
    ),
  'finds no section in a reply without one': (format) => {
    for (const text of ['', ' \n', 'I do not know.', 'The answer is 42.\nThe plan holds.']) {
      wantSame('the sections', [], parsed(format, text), text);
    }
  },
  'keeps content inside its section': (format) => {
    const inner = writtenBy(format, [{ name: 'answer', content: 'x' }]);
    const text = writtenBy(format, frozen([{ name: 'action', content: `a\n${inner}\nb` }]));
    const names = parsed(format, text).map(({ name }) => name);
    if (names.includes('answer')) broken('content to open no section', names.join(), text);
  },
  'writes sections in sections, empty ones and those without content': (format) => {
    const children = [
      { name: 'error', content: 'no 😀' },
      { name: 'search', content: '' },
    ];
    for (const sections of [[], [{ name: 'observation', children }], [{ name: 'task' }]]) {
      writtenBy(format, frozen(sections));
    }
  },
  'reads replies that are cut off at any place': (format) => {
    const text = writtenBy(
      format,
      NAMES.map((name) => ({ name, content: 'two\nlines 😀' })),
    );
    const whole = parsed(format, text).map(({ name }) => name);
    for (const cut of cutsOf(text)) {
      const names = parsed(format, cut).map(({ name }) => name);
      wantSame('the names of the sections', whole.slice(0, names.length), names, cut);
    }
  },
  'reads and writes halves of characters': (format) => {
    for (const text of [...halvesOf(sampleBy(format)), ...halvesOf(describedBy(format))]) {
      parsed(format, text);
      writtenBy(format, [{ name: 'task', content: text }]);
    }
  },
  'reads hostile and huge replies in time': (format) => {
    for (const text of [...hostileTexts(sampleBy(format)), ...hostileTexts(describedBy(format))]) {
      parsed(format, text);
    }
  },
};

/** Sections with all the contents, one after another. */
function sampleBy(format: OwnFormat): string {
  return CONTENTS.map((content, index) => {
    const name = NAMES[index % NAMES.length] ?? '';
    return writtenBy(format, [{ name, content }]);
  }).join('\n');
}

function describedBy(format: OwnFormat): string {
  return wantText('`describe`', format.describe(DESCRIBED));
}

function writtenBy(format: OwnFormat, sections: readonly FormattedSection[]): string {
  return wantText('`format`', format.format(sections));
}

/** The sections of `text`, as the loop takes them. */
function parsed(
  format: OwnFormat,
  text: string,
  names: readonly string[] = NAMES,
): readonly Block[] {
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
