/**
 * An appraisal by a program, for tests that kill its worker: a tool weighs three things, then an LLM tool
 * is asked about each weight, one after another. Both write down that they were entered.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { llmTool } from '../../src/define/tool/define-llm-tool.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import { textOf } from '../../src/core/base/message.ts';
import { writing, type SurveyPlace } from './survey.ts';

/** Name of the agent. */
export const APPRAISER = 'appraiser';

/** What is appraised. */
export const THINGS: readonly string[] = ['tea', 'milk', 'bread'];

const PROGRAM = `(def weights (mapv (fn [thing] (tool/weigh {:thing thing})) data/things))
(def words (mapv (fn [grams] (tool/judge {:grams grams})) weights))
(return {:weights weights :words words})`;

/** What comes of {@link THINGS}. */
export const APPRAISAL = { weights: [3, 4, 5], words: ['light 3', 'light 4', 'light 5'] } as const;

/** What is entered for it, in order, when nothing happens: three calls, three questions. */
export const APPRAISED: readonly string[] = [
  ...THINGS.map((thing) => `weigh ${thing}`),
  ...APPRAISAL.weights.map((grams) => `judge ${grams}`),
];

/** The agent; `onEffect` hears when a call or a question has been entered and when it is done. */
export function appraiser(
  { storeDir, latencyMs }: SurveyPlace,
  onEffect: (step: 'begun' | 'done') => void = () => undefined,
): AgentDefinition {
  const noted = async <Value>(line: string, value: Value): Promise<Value> => {
    appendFileSync(join(storeDir, FILE), `${line}\n`);
    onEffect('begun');
    await sleep(latencyMs);
    onEffect('done');
    return value;
  };
  const weigh = defineTool({
    name: 'weigh',
    description: 'Weighs a thing, in grams.',
    parameters: z.object({ thing: z.string() }),
    effect: 'read',
    execute: ({ thing }) => noted(`weigh ${thing}`, thing.length),
  }) as ToolDefinition;
  const judge = llmTool({
    name: 'judge',
    prompt: 'What are {{grams}} grams?',
    signature: '(grams :int) -> :string',
    model: {
      id: 'judge/model',
      model: async ({ messages }) => {
        const [, grams = ''] = /(\d+) grams/.exec(messages.map(textOf).join('\n')) ?? [];
        const content = await noted(`judge ${grams}`, `light ${grams}`);
        return { content, usage: { inputTokens: 30, outputTokens: 3 } };
      },
    },
  });
  return defineAgent({
    name: APPRAISER,
    mode: 'lisp',
    model: { id: 'appraiser/model', model: writing([PROGRAM]) },
    tools: [weigh, judge],
    prompt: 'Appraise {{things}}.',
    signature: '(things [:string]) -> {weights [:int], words [:string]}',
  });
}

const FILE = 'appraised.txt';

/** What was entered, in order, over all processes. */
export function appraisedIn(storeDir: string): readonly string[] {
  return readFileSync(join(storeDir, FILE), 'utf8').trimEnd().split('\n');
}
