/** The contract of a section of a reply: how it is asked for and how its content is read. */
import type { SectionSpec } from '../contract/spec.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { Problem } from '../base/problem.ts';
import { yamlText } from '../text/yaml-text.ts';
import { readJson } from './json-reader.ts';
import { payloadOf } from './payload.ts';
import { readYaml } from './yaml-reader.ts';

/** What a section holds; `absent`: an empty code block counts as no section. */
export type SectionReading =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'absent' }
  | { readonly kind: 'problem'; readonly problems: readonly Problem[] };

/** A section. `read` never throws; whether the value fits `schema` is checked elsewhere. */
export interface Section {
  readonly name: string;
  /** Set for structured sections. */
  readonly schema?: JsonObject;
  guidance(): string;
  read(content: string): SectionReading;
}

/** Options of a text section. */
export interface TextSectionOptions {
  readonly name: string;
  /** Default: `Write the {name} here.` */
  readonly guidance?: string;
}

/** Options of a structured section. */
export interface StructuredSectionOptions {
  readonly name: string;
  readonly schema: JsonObject;
  /** Stands before the schema. */
  readonly guidance?: string;
  readonly example?: Json;
}

/** A language of structured sections: how values are written in it and read from it. */
interface Notation {
  readonly title: string;
  write(value: Json): string;
  read(text: string, schema: Json): SectionReading;
}

const jsonNotation: Notation = {
  title: 'JSON',
  write: (value) => JSON.stringify(value),
  read: (text) => {
    const reading = readJson(text);
    return reading.kind === 'value' ? reading : { kind: 'problem', problems: [reading.problem] };
  },
};

const yamlNotation: Notation = {
  title: 'YAML',
  write: yamlText,
  read: (text, schema) => {
    const reading = readYaml(text, schema);
    return reading.kind === 'value' ? reading : { kind: 'problem', problems: reading.problems };
  },
};

/** A section of plain text: every content is its value. */
export function textSection(options: TextSectionOptions): Section {
  const guidance = options.guidance ?? `Write the ${options.name} here.`;
  return {
    name: options.name,
    guidance: () => guidance,
    read: (content) => ({ kind: 'value', value: content }),
  };
}

/** A section that holds one JSON value, bare or in one code block. */
export function jsonSection(options: StructuredSectionOptions): Section {
  return structuredSection(options, jsonNotation);
}

/** A section that holds one YAML value, bare or in one code block. */
export function yamlSection(options: StructuredSectionOptions): Section {
  return structuredSection(options, yamlNotation);
}

const sectionsByKind: Readonly<Record<SectionSpec['kind'], (spec: SectionSpec) => Section>> = {
  text: textSection,
  json: (spec) => jsonSection({ ...spec, schema: spec.schema ?? {} }),
  yaml: (spec) => yamlSection({ ...spec, schema: spec.schema ?? {} }),
};

/** The section that a specification describes. */
export function sectionOf(spec: SectionSpec): Section {
  return sectionsByKind[spec.kind](spec);
}

/** The blocks of guidance of a JSON value: what is given, the schema, the example. */
export function jsonGuidance(options: Omit<StructuredSectionOptions, 'name'>): string {
  return structuredGuidance(options, jsonNotation);
}

function structuredSection(options: StructuredSectionOptions, notation: Notation): Section {
  return {
    name: options.name,
    schema: options.schema,
    guidance: () => structuredGuidance(options, notation),
    read: (content) => {
      const payload = payloadOf(content);
      if (payload.kind === 'absent') return payload;
      if (payload.kind === 'problem') return { kind: 'problem', problems: [payload.problem] };
      return notation.read(payload.text, options.schema);
    },
  };
}

function structuredGuidance(
  { guidance, schema, example }: Omit<StructuredSectionOptions, 'name'>,
  notation: Notation,
): string {
  return [
    ...(guidance === undefined || guidance === '' ? [] : [guidance]),
    `Write one ${notation.title} value that fits this schema:\n${notation.write(schema)}`,
    ...(example === undefined ? [] : [`For example:\n${notation.write(example)}`]),
  ].join('\n\n');
}
