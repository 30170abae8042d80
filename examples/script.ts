/**
 * A scripted model: what it says in each turn, as data, and the same written as the sections of a
 * react agent, as native calls of a chat agent, and as fixtures of a mock server. A reply depends
 * on the request alone, so a call that is repeated after a crash gets the same reply.
 */
import { xmlFormat } from '../src/core/format/xml.ts';
import type { Json, JsonObject } from '../src/core/json.ts';
import type { ModelFunction, ModelReply } from '../src/core/model/model.ts';
import { yamlText } from '../src/core/text/yaml-text.ts';
import { serviceTime } from './latency.ts';

/** One turn: a thought, and calls or the answer. */
export interface ScriptTurn {
  readonly thinking: string;
  readonly calls?: readonly { readonly tool: string; readonly args: JsonObject }[];
  readonly answer?: string;
}

/** How the agent writes: react with YAML or JSON calls, or native calls; `search`: YAML, and tools to be searched. */
export type ScriptVariant = 'yaml' | 'json' | 'chat' | 'search';

/** What every reply costs, so that totals can be told by counting replies. */
export const REPLY_TOKENS = { input: 100, output: 10 } as const;

/** The turn as the text of a react agent: XML sections, calls as YAML or JSON. */
export function reactText(turn: ScriptTurn, variant: Exclude<ScriptVariant, 'chat'>): string {
  const { thinking, calls = [], answer } = turn;
  const write = (value: Json): string =>
    variant === 'json' ? JSON.stringify(value) : yamlText(value);
  return xmlFormat().format([
    { name: 'thinking', content: thinking },
    ...(calls.length === 0
      ? []
      : [{ name: 'action', content: write(calls.map(({ tool, args }) => ({ tool, args }))) }]),
    ...(answer === undefined ? [] : [{ name: 'answer', content: answer }]),
  ]);
}

/** The turn as a model function returns it. */
export function scriptReply(turn: ScriptTurn, variant: ScriptVariant): ModelReply {
  const usage = { inputTokens: REPLY_TOKENS.input, outputTokens: REPLY_TOKENS.output };
  if (variant !== 'chat') return { content: reactText(turn, variant), finishReason: 'stop', usage };
  const toolCalls = (turn.calls ?? []).map(({ tool, args }) => ({ name: tool, args }));
  return {
    content: turn.answer ?? turn.thinking,
    toolCalls,
    finishReason: toolCalls.length === 0 ? 'stop' : 'tool_calls',
    usage,
  };
}

/**
 * A model function that says the script: turn n in iteration n. It throws when it is asked for
 * more, and waits `latencyMs` before it replies.
 */
export function scriptedModel(
  script: readonly ScriptTurn[],
  variant: ScriptVariant,
  options: { readonly latencyMs?: number } = {},
): ModelFunction {
  return async ({ iteration }, { signal }) => {
    const turn = script[iteration - 1];
    if (turn === undefined) {
      throw new Error(`Expected at most ${script.length} turns, got asked for turn ${iteration}.`);
    }
    await serviceTime(options.latencyMs ?? 0, signal);
    return scriptReply(turn, variant);
  };
}

/** A reply of a mock server: a part of what `@copilotkit/aimock` takes as a fixture. */
export interface ScriptFixture {
  readonly match: { predicate(request: { readonly messages: readonly unknown[] }): boolean };
  readonly response: {
    content: string;
    toolCalls?: { name: string; arguments: string; id: string }[];
    finishReason: string;
    usage: { [name: string]: number };
  };
}

/**
 * The script as fixtures for `addFixtures` of aimock. `about` is a text of the conversation, such
 * as the task: a server may play several scripts. Turn n answers a request with n - 1 replies.
 */
export function scriptFixtures(
  script: readonly ScriptTurn[],
  variant: ScriptVariant,
  about: string,
): ScriptFixture[] {
  return script.map((turn, index) => ({
    match: {
      predicate: ({ messages }) => {
        const replies = messages.filter((message) => roleOf(message) === 'assistant').length;
        // Compared as JSON, so that quotes and line breaks in the text do not matter.
        const wanted = JSON.stringify(about).slice(1, -1);
        return replies === index && JSON.stringify(messages).includes(wanted);
      },
    },
    response: fixtureResponse(turn, variant, index),
  }));
}

function fixtureResponse(
  turn: ScriptTurn,
  variant: ScriptVariant,
  index: number,
): ScriptFixture['response'] {
  const { content, toolCalls = [], finishReason } = scriptReply(turn, variant);
  const { input, output } = REPLY_TOKENS;
  return {
    content: content ?? '',
    ...(toolCalls.length === 0
      ? {}
      : {
          toolCalls: toolCalls.map(({ name, args }, call) => ({
            name,
            arguments: JSON.stringify(args),
            id: `call_${index + 1}_${call + 1}`,
          })),
        }),
    finishReason: finishReason ?? 'stop',
    // Each protocol reads the names that it knows.
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      input_tokens: input,
      output_tokens: output,
      promptTokenCount: input,
      candidatesTokenCount: output,
    },
  };
}

function roleOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'role' in message
    ? message.role
    : undefined;
}
