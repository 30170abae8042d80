/** The program of a compiled agent, as it is stored. */
import type { Usage } from './step.ts';

/** A program that answered once, version 1. Plain JSON, to be kept in a file. */
export interface CompiledAgent {
  readonly v: 1;
  readonly agent: string;
  /** The program whose answer was accepted. */
  readonly source: string;
  /** Id of the whole text that runs: the definitions, then `source`. */
  readonly codeId: string;
  /** The printed signature of the agent; null if it has none. */
  readonly signature: string | null;
  /** Names of the tools that it calls, with `_` for `-`, in order of first mention. */
  readonly tools: readonly string[];
  /** Forms of earlier programs whose names it uses, in the order in which they ran. */
  readonly definitions: readonly { readonly name: string; readonly source: string }[];
  /** Id of the model that wrote it. */
  readonly model: string;
  /** The cost of writing it. */
  readonly usage: Usage;
}
