/** Defines the layout of replies in mode react: formats, toolchains, sections and answers. */
import { defined } from '../../core/base/defined.ts';
import { PROGRAM_SECTION } from '../../core/program-text/system-text.ts';
import type { Json, JsonObject } from '../../core/base/json.ts';
import type { UsageCode } from '../../core/base/usage-codes.ts';
import type { OwnName } from '../../core/contract/spec.ts';
import { isOwnName } from '../../core/extension/own-parts.ts';
import { coerce } from '../../core/section/coerce.ts';
import { pathOfPointer, pathText } from '../../core/section/problem-lines.ts';
import { shown } from '../../core/text/shown.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import type {
  AnswerDefinition,
  FormatDefinition,
  SectionDefinition,
  ToolchainDefinition,
  ValidatorDefinition,
} from '../definition/definitions.ts';
import { expected } from '../checks/fields.ts';
import type { SchemaValue } from '../schema/signature-types.ts';
import type { StandardSchema } from '../schema/standard-schema.ts';
import { checkJson } from '../schema/schema.ts';
import { readSchema, type SchemaInput } from '../schema/value-schema.ts';

/** The default names of sections. */
export const SECTION_NAMES = {
  thinking: 'thinking',
  action: 'action',
  program: PROGRAM_SECTION as typeof PROGRAM_SECTION,
  answer: 'answer',
} as const;

/** Sections as XML tags, the default. `strict` refuses tags of one section inside another. */
export function xmlFormat(options: { readonly strict?: boolean } = {}): FormatDefinition {
  return { type: 'format', kind: 'xml', strict: options.strict ?? false };
}

/** Sections as Markdown headings. `strict` refuses level-1 headings that are not sections. */
export function markdownFormat(options: { readonly strict?: boolean } = {}): FormatDefinition {
  return { type: 'format', kind: 'markdown', strict: options.strict ?? false };
}

/** Calls written as YAML, the default. `section` is the name of the section, default `action`. */
export function yamlToolchain(options: { readonly section?: string } = {}): ToolchainDefinition {
  return { type: 'toolchain', kind: 'yaml', section: options.section ?? SECTION_NAMES.action };
}

/** Calls written as JSON. `section` is the name of the section, default `action`. */
export function jsonToolchain(options: { readonly section?: string } = {}): ToolchainDefinition {
  return { type: 'toolchain', kind: 'json', section: options.section ?? SECTION_NAMES.action };
}

/**
 * A toolchain of your own by its name, `own:name`, which `extend` adds in the module of
 * `workflowsPath`. `section` is the name of the section, default `action`.
 */
export function ownToolchain(
  kind: OwnName,
  options: { readonly section?: string } = {},
): ToolchainDefinition {
  return { type: 'toolchain', kind, section: options.section ?? SECTION_NAMES.action };
}

/** The format of the option `format`; a name means the factory without options. */
export function chosenFormat(
  format: FormatDefinition | FormatDefinition['kind'] = 'xml',
): FormatDefinition {
  return typeof format === 'string' ? { type: 'format', kind: format, strict: false } : format;
}

/** The toolchain of the option `toolchain`; a name means the factory without options. */
export function chosenToolchain(
  toolchain: ToolchainDefinition | ToolchainDefinition['kind'] = 'yaml',
): ToolchainDefinition {
  if (typeof toolchain !== 'string') return toolchain;
  return { type: 'toolchain', kind: toolchain, section: SECTION_NAMES.action };
}

/** A section of plain text; its default guidance is `Write the {name} here.` */
export function textSection(options: {
  readonly name: string;
  readonly guidance?: string;
}): SectionDefinition {
  const { name, guidance } = options;
  const spec = { name, kind: 'text' as const, ...defined({ guidance }) };
  return { kind: 'section', spec, standard: null, problems: [] };
}

/** What is written as one value of a schema. */
export interface StructuredOptions<Schema extends SchemaInput = SchemaInput> {
  readonly schema: Schema;
  /** The JSON Schema of a schema object that has none of its own. */
  readonly jsonSchema?: JsonObject;
  /** What it is for; precedes the schema in the prompt. Default: none. */
  readonly guidance?: string;
  readonly example?: Json;
}

/** The options of {@link jsonSection} and {@link yamlSection}. */
export interface StructuredSectionOptions extends StructuredOptions {
  readonly name: string;
}

/** The options of every answer. */
export interface AnswerSectionOptions {
  /** Name of the section; default `answer`. */
  readonly section?: string;
  readonly guidance?: string;
  /** Run in this order; the first that rejects ends the judging. Default: none. */
  readonly validators?: readonly ValidatorDefinition[];
}

/** A section whose content is one JSON value that fits `schema`. */
export function jsonSection(options: StructuredSectionOptions): SectionDefinition {
  return structuredSection('json', options);
}

/** A section whose content is one YAML value that fits `schema`. */
export function yamlSection(options: StructuredSectionOptions): SectionDefinition {
  return structuredSection('yaml', options);
}

