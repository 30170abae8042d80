/**
 * Agents whose programs wait in their middle: for a person in a `map` in a `pmap`, and for a time. The
 * same in the test's process and in one that is killed.
 */
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import { noting, writing, type SurveyPlace } from './survey.ts';

/** Counts people town by town in three regions at once; asks where nobody knows. Nine calls, two questions. */
const CENSUS = `(def counts
  (pmap (fn [region]
          (mapv (fn [town]
                  (let [known (tool/count_people {:region region :town town})]
                    (if (= known 0)
                      (:heads (ask (str "Who lives in " region ", " town "?")
                                   {:options [{:name "nobody" :heads 1} {:name "a crowd" :heads 900}]}))
                      known)))
                ["a" "b" "c"]))
        ["north" "south" "west"]))
(println "counted" counts)
(return {:counts counts :sum (reduce + (apply concat counts))})`;

/** Waits for a time between two calls, and beside a third. */
const NAP = `(def before (tool/count_people {:region "north" :town "a"}))
(def naps
  (pmap (fn [ms] (sleep ms) (tool/count_people {:region (str ms) :town "a"})) [10 NAP_MS]))
(return {:before before :naps naps})`;

/** Pays once, and goes on however that ended. */
const PAYMENT = `(def paid (attempt (tool/pay {:amount 5})))
(return {:paid (:ok paid)
         :reason (:reason (:error paid))
         :known (tool/count_people {:region "north" :town "a"})})`;

/**
 * The agents: `census`, `napper`, whose program sleeps `napMs`, and `payer`, whose tool is `once`;
 * `onEffect` hears of what it does.
 */
export function censusAgents(
  place: SurveyPlace & { readonly napMs?: number },
  onEffect: (step: 'begun' | 'done') => void = () => undefined,
): readonly AgentDefinition[] {
  const count = defineTool({
    name: 'count_people',
    description: 'How many live there; 0: nobody knows.',
    parameters: z.object({ region: z.string(), town: z.string() }),
    effect: 'read',
    execute: ({ region, town }) => countedIn(region, town),
  }) as ToolDefinition;
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.int() }),
    effect: 'once',
    execute: ({ amount }) => `paid ${amount}`,
  }) as ToolDefinition;
  const agent = (name: string, program: string): AgentDefinition =>
    defineAgent({
      name,
      mode: 'lisp',
      model: { id: `${name}/model`, model: writing([program]) },
      tools: [noting(count, place), noting(pay, place, onEffect)],
      askUser: true,
    });
  return [
    agent('census', CENSUS),
    agent('payer', PAYMENT),
    agent('napper', NAP.replace('NAP_MS', String(place.napMs ?? 6_000))),
  ];
}

function countedIn(region: string, town: string): number {
  if (`${region} ${town}` === 'north b' || `${region} ${town}` === 'west b') return 0;
  return region.length * 10 + town.length;
}

/** What `census` gives when `north` is said to have a crowd and `west` nobody. */
export const CENSUS_VALUE = {
  counts: [
    [51, 900, 51],
    [51, 51, 51],
    [41, 1, 41],
  ],
  sum: 1_238,
} as const;
