/** The published suites, over the built-in parts, over those of the examples, and over broken ones. */
import { describe, expect, it } from 'vitest';
import { toml } from '../../examples/toml-calls/workflow.ts';
import type { Json } from '../../src/core/base/json.ts';
import { formatOf } from '../../src/core/format/format-of.ts';
import { sectionOf } from '../../src/core/section/section.ts';
import { answerGuidance, candidatesOf } from '../../src/core/termination/candidates.ts';
import { toolchainOf } from '../../src/core/toolchain/toolchain-of.ts';
import {
  answerCases,
  formatCases,
  sectionCases,
  toolchainCases,
  type PartCase,
} from '../../src/testing.ts';
import type { FormatSpec } from '../../src/core/contract/spec.ts';
import type { OwnFormat, OwnSection, OwnToolchain } from '../../src/workflow.ts';
import { brackets, csv, lines, verdict } from '../support/own-parts.ts';

/** A built-in format as an author would write it. */
function builtInFormat(kind: 'xml' | 'markdown', strict: boolean): OwnFormat {
  const format = formatOf({ kind, strict } satisfies FormatSpec);
  return {
    describe: (sections) => format.describe(sections),
    parse: (text, names) => {
      const reading = format.parse(text, names, { wasCut: false });
      return reading.kind === 'read' ? reading.blocks : [];
    },
    format: (sections) => format.format(sections),
  };
}

function builtInToolchain(kind: 'yaml' | 'json'): OwnToolchain {
  const toolchain = toolchainOf({ kind, section: 'action' });
  return {
    guidance: (options) => toolchain.guidance(options),
    read: (content, { tools }) => {
      const context = { iteration: 1, tools, maxCallsPerTurn: 1e9 };
      const reading = toolchain.readCalls([content], context);
      if (reading.kind === 'problems') throw new Error(reading.problems[0]?.message);
      return reading.kind === 'none' ? [] : reading.calls.map(({ tool, args }) => ({ tool, args }));
    },
    write: (value) => toolchain.write(value),
    writeParameters: (schema) => toolchain.writeParameters(schema),
  };
}

function builtInSection(kind: 'text' | 'json' | 'yaml'): OwnSection {
  const section = sectionOf({ kind, name: 'sample' });
  return {
    guidance: () => section.guidance(),
    read: (content) => {
      const reading = section.read(content);
      if (reading.kind === 'problem') throw new Error(reading.problems[0]?.message);
      return reading.kind === 'value' ? reading.value : undefined;
    },
  };
}

function builtInAnswer(kind: 'text' | 'json'): OwnSection {
  const spec = { kind, section: 'answer', validators: [] };
  return {
    guidance: () => answerGuidance(spec),
    read: (content): Json | undefined => {
      const [candidate] = candidatesOf(spec, [content]);
      if (candidate?.kind === 'unreadable') throw new Error(candidate.problems[0]?.message);
      return candidate?.kind === 'value' ? candidate.value : undefined;
    },
  };
}

const JSON_CALLS = '[{"tool": "a", "args": {"n": 1}}, {"tool": "b"}]';
const YAML_CALLS = '- tool: a\n  args:\n    n: 1\n- tool: b';
const TOML_CALLS = '[[call]]\ntool = "a"\nargs = { n = 1 }\n\n[[call]]\ntool = "b"\nargs = {}';
const CALLS = [
  { tool: 'a', args: { n: 1 } },
  { tool: 'b', args: {} },
];

