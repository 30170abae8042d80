/**
 * A scripted model: what it says in each turn, as data, and the same as the sections of a
 * react agent, as native calls of a chat agent, and as fixtures of a mock server. A reply depends
 * only on the request, so a call that is repeated after a crash gets the same reply.
 */
import { xmlFormat } from '../src/core/format/xml.ts';
import type { Json, JsonObject } from '../src/core/base/json.ts';
import type { ModelFunction, ModelReply } from '../src/core/contract/model.ts';
import { yamlText } from '../src/core/text/yaml-text.ts';
import { fromJson, printValue } from '../src/lisp.ts';
import { serviceTime } from './latency.ts';

/** One turn: a thought, and calls, the answer or a program. */
export interface ScriptTurn {
  readonly thinking: string;
  /** Set in scripts of the variant `lisp`, in place of calls and answer. */
  readonly program?: string;
  readonly calls?: readonly { readonly tool: string; readonly args: JsonObject }[];
  readonly answer?: string;
}

/**
 * How the agent works: react with YAML or JSON calls, or with programs that make the calls, or
 * native calls. The others are react with YAML: `search` has to find its tools, `window` sees only
 * its last entries, `summary` is summarized. In `lisp` every turn is a program, the last of which
 * returns the answer.
 */
export type ScriptVariant =
  'yaml' | 'json' | 'program' | 'chat' | 'search' | 'window' | 'summary' | 'lisp';

/** The usage of every reply, so that totals follow from the number of replies. */
export const REPLY_TOKENS = { input: 100, output: 10 } as const;

const USAGE = { inputTokens: REPLY_TOKENS.input, outputTokens: REPLY_TOKENS.output };

/** The turn as the text of a react agent: XML sections, calls as YAML or JSON or as a program. */
export function reactText(
  turn: ScriptTurn,
  variant: Exclude<ScriptVariant, 'chat' | 'lisp'>,
): string {
  const { thinking, calls = [], answer } = turn;
  return xmlFormat().format([
    { name: 'thinking', content: thinking },
    ...(calls.length === 0 ? [] : [callSection(calls, variant)]),
    ...(answer === undefined ? [] : [{ name: 'answer', content: answer }]),
  ]);
}

type ScriptCalls = NonNullable<ScriptTurn['calls']>;

function callSection(
  calls: ScriptCalls,
  variant: ScriptVariant,
): { readonly name: string; readonly content: string } {
  if (variant === 'program') return { name: 'program', content: programText(calls) };
  const value: Json = calls.map(({ tool, args }) => ({ tool, args }));
  const content = variant === 'json' ? JSON.stringify(value) : yamlText(value);
  return { name: 'action', content };
}

/** A program that makes the calls in parallel, as a turn does. */
function programText(calls: ScriptCalls): string {
  const forms = calls.map(
    ({ tool, args }) => `(tool/${tool} ${printValue(fromJson(args), 'readable')})`,
  );
  const [first = ''] = forms;
  return forms.length === 1 ? first : `(pcalls ${forms.map((form) => `#${form}`).join('\n  ')})`;
}

/** The turn as a model function returns it. */
export function scriptReply(turn: ScriptTurn, variant: ScriptVariant): ModelReply {
  if (variant === 'lisp') {
    const content = `${turn.thinking}\n\`\`\`clojure\n${turn.program ?? ''}\n\`\`\``;
    return { content, finishReason: 'stop', usage: USAGE };
  }
  if (variant !== 'chat') {
    return { content: reactText(turn, variant), finishReason: 'stop', usage: USAGE };
  }
  const toolCalls = (turn.calls ?? []).map(({ tool, args }) => ({ name: tool, args }));
  return {
    content: turn.answer ?? turn.thinking,
    toolCalls,
    finishReason: toolCalls.length === 0 ? 'stop' : 'tool_calls',
    usage: USAGE,
  };
}

/** What a scripted model needs besides its script. */
export interface ScriptedModelOptions {
  /** How long a reply takes, in ms; default 0. */
  readonly latencyMs?: number;
  /** Summaries, by the iteration after which they are asked for. */
  readonly summaries?: { readonly [iteration: number]: string };
}

/**
 * A model function that plays the script: turn n in iteration n, piece by piece as providers do. It
 * throws when the script is over.
 */
export function scriptedModel(
  script: readonly ScriptTurn[],
  variant: ScriptVariant,
  { latencyMs = 0, summaries = {} }: ScriptedModelOptions = {},
): ModelFunction {
  return async ({ mode, iteration }, { signal, onChunk }) => {
    // An agent of these modes asks for plain text when it wants a summary.
    const reply =
      mode === 'text' ? summaryReply(summaries, iteration) : turnReply(script, variant, iteration);
    await serviceTime(latencyMs, signal);
    for (const delta of piecesOf(reply.content ?? '')) onChunk({ kind: 'text', delta });
    for (const { args } of reply.toolCalls ?? []) {
      for (const delta of piecesOf(JSON.stringify(args))) onChunk({ kind: 'tool_args', delta });
    }
    return reply;
  };
}

function turnReply(
  script: readonly ScriptTurn[],
  variant: ScriptVariant,
  iteration: number,
): ModelReply {
  const turn = script[iteration - 1];
  if (turn !== undefined) return scriptReply(turn, variant);
  throw new Error(`Expected at most ${script.length} turns, got asked for turn ${iteration}.`);
}

function summaryReply(
  summaries: { readonly [iteration: number]: string },
  iteration: number,
): ModelReply {
  const content = summaries[iteration];
  if (content !== undefined) return { content, finishReason: 'stop', usage: USAGE };
  const known = Object.keys(summaries).join(', ') || 'none';
  throw new Error(`Expected a summary after one of the iterations ${known}, got ${iteration}.`);
}

/** A few words each, so that the stream is visible. */
function piecesOf(text: string): readonly string[] {
  return text.match(/[^]{1,24}/gu) ?? [];
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
