/**
 * Reads YAML by its schema: a plain scalar such as `007`, `true` or `2026-03-10` becomes text if
 * the schema allows text there, but not the type that the scalar has by itself.
 */
import type { Json } from '../base/json.ts';
import type { ReplyProblem } from '../base/problem.ts';
import { tooLargeText } from './json-reader.ts';
import { allows, schemaPlace, type SchemaPlace, type SchemaType } from './schema-types.ts';
import { parseYamlTree, yamlProblem, type YamlNode } from './yaml-tree.ts';

/** A value, or all problems, at least one; codes begin with `yaml_`. */
export type YamlReading =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'problems'; readonly problems: readonly ReplyProblem[] };

/** Scalars of the core schema, YAML 1.2.2 section 10.3.2. */
const nullWord = /^(?:~|null|Null|NULL|)$/;
const trueWord = /^(?:true|True|TRUE)$/;
const falseWord = /^(?:false|False|FALSE)$/;
const integerWord = /^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$/;
const numberWord = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

/** Reads one document; an empty one is null. Never throws. */
export function readYaml(text: string, schema?: Json): YamlReading {
  const tree = parseYamlTree(text);
  return tree.kind === 'tree' ? yamlValue(tree.text, tree.root, schema) : tree;
}

/** The value of a node of `text`: a document, or a part of one with its own schema. */
export function yamlValue(text: string, node: YamlNode, schema?: Json): YamlReading {
  const problems: ReplyProblem[] = [];
  const value = valueOf(text, node, schemaPlace(schema), problems);
  return problems.length === 0 ? { kind: 'value', value } : { kind: 'problems', problems };
}

function valueOf(text: string, node: YamlNode, place: SchemaPlace, problems: ReplyProblem[]): Json {
  switch (node.kind) {
    case 'scalar':
      return scalarOf(text, node, place, problems);
    case 'list':
      return node.items.map((item, index) => valueOf(text, item, place.item(index), problems));
    case 'map':
      // Defines properties instead of assigning them, so a key never reaches a prototype.
      return Object.fromEntries(
        node.entries.map(({ key, value }) => [
          key,
          valueOf(text, value, place.property(key), problems),
        ]),
      );
  }
}

function scalarOf(
  text: string,
  node: YamlNode & { readonly kind: 'scalar' },
  place: SchemaPlace,
  problems: ReplyProblem[],
): Json {
  const { source } = node;
  if (node.isText) return source;
  const plain = plainValue(source);
  if (typeof plain === 'string') return plain;
  const type = typeOfPlain(plain);
  if (!allows(place.types, type) && allows(place.types, 'string')) return source;
  if (type === 'integer' && integerWord.test(source) && !Number.isSafeInteger(plain)) {
    problems.push(yamlProblem(text, node.offset, 'yaml_number', tooLargeText(source).slice(0, -1)));
  }
  return plain;
}

/** The value of a plain scalar in the core schema; infinities and NaN stay text. */
function plainValue(source: string): null | boolean | number | string {
  if (nullWord.test(source)) return null;
  if (trueWord.test(source)) return true;
  if (falseWord.test(source)) return false;
  if (integerWord.test(source) || numberWord.test(source)) {
    const value = Number(source);
    return Number.isFinite(value) ? value : source;
  }
  return source;
}

function typeOfPlain(plain: null | boolean | number): SchemaType {
  if (plain === null) return 'null';
  if (typeof plain === 'boolean') return 'boolean';
  return Number.isInteger(plain) ? 'integer' : 'number';
}
