/**
 * An error in a text that a model wrote. Problems are data. The `explain…` functions turn them into
 * the text that the model reads, so tests can check the two separately.
 */
export interface ReplyProblem {
  /** Stable, for programs: `no_sections`, `json_syntax`, `call_without_tool`, … */
  readonly code: string;
  /** Our own text, never that of an engine or a parser, whose wording changes between versions. */
  readonly message: string;
  /** Where in the value: `a.b[0]`, the name of a section, or absent for the whole. */
  readonly path?: string;
  /** From 1. */
  readonly line?: number;
  /** From 1, in UTF-16 code units. */
  readonly column?: number;
}

/** The reader that could not read the reply. Each family has its own counter and streak. */
export type ProblemFamily = 'format' | 'toolchain' | 'termination' | 'section';
