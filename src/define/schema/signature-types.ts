/** The types of a signature's values, as the compiler reads them from its text or its schemas. */
import type { Json, JsonObject } from '../../core/base/json.ts';
import type { StandardSchema } from './standard-schema.ts';

/** A value after it went through JSON: a date is a text. */
export type AsJson<Value> = unknown extends Value
  ? Json
  : Value extends { toJSON(): infer Text }
    ? AsJson<Text>
    : Value extends object
      ? { readonly [Key in keyof Value]: AsJson<Exclude<Value[Key], undefined>> }
      : Value;

/** The value that a schema accepts and its library returns; JSON Schema tells the compiler nothing. */
export type SchemaValue<Schema> =
  Schema extends StandardSchema<unknown, infer Output> ? AsJson<Output> : Json;

/** What a schema takes before its library fills in defaults. */
export type SchemaInputValue<Schema> =
  Schema extends StandardSchema<infer Input, unknown> ? AsJson<Input> : JsonObject;

/** The type of the output of a signature; `never`: it has none. */
export type OutputOf<Signature> = Signature extends string
  ? TextOutput<Squeezed<Signature>>
  : Signature extends { readonly output: infer Schema }
    ? SchemaValue<Schema>
    : never;

/** The type of the inputs of a signature. */
export type InputsOf<Signature> = Signature extends string
  ? TextInputs<Squeezed<Signature>>
  : Signature extends { readonly input: infer Schema }
    ? SchemaInputValue<Schema>
    : JsonObject;

type TextOutput<Text extends string> = Text extends `${string}->${infer Type}`
  ? WholeType<Type>
  : WholeType<Text>;

type TextInputs<Text extends string> = Text extends `()${string}`
  ? JsonObject
  : Text extends `(${infer Fields}`
    ? ReadFields<Fields, ')'> extends readonly [infer Inputs, string]
      ? Inputs
      : JsonObject
    : JsonObject;

type WholeType<Text extends string> =
  ReadType<Text> extends readonly [infer Type, ''] ? Type : Json;

/** The text without blanks, which no signature needs. */
type Squeezed<
  Text extends string,
  Read extends string = '',
> = Text extends `${infer Blank}${infer Rest}`
  ? Squeezed<Rest, Blank extends ' ' | '\t' | '\n' | '\r' ? Read : `${Read}${Blank}`>
  : Read;

/** The type at the beginning of a text, and the rest of the text. */
type ReadType<Text extends string> =
  ReadPlain<Text> extends readonly [infer Type, infer Rest extends string]
    ? Rest extends `?${infer After}`
      ? readonly [Type | null, After, 'optional']
      : readonly [Type, Rest]
    : never;

type ReadPlain<Text extends string> = Text extends `[${infer Item}`
  ? ReadType<Item> extends readonly [infer Type, `]${infer Rest}`, ...unknown[]]
    ? readonly [readonly Type[], Rest]
    : never
  : Text extends `{}${infer Rest}`
    ? readonly [JsonObject, Rest]
    : Text extends `{${infer Fields}`
      ? ReadFields<Fields, '}'>
      : Text extends `:${infer Word}`
        ? ReadPrimitive<Word>
        : never;

type ReadPrimitive<Word extends string> = Word extends
  `string${infer Rest}` | `keyword${infer Rest}` | `datetime${infer Rest}`
  ? readonly [string, Rest]
  : Word extends `int${infer Rest}` | `float${infer Rest}`
    ? readonly [number, Rest]
    : Word extends `boolean${infer Rest}`
      ? readonly [boolean, Rest]
      : Word extends `bool${infer Rest}`
        ? readonly [boolean, Rest]
        : Word extends `map${infer Rest}`
          ? readonly [JsonObject, Rest]
          : Word extends `any${infer Rest}`
            ? readonly [Json, Rest]
            : never;

/** Fields up to `Close`, as an object, and the rest of the text. */
type ReadFields<Text extends string, Close extends string, Read = unknown> =
  FieldName<Text> extends infer Name extends string
    ? Text extends `${Name}${infer After}`
      ? ReadType<After> extends readonly [infer Type, infer Rest extends string, ...infer Mark]
        ? NextField<Rest, Close, Read & Field<Name, Type, Mark>>
        : never
      : never
    : never;

type NextField<
  Rest extends string,
  Close extends string,
  Read,
> = Rest extends `${Close}${infer End}`
  ? readonly [{ readonly [Name in keyof Read]: Read[Name] }, End]
  : Rest extends `,${infer More}`
    ? ReadFields<More, Close, Read>
    : never;

type Field<Name extends string, Type, Mark> = Mark extends readonly ['optional']
  ? { readonly [Key in Name]?: Type }
  : { readonly [Key in Name]: Type };

/** What stands before the type that follows. */
type FieldName<Text extends string> = Before<Before<Before<Text, ':'>, '['>, '{'>;

type Before<Text extends string, Mark extends string> = Text extends `${infer Name}${Mark}${string}`
  ? Name
  : Text;
