import type { AgentModel } from '../model/model-entry.ts';
import type { SignatureInput } from '../schema/define-signature.ts';
import type { JsonObject } from '../../core/base/json.ts';

/** The options of `llmTool`. */
export interface LlmToolOptions {
  /** 1 to 64 letters, digits, `_` or `-`, a letter first; unique in an agent. */
  readonly name: string;
  /**
   * Template of the question, filled in with the arguments. Arguments it does not use follow it.
   */
  readonly prompt: string;
  /**
   * The parameters and the result: `(text :string) -> {label :string}`, or schemas. With the output
   * `:string` or without one, the reply is the result. Otherwise the reply is checked and repaired.
   */
  readonly signature: SignatureInput;
  /** What it does, for the model that calls it. Default: the first line of the prompt. */
  readonly description?: string;
  /** The model that it asks. Default: the model of the run that calls it. */
  readonly model?: AgentModel;
  /** Maximum number of attempts for a checked answer, repairs included, from 1. Default 3. */
  readonly maxTurns?: number;
  /** True: the run keeps the newest 256 KB of answers, and an equal call gets the kept answer. */
  readonly cache?: boolean;
  /** Whether a person approves calls, as for any tool. A function gets the checked arguments. */
  readonly approval?: 'always' | 'never' | ((args: JsonObject) => boolean | Promise<boolean>);
  /** Milliseconds until a call without approval is denied. Default: it waits for ever. */
  readonly approvalTimeoutMs?: number;
}
