/** The laws of sections, answers and toolchains, as cases for the tests of their author. */
import type { Json, JsonObject } from '../../core/base/json.ts';
import type { ToolSpec } from '../../core/contract/spec.ts';
import type { OwnAnswer, OwnSection, OwnSectionOptions } from '../../core/section/own-section.ts';
import type { OwnCall, OwnToolchain } from '../../core/toolchain/own-calls.ts';
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

/** What {@link sectionCases} and {@link answerCases} need to know of a section. */
export interface SectionSamples {
  /** Contents and their values, at least one. */
  readonly samples: readonly { readonly text: string; readonly value: Json }[];
  /** Contents that cannot be read. Default: none is tried. */
  readonly unreadable?: readonly string[];
  /** What a definition says about it. Default: the name `sample`. */
  readonly options?: Partial<OwnSectionOptions>;
}

/** What {@link toolchainCases} needs to know of a toolchain. */
export interface CallSamples {
  /** Texts and their calls, at least one. */
  readonly samples: readonly { readonly text: string; readonly calls: readonly OwnCall[] }[];
  /** Texts that cannot be read. Default: none is tried. */
  readonly unreadable?: readonly string[];
  /** The tools of the agent. Default: none. */
  readonly tools?: readonly ToolSpec[];
}

/**
 * The laws of a section, as named cases for any test runner: it reads its samples, throws only what a
 * model can read, and no content holds a worker.
 *
 * @example
 * const samples = [{ text: 'a,b', value: [['a', 'b']] }];
 * for (const { name, run } of sectionCases(csv, { samples })) test(name, run);
 */
export function sectionCases(
  section: OwnSection,
  { samples, unreadable = [], options = {} }: SectionSamples,
): readonly PartCase[] {
  const given: OwnSectionOptions = frozen({ name: 'sample', ...options });
  const guidance = (): string => wantText('`guidance`', section.guidance(given));
  return [
    {
      name: 'says how to write it, the same each time',
      run: () => wantSame('the second guidance', guidance(), guidance()),
    },
    ...readerCases({
      read: (text) => section.read(text, given),
      samples: samples.map(({ text, value }) => ({ text, wanted: value })),
      unreadable,
      more: guidance,
    }),
  ];
}

/** The laws of an answer, as named cases for any test runner: those of {@link sectionCases}. */
export function answerCases(answer: OwnAnswer, samples: SectionSamples): readonly PartCase[] {
  return sectionCases(answer, samples);
}

/**
 * The laws of a toolchain, as named cases for any test runner: it reads its samples, throws only what
 * a model can read, writes any value, and no text holds a worker.
 *
 * @example
 * const samples = [{ text: 'search {"query": "x"}', calls: [{ tool: 'search', args: { query: 'x' } }] }];
 * for (const { name, run } of toolchainCases(lines, { samples })) test(name, run);
 */
export function toolchainCases(
  toolchain: OwnToolchain,
  { samples, unreadable = [], tools = [] }: CallSamples,
): readonly PartCase[] {
  const context = frozen({ tools });
  const guidance = (parallel: boolean): string =>
    wantText('`guidance`', toolchain.guidance({ parallel }));
  return [
    {
      name: 'says how to write calls, the same each time',
      run: () => {
        for (const parallel of [true, false]) {
          if (guidance(parallel).trim() === '') broken('guidance', 'an empty text');
          wantSame('the second guidance', guidance(parallel), guidance(parallel));
        }
      },
    },
    ...readerCases({
      read: (text) => {
        const calls: unknown = toolchain.read(text, context);
        return Array.isArray(calls) ? calls : broken('a list of calls', calls, text);
      },
      samples: samples.map(({ text, calls }) => ({ text, wanted: calls as unknown as Json })),
      unreadable,
      more: () => guidance(true),
    }),
    {
      name: 'writes any value, and the parameters of a tool',
      run: () => {
        for (const value of VALUES)
          if (toolchain.write) wantText('`write`', toolchain.write(value));
        if (!toolchain.writeParameters) return;
        wantText('`writeParameters`', toolchain.writeParameters(SCHEMA));
        wantText('`writeParameters`', toolchain.writeParameters({}));
      },
    },
  ];
}

const SCHEMA: JsonObject = frozen({
  type: 'object',
  properties: { query: { type: 'string' }, pages: { type: 'array', items: { type: 'integer' } } },
  required: ['query'],
});

const DEEP: Json = Array.from({ length: 100 }).reduce<Json>((inner) => ({ inner: [inner] }), 1);

const VALUES: readonly Json[] = frozen([
  null,
  true,
  0,
  -1.5e300,
  '',
  'two\nlines 😀 "quoted" \\ \ud83d',
  [],
  {},
  [null, [], {}, [null]],
  { a: null, 'a key': { b: [1, 'x', { c: '' }] }, '': 0, toString: 1 },
  JSON.parse('{"__proto__": {"x": 1}}') as Json,
  DEEP,
  Array.from({ length: 5_000 }, (_, index) => ({ index, text: 'x'.repeat(20) })),
]);

interface Reader {
  readonly read: (text: string) => unknown;
  readonly samples: readonly { readonly text: string; readonly wanted: Json }[];
  readonly unreadable: readonly string[];
  /** A further text with the marks of the notation. */
  readonly more: () => string;
}

/** The laws that all readers of content share. */
function readerCases({ read, samples, unreadable, more }: Reader): readonly PartCase[] {
  const texts = (): readonly string[] => [...samples.map(({ text }) => text), more()];
  const tried = (derive: (text: string) => readonly string[]) => (): void => {
    for (const text of texts()) for (const derived of derive(text)) readSafely(read, derived);
  };
  return [
    {
      name: 'reads its samples, the same each time',
      run: () => {
        if (samples.length === 0) broken('at least one sample', 'none');
        for (const { text, wanted } of [...samples, ...samples]) {
          const reading = readSafely(read, text);
          if (reading.kind === 'threw') broken('the sample to be read', reading.text, text);
          wantSame('what is read', wanted, reading.value, text);
        }
      },
    },
    {
      name: 'throws what it cannot read, with a message for the model',
      run: () => {
        for (const text of unreadable) {
          const reading = readSafely(read, text);
          if (reading.kind === 'value') broken('an error', reading.value, text);
        }
      },
    },
    { name: 'reads texts that are cut off at any place', run: tried(cutsOf) },
    { name: 'reads halves of characters', run: tried(halvesOf) },
    { name: 'reads hostile and huge texts in time', run: tried(hostileTexts) },
  ];
}
