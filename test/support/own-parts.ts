/** Own parts of replies, for tests of `extend`: good ones, and some that misbehave. */
import type {
  OwnAnswer,
  OwnFormat,
  OwnParts,
  OwnSection,
  OwnToolchain,
} from '../../src/workflow.ts';

/** Sections under `[name]`. */
export const brackets: OwnFormat = {
  describe: (sections) =>
    `Write these sections:\n${sections.map((it) => `[${it.name}]\n${it.guidance}`).join('\n')}`,
  parse: (text, names) =>
    text.split(/^(?=\[[\w-]+\]$)/m).flatMap((part) => {
      const [mark = '', ...lines] = part.split('\n');
      const name = names.find((it) => mark === `[${it}]`);
      return name === undefined ? [] : [{ name, content: lines.join('\n') }];
    }),
  format: (sections) =>
    sections
      .map(({ name, content = '', children = [] }) => {
        const inner = [content, ...(children.length === 0 ? [] : [brackets.format(children)])];
        return `[${name}]\n${inner.join('\n').replaceAll(/^(?=\[[\w-]+\]$)/gm, ' ')}`;
      })
      .join('\n'),
};

/** A call on each line: its tool, then its arguments as JSON. */
export const lines: OwnToolchain = {
  guidance: ({ parallel }) =>
    `Write each call on a line: tool_name {"name": "value"}${parallel ? '' : ', one after another'}`,
  read: (content) =>
    content.split('\n').map((line) => {
      const [, tool = '', args = ''] = /^\s*(\S+) *(.*)$/.exec(line) ?? [];
      if (args !== '' && !args.startsWith('{'))
        throw new Error(`the arguments of ${tool} are no JSON`);
      return { tool, args: args === '' ? {} : (JSON.parse(args) as never) };
    }),
  write: (value) => `=${JSON.stringify(value)}`,
  writeParameters: (schema) => Object.keys((schema['properties'] ?? {}) as object).join(', '),
};

/** Comma-separated values. */
export const csv: OwnSection = {
  guidance: ({ guidance = 'Write' }) => `${guidance} comma-separated values.`,
  read: (content) => {
    if (content.includes(';')) throw new Error('write commas, not semicolons');
    return content === '-' ? undefined : content.split('\n').map((line) => line.split(','));
  },
};

/** Yes or no. */
export const verdict: OwnAnswer = {
  guidance: () => 'Write yes or no.',
  read: (text) => {
    if (!/^(yes|no)$/i.test(text)) throw new Error(`expected yes or no, got ${text}`);
    return { ok: text.toLowerCase() === 'yes' };
  },
};

/** Minutes of work that nothing charges for. */
const TURNS = 1e12;

/** Reads as `brackets`, but for ever where a reply says `spin`. */
const spinning: OwnFormat = {
  ...brackets,
  parse: (text, names) => {
    if (text.includes('spin')) for (let turn = 0; turn < TURNS; turn++);
    return brackets.parse(text, names);
  },
};

/** Reads as `lines`, but for ever where a text says `spin`. */
const spinningLines: OwnToolchain = {
  ...lines,
  read: (content, context) => {
    if (content.includes('spin')) for (let turn = 0; turn < TURNS; turn++);
    return lines.read(content, context);
  },
};

/** What an author may get wrong, by the name of the format. */
export const wrongParsers: Readonly<Record<string, (text: string) => unknown>> = {
  throws: () => {
    throw new Error('no brackets');
  },
  'throws-nothing': () => {
    throw undefined;
  },
  'returns-text': (text) => text,
  'returns-numbers': () => [1, 2],
  'returns-much': () => [{ name: 'answer', content: 'x'.repeat(100_000) }],
  'returns-many': () => Array.from({ length: 2_000 }, () => ({ name: 'answer', content: 'x' })),
};

/** All of them. */
export const ownParts: OwnParts = {
  formats: {
    brackets,
    spinning,
    'throws-writing': {
      ...brackets,
      format: () => {
        throw new Error('no pen');
      },
    },
    'describes-nothing': { ...brackets, describe: () => 42 as never },
    ...Object.fromEntries(
      Object.entries(wrongParsers).map(([name, parse]) => [
        name,
        { ...brackets, parse: parse as OwnFormat['parse'] },
      ]),
    ),
  },
  toolchains: { lines, spinning: spinningLines },
  sections: { csv },
  answers: { verdict },
};
