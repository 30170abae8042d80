/** The agents and models of docs/structured-output.md. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { defineAgent, defineValidator, textOf, unwrap } from '../../src/index.ts';
import type {
  AgentDefinition,
  AgentModel,
  Everloop,
  JsonObject,
  ModelEntry,
  ModelFunction,
  ModelRequest,
  RunHandle,
} from '../../src/index.ts';
import { exampleModel } from '../example-model.ts';

/** What is said about a review. */
export interface Triage {
  readonly sentiment: string;
  readonly score?: number | null;
}

/** Classifies a review. */
export function triageWith(
  model: AgentModel,
): AgentDefinition<Triage, { readonly review: string }> {
  // #region triage
  const triage = defineAgent({
    name: 'triage',
    mode: 'json',
    model,
    signature: '(review :string) -> {sentiment :string, score :float?}',
    prompt: 'Classify this review: {{review}}',
    fieldDescriptions: {
      sentiment: 'positive, neutral or negative',
      score: 'how sure you are, 0 to 1',
    },
  });
  // #endregion
  return triage;
}

/** Rates a review; what each strategy sends of it stands in the page. */
export function raterWith(model: AgentModel): AgentDefinition {
  // #region rater
  const rater = defineAgent({
    name: 'rater',
    mode: 'json',
    model,
    signature: {
      output: z.object({
        sentiment: z.enum(['good', 'bad']).describe('How it sounds'),
        stars: z.int().min(1).max(5),
      }),
    },
  });
  // #endregion
  return rater;
}

/** Extracts what a schema in a file says. */
export function extractorWith(model: AgentModel, file: string): AgentDefinition {
  // #region parsed
  const output = JSON.parse(readFileSync(file, 'utf8')) as JsonObject;

  const extractor = defineAgent({ name: 'extractor', mode: 'json', model, signature: { output } });
  // #endregion
  return extractor;
}

/** Extracts an invoice, checked by a schema library and by a validator. */
export function invoiceWith(model: AgentModel): AgentDefinition {
  // #region invoice
  const invoice = defineAgent({
    name: 'invoice',
    mode: 'json',
    model,
    signature: {
      output: z.object({
        number: z.string().describe('as it is printed'),
        lines: z.array(z.object({ text: z.string(), amount: z.number().positive() })),
        total: z.number(),
      }),
    },
    validators: [
      defineValidator<{ lines: { amount: number }[]; total: number }>({
        name: 'adds_up',
        validate: ({ lines, total }) => {
          const sum = lines.reduce((before, line) => before + line.amount, 0);
          if (Math.abs(sum - total) < 0.005) return { accepted: true };
          return { accepted: false, feedback: `The lines add up to ${sum}, not to ${total}.` };
        },
      }),
    ],
    maxTurns: 3,
  });
  // #endregion
  return invoice;
}

/** Asks an OpenAI-compatible service at `url` and returns its message. */
async function post(url: string, body: object, signal: unknown): Promise<ServiceMessage> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: signal as AbortSignal,
  });
  if (!response.ok) {
    throw Object.assign(new Error(await response.text()), { statusCode: response.status });
  }
  return ((await response.json()) as ServiceReply).choices[0].message;
}

interface ServiceMessage {
  readonly content: string | null;
  readonly tool_calls?: readonly { readonly function: { name: string; arguments: string } }[];
}

interface ServiceReply {
  readonly choices: readonly [{ readonly message: ServiceMessage }];
}

function chat({ messages }: ModelRequest): object[] {
  return messages.map((message) => ({ role: message.role, content: textOf(message) }));
}

/** A callback that asks for JSON Schema output. */
export function schemaEntry(url: string): ModelEntry {
  // #region schema
  const bySchema: ModelFunction = async (request, { signal }) => {
    const { content } = await post(
      url,
      {
        model: 'gpt-5-mini',
        messages: chat(request),
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'answer', schema: request.schema },
        },
      },
      signal,
    );
    return { content };
  };
  const entry: ModelEntry = { id: 'by-schema', model: bySchema, structuredOutput: 'schema' };
  // #endregion
  return entry;
}

/** A callback that forces a call of `respond`. */
export function toolEntry(url: string): ModelEntry {
  // #region tool
  const byTool: ModelFunction = async ({ tools = [], ...request }, { signal }) => {
    const message = await post(
      url,
      {
        model: 'gpt-5-mini',
        messages: chat(request),
        tools: tools.map((tool) => ({ type: 'function', function: tool })),
        tool_choice: { type: 'function', function: { name: 'respond' } },
      },
      signal,
    );
    return {
      content: message.content,
      toolCalls: (message.tool_calls ?? []).map((call) => call.function),
    };
  };
  const entry: ModelEntry = { id: 'by-tool', model: byTool, structuredOutput: 'tool' };
  // #endregion
  return entry;
}

/** A callback that relies on the prompt. */
export function promptEntry(url: string): ModelEntry {
  // #region prompt
  const byPrompt: ModelFunction = async (request, { signal }) => {
    const { content } = await post(
      url,
      {
        model: 'gpt-5-mini',
        messages: chat(request),
        // Here the schema only shows that JSON is wanted.
        ...(request.schema === undefined ? {} : { response_format: { type: 'json_object' } }),
      },
      signal,
    );
    return { content };
  };
  const entry: ModelEntry = { id: 'by-prompt', model: byPrompt, structuredOutput: 'prompt' };
  // #endregion
  return entry;
}

/** A callback that ignores the schema. */
export function plainModel(url: string): ModelFunction {
  // #region plain
  const plain: ModelFunction = async (request, { signal }) => {
    const body = { model: 'gpt-5-mini', messages: chat(request) };
    return (await post(url, body, signal)).content ?? '';
  };
  // #endregion
  return plain;
}

/** For `everloop run` and `everloop preview`. */
export const triage: AgentDefinition<Triage, { readonly review: string }> = triageWith(
  exampleModel([{ content: '{"sentiment": "positive", "score": 0.9}' }]),
);

/** The same for invoices. */
export const invoice: AgentDefinition = invoiceWith(
  exampleModel([
    { content: '{"number": "A-7", "lines": [{"text": "Tea", "amount": 4.5}], "total": 5}' },
    { content: '{"number": "A-7", "lines": [{"text": "Tea", "amount": 4.5}], "total": 4.5}' },
  ]),
);

/** Starts the agent by its definition. */
export async function classify(everloop: Pick<Everloop, 'start'>): Promise<Triage> {
  // #region typed
  const run = await everloop.start(triage, { context: { review: 'Great, but late.' } });
  const { sentiment, score } = unwrap(await run.result()); // string, number | null | undefined
  // #endregion
  return score === undefined ? { sentiment } : { sentiment, score };
}

/** Starts the agent by its name, with the type of its definition. */
export async function classifyByName(
  everloop: Pick<Everloop, 'start'>,
  review: string,
): Promise<RunHandle<Triage>> {
  // #region byType
  const run = await everloop.start<typeof triage>('triage', { context: { review } });
  // #endregion
  return run;
}

/** Runs the agent to its end. */
export async function classifyAtOnce(
  everloop: Pick<Everloop, 'run'>,
  review: string,
): Promise<string> {
  // #region once
  const { sentiment } = await everloop.run(triage, { context: { review } });
  // #endregion
  return sentiment;
}
