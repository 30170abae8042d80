/** `Fields` with each field that may be undefined made optional instead. */
export type Defined<Fields> = {
  [Key in keyof Fields as undefined extends Fields[Key] ? never : Key]: Fields[Key];
} & {
  [Key in keyof Fields as undefined extends Fields[Key] ? Key : never]?: Exclude<
    Fields[Key],
    undefined
  >;
};

/**
 * A copy of `fields` without those that are undefined, so that an optional field is absent instead
 * of present and undefined. Keeps the order of the fields.
 */
export function defined<const Fields extends object>(fields: Fields): Defined<Fields> {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) result[name] = value;
  }
  return result as Defined<Fields>;
}
