import type { AgentModel } from '../model/model-entry.ts';
import type { SignatureInput } from '../schema/define-signature.ts';
import type { JsonObject } from '../../core/base/json.ts';

/** The options of `llmTool`. */
export interface LlmToolOptions {
  /** 1 to 64 letters, digits, `_` or `-`, a letter first; unique in an agent. */
  readonly name: string;
  /** Template of the question, filled in with the arguments; those that it does not name stand below it. */
  readonly prompt: string;
  /**
   * The parameters of the tool and what comes back: `(text :string) -> {label :string}`, or schemas. With
   * `:string` or without an output the reply is the result as it is; else it is judged and repaired.
   */
  readonly signature: SignatureInput;
  /** What it does, for the model that calls it. Default: the first line of the prompt. */
  readonly description?: string;
  /** Default: the model of the run that calls it. */
  readonly model?: AgentModel;
  /** Attempts for a judged answer: 1 and its repairs, from 1. Default 3. */
  readonly maxTurns?: number;
  /** True: answers are kept per run, the newest 256 KB, and an equal call is not asked again. */
  readonly cache?: boolean;
  /** Whether a person approves calls, as of any tool. A function gets the checked arguments. */
  readonly approval?: 'always' | 'never' | ((args: JsonObject) => boolean | Promise<boolean>);
  /** How long the person has; then the call is denied. Default: as long as it takes. */
  readonly approvalTimeoutMs?: number;
}
