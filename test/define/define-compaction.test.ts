import { describe, expect, it } from 'vitest';
import { createRegistry } from '../../src/registry/registry.ts';
import {
  context,
  counter,
  counterPrefix,
  defineAgent,
  gauge,
  gaugePrefix,
  mask,
  slidingWindow,
  summarize,
  type UsageError,
} from '../../src/index.ts';

const model = async (): Promise<string> => 'hi';
const FINE = { triggers: [counter('agent:iterations', 1)], strategies: [slidingWindow(1)] };

/** What is wrong with an agent of this compaction, a line each. */
function problemsOf(compaction: unknown): readonly string[] {
  try {
    defineAgent({ name: 'a', mode: 'react', model, compaction: compaction as never });
    return [];
  } catch (error) {
    return (error as UsageError).message.split('\n').map((line) => line.replace('Agent `a`: ', ''));
  }
}

const triggers = (...list: readonly unknown[]): unknown => ({ ...FINE, triggers: list });
const strategies = (...list: readonly unknown[]): unknown => ({ ...FINE, strategies: list });

describe('the option compaction', () => {
  it.each<{ name: string; compaction: unknown; problems: readonly string[] }>([
    { name: 'false', compaction: false, problems: [] },
    {
      name: 'every trigger and strategy',
      compaction: {
        triggers: [
          counter('$self:agent:tool_calls:search', 1),
          counter('shop:refunds', 2),
          counterPrefix('agent:tool_calls:', 3),
          gauge('agent:scratchpad_length', 0),
          gaugePrefix('shop:', -1),
          context(1),
        ],
        strategies: [slidingWindow(1), mask(), mask({ tools: [] }), summarize({ system: 's' })],
      },
      problems: [],
    },
    {
      name: 'something else',
      compaction: true,
      problems: [
        'Expected `compaction` to be { triggers, strategies } or false, got true. Change it.',
      ],
    },
    {
      name: 'empty lists',
      compaction: { triggers: [], strategies: undefined },
      problems: [
        'Expected `compaction.triggers` to be a list with at least one item, got []. Make them with counter, gauge, context, …',
        'Expected `compaction.strategies` to be a list with at least one item, got none. Make them with slidingWindow, mask, summarize, …',
      ],
    },
    {
      name: 'items of somebody else',
      compaction: { triggers: [mask()], strategies: ['mask'] },
      problems: [
        'Expected `compaction.triggers[0]` to be what one of counter, gauge, context, … returns, got {"kind":"mask","keepRecent":5,"minBytes":1024,"tools":null}. Change it.',
        'Expected `compaction.strategies[0]` to be what one of slidingWindow, mask, summarize, … returns, got "mask". Change it.',
      ],
    },
    {
      name: 'a misspelt field',
      compaction: { ...FINE, strategy: [] },
      problems: ['Expected an option of `compaction`, got `strategy`. Remove it.'],
    },
    {
      name: 'steps and values',
      compaction: triggers(
        counter('agent:iterations', 0),
        counterPrefix('agent:tool_calls:', 1.5),
        gauge('agent:depth', NaN),
        context(0),
        context(1.1),
      ),
      problems: [
        'Expected `step` of `counter` to be a whole number from 1 up, got 0. Change it.',
        'Expected `step` of `counterPrefix` to be a whole number from 1 up, got 1.5. Change it.',
        'Expected `at` of `gauge` to be a finite number, got NaN. Change it.',
        'Expected `share` of `context` above 0 and up to 1, got 0. Change it.',
        'Expected `share` of `context` above 0 and up to 1, got 1.1. Change it.',
      ],
    },
    {
      name: 'keys',
      compaction: triggers(
        counter('iterations', 1),
        counter('agent:depth', 1),
        gauge('agent:iterations', 1),
        counterPrefix('', 1),
        gaugePrefix('agent:tool_calls:', 1),
      ),
      problems: [
        'Expected `key` of `counter` to be a key of a statistic, such as agent:iterations, got "iterations". Change it.',
        'Expected `key` of `counter` to name a counter of the loop, got `agent:depth`. Change it.',
        'Expected `key` of `gauge` to name a gauge of the loop, got `agent:iterations`. Change it.',
        'Expected `prefix` of `counterPrefix` to be a key of a statistic, such as agent:iterations, got "". Change it.',
        'Expected `prefix` of `gaugePrefix` to name a gauge of the loop, got `agent:tool_calls:`. Change it.',
      ],
    },
    {
      name: 'options of strategies',
      compaction: strategies(
        slidingWindow(0),
        mask({ keepRecent: -1, minBytes: 0, tools: 'search' as never }),
        summarize({ keepRecent: 0.5, model: '', prompt: 1 as never, system: '' }),
      ),
      problems: [
        'Expected `keep` of `slidingWindow` to be a whole number from 1 up, got 0. Change it.',
        'Expected `keepRecent` of `mask` to be a whole number from 0 up, got -1. Change it.',
        'Expected `minBytes` of `mask` to be a whole number from 1 up, got 0. Change it.',
        'Expected `tools` of `mask` to be a list of names, got "search". Change it.',
        'Expected `keepRecent` of `summarize` to be a whole number from 0 up, got 0.5. Change it.',
        'Expected `model` of `summarize` to be a text, got "". Change it, or leave it out.',
        'Expected `prompt` of `summarize` to be a text, got 1. Change it, or leave it out.',
        'Expected `system` of `summarize` to be a text, got "". Change it, or leave it out.',
      ],
    },
  ])('[row 26] [row 49] $name', ({ compaction, problems }) => {
    expect(problemsOf(compaction)).toEqual(problems);
  });

  it.each<{ name: string; agent: object; code: string; message: string }>([
    {
      name: 'a share of a window that the model does not name',
      agent: { compaction: { ...FINE, triggers: [context(0.5)] } },
      code: 'no_context_window',
      message:
        'Agent `a`: Expected a `contextWindow` for the model under a `context` trigger, got none for `m`. Add it to the entry, or remove the trigger.',
    },
    {
      name: 'a model for summaries that the worker lacks',
      agent: { compaction: { ...FINE, strategies: [summarize({ model: 'n' })] } },
      code: 'unknown_model',
      message: 'Agent `a`: Expected a model that the worker has (m), got `n`. Add an entry for it.',
    },
  ])('[row 26] [row 49] is refused with $name', ({ agent, code, message }) => {
    const define = (): unknown =>
      createRegistry({
        agents: [defineAgent({ name: 'a', mode: 'react', model: { id: 'm', model }, ...agent })],
      });

    expect(define).toThrow(expect.objectContaining({ code, message }) as Error);
  });
});
