/** docs/compiled-agents.md: its code is that of examples which run here. */
import { expect, test } from 'vitest';
import { learn, repeat, reporterWith } from '../../examples/docs/compiled-agents.ts';
import { compiledFrom } from '../../src/core/program-text/compiled.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { fakeRun } from '../cli/cli-fixture.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';

test('docs/compiled-agents.md quotes its example', () => {
  expect(blocksOf('compiled-agents').size).toBeGreaterThan(0);
  expect(blocksOf('compiled-agents')).toEqual(regionsOf('compiled-agents'));
});

const LOOK =
  '```clojure\n(defn cents [shop] (tool/sales {:shop shop :month data/month}))\n(map cents data/shops)\n```';
const ANSWER =
  '```clojure\n(return {:total (sum (map cents data/shops)) :best (last (sort-by cents data/shops))})\n```';

test('compiled in February, run in March', async () => {
  const script = scriptedModel([LOOK, ANSWER]);
  const agent = reporterWith(script.model);
  const everloop = {
    compileAgent: async (_name: string, options: Parameters<typeof compiling>[0] = {}) =>
      compiling(options),
    runCompiled: async (compiled: Awaited<ReturnType<typeof compiling>>, options = {}) => {
      const run = startInMemory({ agent, compiled, ...options });
      return fakeRun('r', { result: () => run.result });
    },
  };
  async function compiling({ context }: { readonly context?: object }) {
    const run = startInMemory({ agent, context: context as never });
    const step = await run.result;
    return compiledFrom({ step, entries: run.entries, events: run.events });
  }

  const compiled = await learn(everloop as never);
  const report = await repeat(everloop as never, compiled, {
    shops: ['Bergen', 'Nice'],
    month: '2026-03',
  });

  script.assertDone();
  expect(compiled.tools).toEqual(['sales']);
  expect(report).toEqual({ total: 2_400, best: 'Bergen' });
});
