/**
 * The two scenarios, each in eight variants: YAML calls, JSON calls, programs, native calls, tool
 * search, a sliding window, summaries, mode lisp. The model is scripted, or a real one if
 * OPENAI_API_KEY is set.
 *
 *     npx tsx examples/06-scenarios.ts airline chat
 *     npx tsx examples/06-scenarios.ts shop summary
 *     npx tsx examples/06-scenarios.ts shop lisp
 */
import { openai } from '@ai-sdk/openai';
import { unwrap, type AgentModel } from '../src/index.ts';
import { local } from '../src/worker.ts';
import { airlineAgent } from './airline/agents.ts';
import { AIRLINE_REQUEST } from './airline/data.ts';
import {
  AIRLINE_SCRIPT_ACT,
  AIRLINE_SCRIPT_LISP,
  AIRLINE_SCRIPT_SEARCH,
  AIRLINE_SUMMARIES,
} from './airline/scripts.ts';
import { airlineStore } from './airline/store.ts';
import { changesOf } from './effect-log.ts';
import { scriptedModel, type ScriptTurn, type ScriptVariant } from './script.ts';
import { shopAgent } from './shop/agents.ts';
import { SHOP_REQUEST } from './shop/data.ts';
import {
  SHOP_SCRIPT,
  SHOP_SCRIPT_LISP,
  SHOP_SCRIPT_SEARCH,
  SHOP_SUMMARIES,
} from './shop/scripts.ts';
import { shopStore } from './shop/store.ts';

const VARIANTS: readonly ScriptVariant[] = [
  'yaml',
  'json',
  'program',
  'chat',
  'search',
  'window',
  'summary',
  'lisp',
];

const [name = 'airline', wanted = 'yaml'] = process.argv.slice(2);
const variant = VARIANTS.find((known) => known === wanted);
if (variant === undefined || !['airline', 'shop'].includes(name)) {
  console.error(`Expected airline or shop, and one of ${VARIANTS.join(', ')}. Change it.`);
  process.exit(2);
}

/** A real model if there is a key, otherwise one that plays the script of the scenario. */
function modelOf(
  script: readonly ScriptTurn[],
  summaries: { readonly [iteration: number]: string },
): AgentModel {
  if (process.env['OPENAI_API_KEY']) return openai(process.env['EXAMPLE_MODEL'] ?? 'gpt-5-mini');
  return scriptedModel(script, variant ?? 'yaml', { summaries });
}

/** The script of the variant. */
const scriptOf = (
  acting: readonly ScriptTurn[],
  searching: readonly ScriptTurn[],
  programs: readonly ScriptTurn[],
): readonly ScriptTurn[] =>
  variant === 'search' ? searching : variant === 'lisp' ? programs : acting;

const airline = airlineStore();
const shop = shopStore();
const agents = [
  airlineAgent({
    variant,
    store: airline,
    model: modelOf(
      scriptOf(AIRLINE_SCRIPT_ACT, AIRLINE_SCRIPT_SEARCH, AIRLINE_SCRIPT_LISP),
      AIRLINE_SUMMARIES,
    ),
  }),
  shopAgent({
    variant,
    store: shop,
    model: modelOf(scriptOf(SHOP_SCRIPT, SHOP_SCRIPT_SEARCH, SHOP_SCRIPT_LISP), SHOP_SUMMARIES),
  }),
].filter((agent) => agent.name === name);

const everloop = await local({ agents });
try {
  const task = name === 'airline' ? AIRLINE_REQUEST : SHOP_REQUEST;
  const run = await everloop.start(name, { task });
  const step = await run.result();
  console.log(unwrap(step));
  const { modelCalls, toolCalls, totalTokens } = step.usage;
  console.log(
    `${step.status}: ${step.iterations} iterations, ${modelCalls} model calls, ${toolCalls} calls, ${totalTokens} tokens`,
  );
  const log = name === 'airline' ? airline.log : shop.log;
  for (const { type, ...change } of changesOf<{ readonly type: string }>(log)) {
    console.log(`${type} ${JSON.stringify(change)}`);
  }
} finally {
  await everloop.close();
}
