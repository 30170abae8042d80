/** The model of an example: a real one when OPENAI_API_KEY is set, else one that plays a script. */
import { openai } from '@ai-sdk/openai';
import type { ModelEntry, ModelFunction, ModelReply } from '../src/index.ts';

/** What a model says when there is no real one: a list of replies, or a function. */
export type ExampleScript = readonly ModelReply[] | ModelFunction;

/**
 * `gpt-5-mini`, or `EXAMPLE_MODEL`, of OpenAI when a key is set; else the script: its function, or
 * reply n of its list in iteration n, so that every example runs on a machine that has nothing but Node.
 */
export function exampleModel(script: ExampleScript): ModelEntry['model'] {
  if (process.env['OPENAI_API_KEY']) return openai(process.env['EXAMPLE_MODEL'] ?? 'gpt-5-mini');
  if (typeof script === 'function') return script;
  return async ({ iteration }, { onChunk }) => {
    const reply = script[iteration - 1];
    if (reply === undefined) {
      throw new Error(`Expected at most ${script.length} turns, got asked for turn ${iteration}.`);
    }
    onChunk({ kind: 'text', delta: reply.content ?? '' });
    return { usage: { inputTokens: 100, outputTokens: 10 }, ...reply };
  };
}
