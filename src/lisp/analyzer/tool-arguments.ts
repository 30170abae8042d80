/**
 * Checks those arguments of a tool call that are literal, before the program runs.
 *
 * I1  Missing and unknown keys are reported here. Literal values are listed, and the host checks
 *     them against the schema of the tool.
 * I2  Arguments that are computed are not checked before the run.
 */
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { toJson } from '../json/to-json.ts';
import type { Form } from '../reader/form.ts';
import type { Span } from '../base/source.ts';
import { isKeyword } from '../value/value.ts';
import { problem, suggestion, type Analysis } from './analysis.ts';
import { literalValue } from './quote.ts';

/** The properties that a schema declares, or none. */
export function propertiesOf(schema: JsonObject): JsonObject {
  const properties = Object.hasOwn(schema, 'properties') ? schema['properties'] : undefined;
  return isJsonObject(properties) ? properties : {};
}

/** The JSON name of a keyword `key`: as declared, else with `_` for `-`. */
export function outgoingName(key: string, properties: JsonObject): string {
  return Object.hasOwn(properties, key) ? key : key.replaceAll('-', '_');
}

/** Checks the keys of a call and lists its literal values. */
export function checkToolArguments(
  a: Analysis,
  tool: string,
  args: readonly Form[],
  span: Span,
): void {
  const face = a.tools.get(tool);
  if (face === undefined) return;
  const pairs = pairsOf(args);
  if (pairs === null) {
    if (args.length > 1) {
      problem(
        a,
        'invalid_tool_args',
        `\`${tool}\` takes named arguments: \`(tool/${tool} {…})\`.`,
        span,
      );
    }
    return;
  }
  const properties = propertiesOf(face.schema);
  const given = new Set<string>();
  for (const [key, value] of pairs) {
    const name = keyName(key, properties);
    if (name === null) return;
    given.add(name);
    if (face.schema['additionalProperties'] === false && !Object.hasOwn(properties, name)) {
      const near = suggestion(a, name, () => Object.keys(properties));
      problem(a, 'invalid_tool_args', `\`${tool}\` has no argument \`${name}\`.${near}`, key.span);
      continue;
    }
    listLiteral(a, { tool, name, schema: properties[name] }, value);
  }
  const required = face.schema['required'];
  if (!Array.isArray(required)) return;
  for (const name of required as readonly Json[]) {
    if (typeof name !== 'string' || given.has(name)) continue;
    problem(a, 'invalid_tool_args', `\`${tool}\` needs \`${name}\`.`, span);
  }
}

/** Lists the value of one argument for the host when it is a literal that has a JSON form. */
function listLiteral(
  a: Analysis,
  at: { readonly tool: string; readonly name: string; readonly schema: Json | undefined },
  form: Form,
): void {
  const { tool, name, schema } = at;
  const value = literalValue(form);
  if (value === undefined) return;
  const json = toJson(value, { dashes: 'underscore', schema });
  if (json.ok) a.literals.push({ tool, path: [name], value: json.json, span: form.span });
  else problem(a, 'invalid_tool_args', `\`${tool}\`, \`${name}\`: ${json.message}`, form.span);
}

function keyName(key: Form, properties: JsonObject): string | null {
  if (key.kind !== 'literal') return null;
  if (typeof key.value === 'string') return key.value;
  return isKeyword(key.value) ? outgoingName(key.value.name, properties) : null;
}

/** The literal pairs of a call (one map, keyword-value pairs, or none), or null for other forms. */
function pairsOf(args: readonly Form[]): readonly (readonly [Form, Form])[] | null {
  const [first] = args;
  if (first === undefined) return [];
  const items = args.length === 1 && first.kind === 'map' ? first.items : args;
  if (items === args && (args.length % 2 !== 0 || first.kind !== 'literal')) return null;
  const pairs: (readonly [Form, Form])[] = [];
  for (let at = 0; at + 1 < items.length; at += 2) {
    pairs.push([items[at] as Form, items[at + 1] as Form]);
  }
  return pairs;
}
