/** What the documentation says about one or more names that mean much the same. */
export interface DocRow {
  readonly theme: string;
  /** Separated by spaces. */
  readonly names: string;
  /** `1`, `1–3`, `2+`; one for all names, or one for each, separated by commas. `–`: no function. */
  readonly args: string;
  readonly meaning: string;
  /** Source and what its value prints as. */
  readonly examples: readonly (readonly [string, string])[];
}
