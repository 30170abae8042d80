/** The contract of a section: how it is asked for and how its content is read. */
import type { SectionSpec } from '../contract/spec.ts';
import { isOwnName } from '../extension/own-parts.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { ReplyProblem } from '../base/problem.ts';
import { yamlText } from '../text/yaml-text.ts';
import { readJson } from './json-reader.ts';
import { ownSection } from './own-section.ts';
import { payloadOf } from './payload.ts';
import { readYaml } from './yaml-reader.ts';

/** The content of a section; `absent`: an empty code block counts as no section. */
export type SectionReading =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'absent' }
  | { readonly kind: 'problem'; readonly problems: readonly ReplyProblem[] };

/** A section. `read` never throws; the schema is checked elsewhere. */
export interface Section {
  readonly name: string;
  /** Set for structured sections. */
  readonly schema?: JsonObject;
  guidance(): string;
  read(content: string): SectionReading;
}

/** A notation for values: how they are written and read. */
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

/** The section that a specification describes. Throws for an own one that is not added. */
export function sectionOf(spec: SectionSpec): Section {
  if (isOwnName(spec.kind)) {
    const { guidance, read } = ownSection('sections', spec, spec);
    return { name: spec.name, schema: spec.schema ?? {}, guidance, read };
  }
  if (spec.kind === 'text') {
    return {
      name: spec.name,
      guidance: () => spec.guidance ?? `Write the ${spec.name} here.`,
      read: (content) => ({ kind: 'value', value: content }),
    };
  }
  const notation = spec.kind === 'json' ? jsonNotation : yamlNotation;
  const schema = spec.schema ?? {};
  return {
    name: spec.name,
    schema,
    guidance: () => guidanceIn(notation, { ...spec, schema }),
    read: (content) => {
      const payload = payloadOf(content);
      if (payload.kind === 'absent') return payload;
      if (payload.kind === 'problem') return { kind: 'problem', problems: [payload.problem] };
      return notation.read(payload.text, schema);
    },
  };
}

/** The parts of the guidance of a structured value. */
interface GuidanceParts {
  readonly schema: JsonObject;
  /** Comes before the schema. */
  readonly guidance?: string;
  readonly example?: Json;
}

/** The guidance of a JSON value: the author's text, the schema and the example. */
export function jsonGuidance(parts: GuidanceParts): string {
  return guidanceIn(jsonNotation, parts);
}

function guidanceIn(notation: Notation, { guidance, schema, example }: GuidanceParts): string {
  return [
    ...(guidance === undefined || guidance === '' ? [] : [guidance]),
    `Write one ${notation.title} value that fits this schema:\n${notation.write(schema)}`,
    ...(example === undefined ? [] : [`For example:\n${notation.write(example)}`]),
  ].join('\n\n');
}
