/**
 * Turns the call of an LLM tool into the question that a model is asked. Pure. The question is like
 * a small run of mode `json` or `text`: it has a head, and these modes read nothing else of a run.
 */
import { defined } from '../base/defined.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { Message } from '../base/message.ts';
import type { OutputStrategy } from '../contract/model.ts';
import { coerceInputs } from '../signature/coerce-inputs.ts';
import { validationSchema } from '../signature/json-schema.ts';
import { explainSignature, parseSignature } from '../signature/parse-signature.ts';
import { hiddenFields, type Signature } from '../contract/signature.ts';
import { expandTemplate } from '../template/expand-template.ts';
import { parseTemplate } from '../template/parse-template.ts';
import { nearestName } from '../text/nearest.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import type { InlineRequest } from '../contract/host-order.ts';
import type { ModeRules } from '../modes/mode.ts';
import { jsonMode } from '../modes/json.ts';
import { textMode } from '../modes/text.ts';
import type { AgentSpec, LlmToolSpec, ToolModelSpec } from '../contract/spec.ts';

/** A question, ready to be asked. */
export interface LlmQuestion {
  readonly mode: ModeRules;
  /** Its specification is that of the question, under the name of the agent that asks. */
  readonly head: TranscriptHead;
  /** Full JSON Schema of the answer; absent: text. */
  readonly schema?: JsonObject;
  readonly maxTurns: number;
}

/**
 * A question, or what the caller must correct (a line for each problem), or why it cannot be asked.
 */
export type QuestionReading =
  | { readonly kind: 'question'; readonly question: LlmQuestion }
  | { readonly kind: 'unfit'; readonly lines: readonly string[] }
  | { readonly kind: 'failed'; readonly message: string };

/** The question of a call with `args`, which fit the parameters of the tool; never throws. */
export function readLlmQuestion(
  caller: AgentSpec,
  llm: LlmToolSpec,
  args: JsonObject,
): QuestionReading {
  const isQuery = llm.prompt === undefined;
  const asked = isQuery ? readQuery(caller, llm, args) : { llm, prompt: llm.prompt, args };
  if ('lines' in asked) return { kind: 'unfit', lines: asked.lines };
  const coerced = coerceInputs(asked.llm.params, asked.args);
  if (coerced.problems.length > 0) return { kind: 'unfit', lines: coerced.problems };
  const text = filledIn(asked.prompt, coerced.inputs);
  if (text.kind === 'problem') {
    // The caller can correct a template that it wrote in this call, but not one of the tool.
    return isQuery
      ? { kind: 'unfit', lines: [`prompt: ${text.message}`] }
      : { kind: 'failed', message: text.message };
  }
  const { output, maxTurns } = asked.llm;
  const head: TranscriptHead = {
    spec: questionSpec(caller, asked.llm, asked.prompt),
    task: { text: text.text },
    context: coerced.inputs,
  };
  return {
    kind: 'question',
    question: {
      mode: output === undefined ? textMode : jsonMode,
      head,
      maxTurns: output === undefined ? 1 : maxTurns,
      ...defined({ schema: output?.schema }),
    },
  };
}

/** The request of one attempt; `messages` are those after the question. */
export function questionRequest(
  { mode, head }: LlmQuestion,
  messages: readonly Message[],
  strategy: OutputStrategy | undefined,
): InlineRequest {
  const {
    agent: _agent,
    runId: _runId,
    iteration: _iteration,
    ...request
  } = mode.buildRequest(head, messages, {
    runId: '',
    iteration: 0,
    attempt: 1,
    lastTurn: false,
    ...defined({ structuredOutput: strategy }),
  });
  const { attempt: _attempt, settings: _settings, ...inline } = request;
  return inline;
}

interface Asked {
  readonly llm: LlmToolSpec;
  readonly prompt: string;
  readonly args: JsonObject;
}

/** The arguments of `llm_query` after its schema was applied. */
interface QueryArguments {
  readonly prompt: string;
  readonly signature?: string;
  readonly model?: string;
  readonly [name: string]: Json | undefined;
}

/** What a call of `llm_query` asks, with its other arguments as inputs; or all of its problems. */
function readQuery(
  caller: AgentSpec,
  { maxTurns }: LlmToolSpec,
  given: JsonObject,
): Asked | { readonly lines: readonly string[] } {
  const { prompt, signature = ':string', model, ...rest } = given as unknown as QueryArguments;
  const template = parseTemplate(prompt);
  const reading = parseSignature(signature);
  const { params, output } = reading.kind === 'problem' ? NO_SIGNATURE : reading.signature;
  const hidden = hiddenFields([...params, { name: 'output', type: output }]);
  const lines = [
    ...(template.kind === 'problem' ? [`prompt: ${template.message}`] : []),
    ...(reading.kind === 'problem' ? [explainSignature(reading)] : []),
    ...(hidden.length === 0
      ? []
      : [
          `signature: expected no hidden fields, got ${hidden.map((it) => `\`${it}\``).join(', ')}`,
        ]),
    ...unknownModel(caller, model),
  ];
  if (lines.length > 0) return { lines };
  const llm: LlmToolSpec = {
    params,
    maxTurns,
    ...defined({
      output:
        output.kind === 'string' ? undefined : { type: output, schema: validationSchema(output) },
      model,
    }),
  };
  return { llm, prompt, args: rest as JsonObject };
}

const NO_SIGNATURE: Signature = { params: [], output: { kind: 'string' } };

function unknownModel({ toolModels = [] }: AgentSpec, model?: string): readonly string[] {
  const known = toolModels.map(({ id }) => id);
  if (model === undefined || known.includes(model)) return [];
  const near = nearestName(model, known);
  const hint = near === undefined ? '' : `, did you mean "${near}"?`;
  return [`model: expected one of ${known.join(', ')}, got "${model.slice(0, 200)}"${hint}`];
}

function filledIn(prompt: string, args: JsonObject): ReturnType<typeof expandTemplate> {
  const reading = parseTemplate(prompt);
  return reading.kind === 'problem' ? reading : expandTemplate(reading.nodes, args);
}

/** The part of a specification that the modes read, for one question. */
function questionSpec(caller: AgentSpec, llm: LlmToolSpec, prompt: string): AgentSpec {
  const { output } = llm;
  return {
    v: 1,
    name: caller.name,
    mode: output === undefined ? 'text' : 'json',
    prompt,
    instructions: null,
    rules: null,
    models: modelsOf(caller, llm.model),
    tools: [],
    toolchain: caller.toolchain,
    answer: {
      kind: output === undefined ? 'text' : 'json',
      section: caller.answer.section,
      ...defined({ schema: output?.schema, output: output?.type }),
      validators: [],
    },
    react: null,
    examples: [],
    parallel: true,
    maxCallsPerTurn: 1,
    limits: [],
    timeZone: caller.timeZone,
    queues: caller.queues,
  };
}

/** The model and its fallbacks. */
function modelsOf(
  { models, toolModels = [] }: AgentSpec,
  wanted: string | undefined,
): AgentSpec['models'] {
  const [own] = models;
  const byId = new Map(toolModels.map((model) => [model.id, model]));
  const first: ToolModelSpec | undefined = byId.get(wanted ?? own?.id ?? '') ?? own;
  if (first === undefined) return [];
  return [first, ...(first.fallbacks ?? []).flatMap((id) => byId.get(id) ?? [])];
}