const suites: Readonly<Record<string, readonly PartCase[]>> = {
  'the format xml': formatCases(builtInFormat('xml', false)),
  'the format xml, strict': formatCases(builtInFormat('xml', true)),
  'the format markdown': formatCases(builtInFormat('markdown', false)),
  'a format of an author': formatCases(brackets),
  'the toolchain yaml': toolchainCases(builtInToolchain('yaml'), {
    samples: [{ text: YAML_CALLS, calls: CALLS }],
    unreadable: ['tool: a\nargs: 1'],
  }),
  'the toolchain json': toolchainCases(builtInToolchain('json'), {
    samples: [{ text: JSON_CALLS, calls: CALLS }],
    unreadable: ['{"tool": "a"'],
  }),
  'a toolchain of an author': toolchainCases(lines, {
    samples: [{ text: 'a {"n": 1}\nb', calls: CALLS }],
    unreadable: ['a n=1'],
  }),
  'the toolchain of the example': toolchainCases(toml, {
    samples: [
      { text: TOML_CALLS, calls: CALLS },
      { text: `\`\`\`toml\n${TOML_CALLS}\n\`\`\``, calls: CALLS },
    ],
    unreadable: ['[[call]]\ntool = a', 'tool = "a"'],
  }),
  'a section of text': sectionCases(builtInSection('text'), {
    samples: [{ text: 'some\ntext', value: 'some\ntext' }],
  }),
  'a section of JSON': sectionCases(builtInSection('json'), {
    samples: [{ text: '{"a": [1, null]}', value: { a: [1, null] } }],
    unreadable: ['{a: 1}'],
  }),
  'a section of YAML': sectionCases(builtInSection('yaml'), {
    samples: [{ text: 'a:\n  - 1\n  - b', value: { a: [1, 'b'] } }],
    unreadable: ['a: *b'],
  }),
  'a section of an author': sectionCases(csv, {
    samples: [
      {
        text: 'a,b\nc,d',
        value: [
          ['a', 'b'],
          ['c', 'd'],
        ],
      },
    ],
    unreadable: ['a;b'],
  }),
  'an answer of text': answerCases(builtInAnswer('text'), {
    samples: [{ text: 'done', value: 'done' }],
  }),
  'an answer of JSON': answerCases(builtInAnswer('json'), {
    samples: [{ text: '[1]', value: [1] }],
    unreadable: ['[1'],
  }),
  'an answer of an author': answerCases(verdict, {
    samples: [{ text: 'yes', value: { ok: true } }],
    unreadable: ['maybe'],
  }),
};

describe.each(Object.entries(suites))('%s', (_name, cases) => {
  it.each(cases)('$name', ({ run }) => run());
});

/** The names of the cases that fail. */
function failing(cases: readonly PartCase[]): readonly string[] {
  return cases.flatMap(({ name, run }) => {
    try {
      run();
      return [];
    } catch (error) {
      expect(error).toMatchObject({ message: expect.stringMatching(/^Expected .+, got /s) });
      return [name];
    }
  });
}

describe('a suite finds', () => {
  it.each<[string, Partial<OwnFormat>, string]>([
    [
      'a parser that throws',
      {
        parse: (text, names) => {
          if (text.includes('\ud83d')) throw new Error('half');
          return brackets.parse(text, names);
        },
      },
      'reads and writes halves of characters',
    ],
    [
      'a description that nothing reads',
      { describe: (sections) => sections.map(({ name, guidance }) => name + guidance).join() },
      'reads the layout that it describes',
    ],
    [
      'content that closes its section',
      {
        format: (sections) =>
          sections.map(({ name, content }) => `[${name}]\n${content ?? ''}`).join('\n'),
      },
      'keeps content inside its section',
    ],
    [
      'chance',
      { describe: (sections) => `${brackets.describe(sections)}\n${Math.random()}` },
      'describes each section with its guidance',
    ],
    [
      'sections that a cut makes up',
      {
        parse: (text, names) =>
          text.endsWith('\n') ? [{ name: 'answer', content: 'x' }] : brackets.parse(text, names),
      },
      'reads replies that are cut off at any place',
    ],
  ])('%s', (_what, change, name) => {
    expect(failing(formatCases({ ...brackets, ...change }))).toContain(name);
  });

  it('readers that throw no errors, return no JSON, or read what they must not', () => {
    const read = (text: string): never => {
      throw text;
    };
    const samples = [{ text: 'a,b', value: [['a', 'b']] }];

    expect(failing(sectionCases({ ...csv, read }, { samples }))).toHaveLength(4);
    expect(failing(sectionCases({ ...csv, read: () => 1n as never }, { samples }))).toHaveLength(4);
    expect(failing(sectionCases(csv, { samples, unreadable: ['a,b'] }))).toEqual([
      'throws what it cannot read, with a message for the model',
    ]);
    expect(failing(sectionCases(csv, { samples: [] }))).toEqual([
      'reads its samples, the same each time',
    ]);
    const write = (): never => 1 as never;
    expect(
      failing(
        toolchainCases(
          { ...lines, write },
          { samples: [{ text: 'a', calls: [{ tool: 'a', args: {} }] }] },
        ),
      ),
    ).toEqual(['writes any value, and the parameters of a tool']);
  });
});
