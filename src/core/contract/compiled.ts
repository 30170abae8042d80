/** A program that answered once, as it is kept. */
import type { Usage } from './step.ts';

/** A compiled agent, version 1. Plain JSON, to be kept in a file. */
export interface CompiledAgent {
  readonly v: 1;
  readonly agent: string;
  /** The program whose answer was accepted. */
  readonly source: string;
  /** Of the whole text that is run: definitions, then `source`. */
  readonly codeId: string;
  /** Of the agent, as it is printed; null without one. */
  readonly signature: string | null;
  /** Names of the tools that it calls, with `_` for `-`, in order of the first mention. */
  readonly tools: readonly string[];
  /** Forms of earlier programs whose names it uses, in the order in which they ran. */
  readonly definitions: readonly { readonly name: string; readonly source: string }[];
  /** Id of the model that wrote it. */
  readonly model: string;
  /** What it cost to write it. */
  readonly usage: Usage;
}
