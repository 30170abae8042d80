/** Sections and answers of authors: the contract that they write, and how the loop uses one. */
import { defined } from '../base/defined.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { ReplyProblem } from '../base/problem.ts';
import { ownJson, ownText, readOwn } from '../extension/guard.ts';
import { ownPart } from '../extension/own-parts.ts';
import { OWN_KINDS } from '../extension/store.ts';

/** What a definition says about a section or an answer. */
export interface OwnSectionOptions {
  /** The name of the section. */
  readonly name: string;
  /** The author's text about it. */
  readonly guidance?: string;
  /** JSON Schema that the value must fit; Everloop checks it. */
  readonly schema?: JsonObject;
  readonly example?: Json;
}

/**
 * A kind of section of your own: how its content is asked for and read. It has no state.
 * `sectionCases` of `everloop/testing` tests its laws.
 *
 * @example
 * const csv: OwnSection = {
 *   guidance: ({ guidance = '' }) => `${guidance} Write comma-separated values.`.trim(),
 *   read: (content) => content.split('\n').map((line) => line.split(',')),
 * };
 */
export interface OwnSection {
  /** How to write the content. */
  guidance(options: OwnSectionOptions): string;
  /**
   * The value of the content, as JSON; undefined counts as no section. Throw an Error if it cannot
   * be read: the model reads its message.
   */
  read(content: string, options: OwnSectionOptions): Json | undefined;
}

/**
 * A kind of answer of your own, which ends the run once it is accepted. The same as a section;
 * `undefined` is no answer.
 */
export type OwnAnswer = OwnSection;

/** Content that an author's code has read. */
type OwnReading =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'absent' }
  | { readonly kind: 'problem'; readonly problems: readonly ReplyProblem[] };

/** A section or an answer of an author, under the laws of the built-in ones. */
export function ownSection(
  kind: 'sections' | 'answers',
  part: { readonly kind: string },
  { name, guidance, schema, example }: OwnSectionOptions,
): { readonly guidance: () => string; readonly read: (content: string) => OwnReading } {
  const own = ownPart(kind, part) as OwnSection;
  const what = `${OWN_KINDS[kind]} ${part.kind}`;
  const options: OwnSectionOptions = defined({ name, guidance, schema, example });
  return {
    guidance: () => ownText(`\`guidance\` of ${what}`, () => own.guidance(options)),
    read: (content) => {
      const reading = readOwn(content, (text): unknown => own.read(text, options));
      if (reading.kind === 'value' && reading.value === undefined) return { kind: 'absent' };
      const json = reading.kind === 'value' ? ownJson(reading.value, what) : reading;
      return json.kind === 'value' ? json : { kind: 'problem', problems: [json.problem] };
    },
  };
}
