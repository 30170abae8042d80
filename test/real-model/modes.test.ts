/** Every mode with a real model: whatever it writes, a run ends as what it is. */
import { describe, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { ModelMiddleware } from '../../src/define/definition/middleware.ts';
import type { ModelEntry } from '../../src/define/model/model-entry.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { withHiddenValue } from '../support/hidden-values.ts';
import { realModelEntry } from '../support/real-model.ts';
import { bodiesOf } from '../support/runs.ts';
import { CONTEXT_TOKENS } from './llama-server.ts';

function entry(more?: Partial<ModelEntry>): ModelEntry {
  return realModelEntry(inject('realModel'), more);
}

const output = z.object({
  sentiment: z.enum(['positive', 'neutral', 'negative']),
  stars: z.int().min(1).max(5),
});

describe('a real model', () => {
  test.each<{ readonly stream: 'always' | false }>([{ stream: 'always' }, { stream: false }])(
    'answers with a text, and its usage is known: %j',
    async ({ stream }) => {
      const pieces: string[] = [];
      const settings = stream === false ? { settings: { stream } } : { stream };
      const agent = defineAgent({ name: 'teller', mode: 'text', model: entry(settings) });

      const run = startInMemory({
        agent,
        task: 'What is the capital of France? Answer in one sentence.',
        context: withHiddenValue(),
        chunks: {
          publish: (chunk) => {
            if ('delta' in chunk && chunk.kind === 'text') pieces.push(chunk.delta);
          },
        },
      });
      const { status, value, usage } = await run.result;

      expect({ status, value }).toEqual({
        status: 'success',
        value: expect.stringContaining('Paris'),
      });
      expect(usage.outputTokens).toBeGreaterThan(1);
      expect(usage.inputTokens).toBeGreaterThan(10);
      expect(pieces.join('').trim()).toBe(value);
    },
  );

  test.each(['schema', 'tool'] as const)(
    'fits a schema at the first try: %s',
    async (structuredOutput) => {
      const agent = defineAgent({
        name: 'rater',
        mode: 'json',
        model: entry({ structuredOutput }),
        signature: { output },
      });

      const step = await startInMemory({
        agent,
        task: 'Rate this review: The best chair I have ever had!',
        context: withHiddenValue(),
      }).result;

      expect(output.safeParse(step.value).success).toBe(true);
      expect(step).toMatchObject({ status: 'success', usage: { modelCalls: 1 } });
    },
  );

  test('calls a tool with arguments that its server holds to the schema', async () => {
    const asked: string[] = [];
    const parameters = z.object({ city: z.enum(['Oslo', 'Paris']) });
    const look = defineTool({
      name: 'look',
      description: 'Looks at the weather of a city.',
      parameters,
      execute: ({ city }) => {
        asked.push(city);
        return `Rain in ${city}.`;
      },
    });
    // So small a model seldom calls by itself.
    const first: ModelMiddleware = (request, next) =>
      next(request.iteration === 1 ? { ...request, toolChoice: 'required' } : request);
    const agent = defineAgent({
      name: 'clerk',
      mode: 'chat',
      model: entry(),
      tools: [look],
      modelMiddleware: [first],
      limits: { iterations: 4 },
    });

    const run = startInMemory({
      agent,
      task: 'How is the weather in Oslo?',
      context: withHiddenValue(),
    });
    const step = await run.result;

    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((city) => !parameters.safeParse({ city }).success)).toEqual([]);
    expect(['success', 'limit_exceeded']).toContain(step.status);
  });

  test.each(['react', 'lisp', 'json'] as const)(
    'that follows no form ends a run of mode %s as what it is',
    async (mode) => {
      const agent = defineAgent({
        name: 'tester',
        mode,
        model: entry({ structuredOutput: 'prompt', maxOutputTokens: 80 }),
        ...(mode === 'json' ? { signature: { output } } : {}),
        // On a busy machine it writes eight tokens a second.
        limits: { iterations: 4 },
      });

      const run = startInMemory({
        agent,
        task: 'Rate this review: It smells of plastic.',
        context: withHiddenValue(),
      });
      const { status, reason } = await run.result;

      const ends = /^(?:answered|validation_error|json_parse_error|answer_cut|agent:.*)$/;
      expect({ status, reason }).toEqual({
        status: expect.stringMatching(/^(?:success|error|limit_exceeded)$/),
        reason: expect.stringMatching(ends),
      });
      expect(bodiesOf(run.events, 'agent:model_attempt_failed')).toEqual([]);
    },
  );

  test('says that a request is too long for it', async () => {
    const agent = defineAgent({ name: 'teller', mode: 'text', model: entry() });

    const step = await startInMemory({
      agent,
      task: `Sum up: ${'the tea was late and cold. '.repeat(CONTEXT_TOKENS / 4)}`,
      context: withHiddenValue(),
    }).result;

    expect(step).toMatchObject({ status: 'error', reason: 'context_too_long' });
  });

  test('goes on with a conversation that was too long once it is shortened', async () => {
    const look = defineTool({
      name: 'look',
      description: 'Looks at the weather of a city.',
      parameters: z.object({ city: z.enum(['Oslo', 'Paris']) }),
      execute: () => 'It rains a bit. '.repeat(CONTEXT_TOKENS / 8),
    });
    const early: ModelMiddleware = (request, next) =>
      next(request.iteration <= 3 ? { ...request, toolChoice: 'required' } : request);
    const agent = defineAgent({
      name: 'clerk',
      mode: 'chat',
      model: entry({ contextWindow: CONTEXT_TOKENS, maxOutputTokens: 100 }),
      tools: [look],
      modelMiddleware: [early],
      limits: { iterations: 6 },
    });

    const run = startInMemory({
      agent,
      task: 'How is the weather in Oslo and in Paris?',
      context: withHiddenValue(),
    });
    const step = await run.result;

    expect(step.usage.modelCalls).toBeGreaterThan(3);
    expect(bodiesOf(run.events, 'agent:compaction').length).toBeGreaterThan(0);
    expect(step.reason).not.toBe('context_too_long');
  });
});
