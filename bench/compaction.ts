/**
 * `compaction`: a run of 500 iterations with 2 KB results and a context window of 8,000 tokens. Its
 * scratchpad is compacted by the defaults: `context(0.8)`, `mask()`, then `summarize({ keepRecent:
 * 3 })`.
 *
 * - `largest_share`: the largest request to the model, including requests for summaries, in bytes
 *   divided by 4, as a share of the window. The goal is the share at which compaction is due.
 * - `overhead_bytes`, `events`: as in `history`. Calls for summaries are divided among the
 *   iterations, so there may be a little more than 12 events.
 * - `compactions`, `summaries`: how often the scratchpad changed, and how often a model wrote a
 *   summary.
 * - `scratchpad_length`: entries of the scratchpad at the end.
 */
import { defineAgent } from '../src/define/agent/define-agent.ts';
import { jsonToolchain } from '../src/define/agent/reply-layout.ts';
import { defineTool } from '../src/define/tool/define-tool.ts';
import type { AgentDefinition } from '../src/define/definition/definitions.ts';
import type { ModelRequest } from '../src/core/contract/model.ts';
import { withStage } from './support/bench-stage.ts';
import { figure, type Bench } from './support/figure.ts';
import { iterationsOf, readLinks } from './support/history-reader.ts';

const ITERATIONS = 500;
const WINDOW_TOKENS = 8_000;
const SHARE = 0.8;
const RESULT_BYTES = 2_000;
const BYTES_PER_TOKEN = 4;

/** Asks for another part than the iteration before: equal calls end a run. */
function replyIn(iteration: number): string {
  const part = 10 + (iteration % 90);
  return `<thinking>I read on.</thinking><action>{"tool": "read", "args": {"part": ${part}}}</action>`;
}

/** The benchmark `compaction`. */
export const compactionBench: Bench = {
  name: 'compaction',
  about: `${ITERATIONS} iterations in a context window of ${WINDOW_TOKENS} tokens`,
  run: () =>
    withStage(async (stage) => {
      const sizes: number[] = [];
      const { everloop } = await stage.serve([reader((tokens) => sizes.push(tokens))]);
      const run = await everloop.start('reader', { task: 'Read it all.', limits: 'unlimited' });
      const { status, iterations, stats, usage } = await run.result();
      if (status !== 'success' || iterations !== ITERATIONS) {
        throw new Error(`Expected ${ITERATIONS} iterations, got ${iterations}, ${status}.`);
      }
      const costs = (await readLinks(stage.client, run.id)).flatMap(iterationsOf);
      const summaries = usage.modelCalls - ITERATIONS;
      const perIteration = (sum: number): number => sum / (costs.length - summaries);
      return [
        figure('largest_share', Math.max(...sizes) / WINDOW_TOKENS, '', `<= ${SHARE}`),
        figure(
          'overhead_bytes',
          perIteration(
            costs.reduce((sum, { bytes, payloadBytes }) => sum + bytes - payloadBytes, 0),
          ),
          'B',
          '<= 3072',
        ),
        figure('events', perIteration(costs.reduce((sum, { events }) => sum + events, 0)), ''),
        figure('compactions', stats.counters['agent:compactions'] ?? 0, ''),
        figure('summaries', summaries, ''),
        figure('scratchpad_length', stats.gauges['agent:scratchpad_length'] ?? 0, ''),
      ];
    }),
};

/** Reads a part in each iteration except the last; `onRequest` gets the tokens of each request. */
function reader(onRequest: (tokens: number) => void): AgentDefinition {
  const result = 'Some words of a long document. '.repeat(100).slice(0, RESULT_BYTES);
  return defineAgent({
    name: 'reader',
    mode: 'react',
    model: {
      id: 'm',
      contextWindow: WINDOW_TOKENS,
      model: async (request) => {
        const inputTokens = tokensOf(request);
        onRequest(inputTokens);
        const content = replyTo(request);
        const outputTokens = Math.ceil(content.length / BYTES_PER_TOKEN);
        return { content, usage: { inputTokens, outputTokens } };
      },
    },
    tools: [
      defineTool({
        name: 'read',
        description: 'Reads a part.',
        parameters: {
          type: 'object',
          properties: { part: { type: 'integer' } },
          required: ['part'],
        },
        effect: 'read',
        execute: () => result,
      }),
    ],
    toolchain: jsonToolchain(),
  });
}

function replyTo({ mode, iteration }: ModelRequest): string {
  if (mode === 'text') return `# Done so far\nRead ${iteration} parts. ${'A finding. '.repeat(40)}`;
  return iteration < ITERATIONS ? replyIn(iteration) : '<answer>All of it is read.</answer>';
}

/** Tokens by the rule of the trigger; a model function gets its messages as text. */
function tokensOf({ messages }: ModelRequest): number {
  const bytes = messages
    .flatMap(({ parts }) => parts)
    .reduce((sum, part) => sum + ('text' in part ? Buffer.byteLength(part.text) : 0), 0);
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
