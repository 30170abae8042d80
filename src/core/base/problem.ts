/**
 * What is wrong with a text that a model wrote. Problems are data; the words that the model reads
 * are made from them by `explain…` functions, so that tests check the two apart.
 */
export interface Problem {
  /** Stable, for programs: `no_sections`, `json_syntax`, `call_without_tool`, … */
  readonly code: string;
  /** Own text, never that of an engine or a parser, whose wording differs between versions. */
  readonly message: string;
  /** Where in the value: `a.b[0]`, the name of a section, or absent for the whole. */
  readonly path?: string;
  /** From 1. */
  readonly line?: number;
  /** From 1, in UTF-16 code units. */
  readonly column?: number;
}

/** Who could not read the reply; each family has a counter and a streak of its own. */
export type ProblemFamily = 'format' | 'toolchain' | 'termination' | 'section';