/** The options of {@link ownSection}. */
export interface OwnSectionDefinitionOptions extends Partial<StructuredOptions> {
  readonly name: string;
}

/**
 * A section of a kind of your own, `own:name`, which `extend` adds in the module of `workflowsPath`.
 * With a `schema`, its value must fit.
 */
export function ownSection(kind: OwnName, options: OwnSectionDefinitionOptions): SectionDefinition {
  const { name } = options;
  const reading = readOwnPart(kind, options, `section \`${name}\``, 'section_schema');
  const spec = { name, kind, ...reading.fields };
  return { kind: 'section', spec, standard: reading.standard, problems: reading.problems };
}

/**
 * An answer of a kind of your own, `own:name`, which `extend` adds in the module of `workflowsPath`.
 * With a `schema`, its value must fit; validators and the Step get the checked value.
 */
export function ownAnswer(
  kind: OwnName,
  options: AnswerSectionOptions & Partial<StructuredOptions> = {},
): AnswerDefinition {
  const { section = SECTION_NAMES.answer, validators = [] } = options;
  const reading = readOwnPart(kind, options, 'the answer', 'answer_schema');
  const spec = { kind, section, ...reading.fields };
  const { standard, problems } = reading;
  return { kind: 'answer', spec, standard, validators, problems };
}

/** The answer of the option `answer`; a name means the factory without options. */
export function chosenAnswer(answer: AnswerDefinition | OwnName = textAnswer()): AnswerDefinition {
  return typeof answer === 'string' ? ownAnswer(answer) : answer;
}

function readOwnPart(
  kind: unknown,
  { schema, ...options }: Partial<StructuredOptions>,
  owner: string,
  code: UsageCode,
): PartReading {
  const wanted = `the kind of ${owner} to be \`own:\` and a name of 1 to 64 letters, digits, \`_\` or \`-\``;
  const problems = isOwnName(kind)
    ? []
    : [expected('extension', wanted, shown(kind), 'Name what `extend` adds.')];
  const { guidance, example } = options;
  const reading: PartReading =
    schema === undefined
      ? { fields: defined({ guidance, example }), standard: null, problems: [] }
      : readPart({ ...options, schema }, owner, code);
  return { ...reading, problems: [...problems, ...reading.problems] };
}

function structuredSection(
  kind: 'json' | 'yaml',
  options: StructuredSectionOptions,
): SectionDefinition {
  const { name } = options;
  const reading = readPart(options, `section \`${name}\``, 'section_schema');
  const spec = { name, kind, ...reading.fields };
  return { kind: 'section', spec, standard: reading.standard, problems: reading.problems };
}

/** An answer as text, the default of an agent. */
export function textAnswer(options: AnswerSectionOptions = {}): AnswerDefinition<string> {
  const { section = SECTION_NAMES.answer, guidance, validators = [] } = options;
  const spec = { kind: 'text' as const, section, ...defined({ guidance }) };
  return { kind: 'answer', spec, standard: null, validators, problems: [] };
}

/**
 * An answer as one JSON value that fits `schema`; validators and the Step get the checked value.
 */
export function jsonAnswer<Schema extends SchemaInput>(
  options: AnswerSectionOptions & StructuredOptions<Schema>,
): AnswerDefinition<SchemaValue<Schema>> {
  const { section = SECTION_NAMES.answer, validators = [] } = options;
  const { fields, standard, problems } = readPart(options, 'the JSON answer', 'answer_schema');
  const spec = { kind: 'json' as const, section, ...fields };
  return { kind: 'answer', spec, standard, validators, problems };
}

interface PartReading {
  readonly fields: { guidance?: string; schema?: JsonObject; example?: Json };
  readonly standard: StandardSchema | null;
  readonly problems: readonly UsageProblem[];
}

/** A model copies what it is shown, so an example that would be refused is a mistake. */
function exampleProblems(
  example: Json | undefined,
  schema: JsonObject,
  owner: string,
  code: UsageCode,
): readonly UsageProblem[] {
  if (example === undefined) return [];
  const [first] = checkJson(schema, coerce(example, schema)).errors;
  if (first === undefined) return [];
  const place = pathText(pathOfPointer(first.instancePath, example));
  const what = `\`example\` of ${owner} to fit its schema`;
  const reason = first.message ?? 'it takes too much work to check';
  return [expected(code, what, shown(example), `At \`${place}\`: ${reason}.`)];
}

function readPart(
  { guidance, example, schema, jsonSchema }: StructuredOptions,
  owner: string,
  code: UsageCode,
): PartReading {
  const reading = readSchema(schema, jsonSchema);
  if (reading.kind === 'schema') {
    const { json, standard } = reading.schema;
    const problems = exampleProblems(example, json, owner, code);
    return { fields: defined({ guidance, schema: json, example }), standard, problems };
  }
  const what = `\`schema\` of ${owner} to be a schema`;
  const problems = [expected(code, what, reading.got, reading.advice)];
  return { fields: defined({ guidance, example }), standard: null, problems };
}
