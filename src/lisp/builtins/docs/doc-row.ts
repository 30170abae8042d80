/** The documentation of one name, or of several names with similar meanings. */
export interface DocRow {
  readonly theme: string;
  /** Separated by spaces. */
  readonly names: string;
  /**
   * `1`, `1–3`, `2+`; one for all names, or one for each, separated by commas. `–`: no function.
   */
  readonly args: string;
  readonly meaning: string;
  /** Pairs of a source and the printed form of its value. */
  readonly examples: readonly (readonly [string, string])[];
}

/** One line of a table: the fields of a {@link DocRow} after its theme. */
export type DocLine = readonly [
  names: string,
  args: string,
  meaning: string,
  examples: DocRow['examples'],
];

/** The rows of one theme. */
export function docTable(theme: string, lines: readonly DocLine[]): readonly DocRow[] {
  return Object.freeze(
    lines.map(([names, args, meaning, examples]) => ({ theme, names, args, meaning, examples })),
  );
}
