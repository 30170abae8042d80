/** Toolchains of authors: the contract that they write, and how the loop uses one. */
import { jsonType, type Json, type JsonObject } from '../base/json.ts';
import type { ToolchainSpec, ToolSpec } from '../contract/spec.ts';
import { ownJson, ownText, ownTextOr, readOwn, wrongReturn } from '../extension/guard.ts';
import { ownPart } from '../extension/own-parts.ts';
import { readBatch, type RawBlock } from './call-reading.ts';
import { jsonElement } from './json-calls.ts';
import { nativeToolchain } from './native-calls.ts';
import type { Toolchain } from './toolchain.ts';

/** A call as an own toolchain reads it. */
export interface OwnCall {
  readonly tool: string;
  /** Default `{}`. */
  readonly args?: JsonObject;
}

/**
 * A toolchain of your own: how calls are written and read. It has no state. Everloop gives the ids,
 * refuses batches that are too large, and checks arguments. `toolchainCases` of `everloop/testing`
 * tests its laws.
 *
 * @example
 * const lines: OwnToolchain = {
 *   guidance: () => 'Write each call on a line of its own: tool_name {"name": "value"}',
 *   read: (content) =>
 *     content.split('\n').map((line) => {
 *       const [, tool = '', args = '{}'] = /^(\S+) *(.*)$/.exec(line) ?? [];
 *       return { tool, args: JSON.parse(args) };
 *     }),
 * };
 */
export interface OwnToolchain {
  /** How to write calls in the section. `parallel`: several calls of a reply may run at once. */
  guidance(options: { readonly parallel: boolean }): string;
  /**
   * The calls of one section. Throw an Error if it cannot be read: the model reads its message, and
   * none of the calls of the reply runs.
   */
  read(content: string, context: { readonly tools: readonly ToolSpec[] }): readonly OwnCall[];
  /** A value other than a text, as the model reads it in results and context. Default: JSON. */
  write?(value: Json): string;
  /** The parameters of a tool, as its catalogue shows their JSON Schema. Default: JSON. */
  writeParameters?(schema: JsonObject): string;
}

/** A toolchain of an author, under the laws of the built-in ones. */
export function ownToolchain(spec: ToolchainSpec): Toolchain {
  const own = ownPart('toolchains', spec) as OwnToolchain;
  const what = `toolchain ${spec.kind}`;
  const json = nativeToolchain();
  return {
    guidance: ({ parallel }) =>
      ownText(`\`guidance\` of ${what}`, () => own.guidance({ parallel })),
    readCalls: (contents, context) =>
      readBatch(
        contents.map((content) => blockOf(own, what, content, context.tools)),
        context,
      ),
    write: (value) =>
      own.write === undefined
        ? json.write(value)
        : ownTextOr(
            `\`write\` of ${what}`,
            () => own.write?.(value),
            () => json.write(value),
          ),
    writeParameters: (schema) =>
      own.writeParameters === undefined
        ? json.writeParameters(schema)
        : ` ${ownText(`\`writeParameters\` of ${what}`, () => own.writeParameters?.(schema))}`,
  };
}

function blockOf(
  own: OwnToolchain,
  what: string,
  content: string,
  tools: readonly ToolSpec[],
): RawBlock {
  const reading = readOwn(content, (text): unknown => own.read(text, { tools }));
  const json = reading.kind === 'value' ? ownJson(reading.value, what) : reading;
  if (json.kind === 'problem') return { kind: 'problems', problems: [json.problem] };
  if (!Array.isArray(json.value)) {
    const wrong = wrongReturn(what, 'a list of calls', jsonType(json.value));
    return { kind: 'problems', problems: [wrong.problem] };
  }
  return { kind: 'elements', isList: true, elements: json.value.map(jsonElement) };
}
