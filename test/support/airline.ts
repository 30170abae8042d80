/**
 * The airline scenario over HTTP, for tests that kill things: three agents that look up and act
 * (script B without the question), their model on one mock server, and what of a run must come out
 * the same however often it was disturbed.
 */
import type { LLMock } from '@copilotkit/aimock';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { airlineAgent } from '../../examples/airline/agents.ts';
import { AIRLINE_REQUEST } from '../../examples/airline/data.ts';
import { AIRLINE_SCRIPT_ACT } from '../../examples/airline/scripts.ts';
import { airlineStore, type AirlineChange } from '../../examples/airline/store.ts';
import type { Effect } from '../../examples/effect-log.ts';
import { scriptFixtures, type ScriptVariant } from '../../examples/script.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import type { Step, UnknownCall } from '../../src/core/contract/step.ts';
import type { Json } from '../../src/core/base/json.ts';
import { unknownOutcomeText } from '../../src/core/toolchain/call-texts.ts';
import { modelAt, startAimock } from './aimock.ts';
import { OF_ATTEMPTS } from './trees.ts';

/** The ways in which the agents write. */
export const VARIANTS: readonly ScriptVariant[] = ['yaml', 'json', 'chat'];

/** A reply of about 400 characters takes some 200 ms, so that there is time to be killed in it. */
const CHUNK_CHARACTERS = 24;
const CHUNK_MS = 12;

/** Starts the provider that plays the script for every variant, however many runs ask it. */
export async function startAirlineModel(): Promise<LLMock> {
  const mock = await startAimock();
  mock.addFixtures(
    VARIANTS.flatMap((variant) =>
      scriptFixtures(AIRLINE_SCRIPT_ACT, variant, AIRLINE_REQUEST).map(({ match, response }) => ({
        match: { ...match, model: modelName(variant) },
        response,
        chunkSize: CHUNK_CHARACTERS,
        latency: CHUNK_MS,
      })),
    ),
  );
  return mock;
}

/** Name of the agent that writes as `variant`. */
export function agentName(variant: ScriptVariant): string {
  return `airline-${variant}`;
}

function modelName(variant: ScriptVariant): string {
  return `script-${variant}`;
}

/** Where an airline's agents live. */
export interface AirlinePlace {
  /** Of the provider. */
  readonly modelUrl: string;
  /** Holds a file with the effects of each agent's tools. */
  readonly storeDir: string;
  /** How long each tool takes, in ms. */
  readonly latencyMs: number;
}

/** A tool that was entered. */
export interface Entered {
  readonly callId: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
}

/** The three agents; `onEffect` hears what their `once` tools do, after it is in the file. */
export function airlineAgents(
  place: AirlinePlace,
  onEffect: (effect: Effect<AirlineChange>) => void = () => undefined,
): readonly AgentDefinition[] {
  const { modelUrl, storeDir, latencyMs } = place;
  return VARIANTS.map((variant) => {
    const store = airlineStore(storeFile(storeDir, variant));
    const append = (effect: Effect<AirlineChange>): void => {
      store.log.append(effect);
      onEffect(effect);
    };
    const agent = airlineAgent({
      name: agentName(variant),
      variant,
      latencyMs,
      store: { ...store, log: { ...store.log, append } },
      model: {
        id: `script/${variant}`,
        model: modelAt(modelUrl, 'openai-compatible', modelName(variant)),
      },
    });
    return noting(agent, enteredFile(storeDir, variant));
  });
}

/** The agent with tools that write into `file` that they were entered. */
function noting(agent: AgentDefinition, file: string): AgentDefinition {
  const tools = agent.tools.map((tool): ToolDefinition => ({
    ...tool,
    execute: (args, context) => {
      const { callId, idempotencyKey, attempt } = context;
      const entered: Entered = { callId, idempotencyKey, attempt };
      appendFileSync(file, `${JSON.stringify(entered)}\n`);
      return tool.execute(args, context);
    },
  }));
  return { ...agent, tools };
}

/** The tools of a variant that were entered, in order, over all processes. */
export function enteredIn(storeDir: string, variant: ScriptVariant): readonly Entered[] {
  const lines = readFileSync(enteredFile(storeDir, variant), 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Entered);
}

function enteredFile(storeDir: string, variant: ScriptVariant): string {
  return join(storeDir, `${variant}.entered.jsonl`);
}

/** What the `once` tools of a variant did, in order. */
export function effectsIn(
  storeDir: string,
  variant: ScriptVariant,
): readonly Effect<AirlineChange>[] {
  return airlineStore(storeFile(storeDir, variant)).log.read();
}

function storeFile(storeDir: string, variant: ScriptVariant): string {
  return join(storeDir, `${variant}.effects.jsonl`);
}

/** Starts a run of each variant. */
export async function startAirlineRuns(
  everloop: Everloop,
): Promise<readonly { readonly variant: ScriptVariant; readonly run: RunHandle }[]> {
  return Promise.all(
    VARIANTS.map(async (variant) => ({
      variant,
      run: await everloop.start(agentName(variant), { task: AIRLINE_REQUEST }),
    })),
  );
}

/** What came of a run: all that a disturbance must not change. */
export interface Outcome {
  readonly step: Json;
  readonly transcript: Json;
}

/** The outcome of a run that ended, without what is different in every run. */
export async function outcomeOf(run: RunHandle): Promise<Outcome> {
  const step = await run.result();
  return {
    step: comparableStep(step),
    transcript: (await run.transcript()) as unknown as Json,
  };
}

/** A Step without ids, times, attempts and estimates. */
export function comparableStep(step: Step): Json {
  const { usage, stats, trace, ...rest } = step;
  const { durationMs, modelCallRetries, estimated, ...spent } = usage;
  void [durationMs, modelCallRetries, estimated];
  return {
    ...rest,
    runId: '',
    usage: spent,
    counters: without(stats.counters, OF_ATTEMPTS),
    gauges: without(stats.gauges, /_ms$/),
    unreadInputs: trace.unreadInputs,
  } as unknown as Json;
}

function without(
  numbers: { readonly [key: string]: number },
  keys: RegExp,
): { readonly [key: string]: number } {
  return Object.fromEntries(Object.entries(numbers).filter(([key]) => !keys.test(key)));
}

/** The calls that ended as `unknown`, in order. */
export function unknownCalls(events: readonly AgentEvent[]): readonly UnknownCall[] {
  return events.flatMap((event) =>
    event.type === 'agent:tool_call:after' && event.outcome === 'unknown'
      ? [{ callId: event.callId, tool: event.tool }]
      : [],
  );
}

/** `undisturbed` as it has to be when this call of a `once` tool ended as `unknown`. */
export function withUnknown(undisturbed: Outcome, call: UnknownCall): Outcome {
  const { tool } = call;
  const step = undisturbed.step as { readonly [key: string]: Json } & {
    readonly counters: { readonly [key: string]: number };
    readonly gauges: { readonly [key: string]: number };
  };
  const isLast = tool === 'send_notification';
  const failed = ['agent:tool_calls_error_total', `agent:tool_calls_error:${tool}`];
  return {
    step: {
      ...step,
      unknownCalls: [{ ...call }],
      counters: {
        ...step.counters,
        ...Object.fromEntries(
          failed.flatMap((key) => [
            [key, 1],
            [`$self:${key}`, 1],
          ]),
        ),
      },
      gauges: {
        ...step.gauges,
        'agent:tool_calls_error_consecutive': isLast ? 1 : 0,
        [`agent:tool_calls_error_consecutive:${tool}`]: 1,
      },
    },
    transcript: withResult(undisturbed.transcript, tool, unknownOutcomeText(tool)),
  };
}

/** Every result of `tool` in a transcript replaced by the text of a failed call. */
function withResult(value: Json, tool: string, text: string): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withResult(item, tool, text));
  if (typeof value !== 'object' || value === null) return value;
  const node = value as { readonly [key: string]: Json };
  if (node['name'] === tool && typeof node['content'] === 'string') {
    return { ...node, content: text };
  }
  if (node['type'] === 'tool_result' && node['tool'] === tool) {
    return { ...node, isError: true, parts: [{ type: 'text', text }] };
  }
  return Object.fromEntries(
    Object.entries(node).map(([key, item]) => [key, withResult(item, tool, text)]),
  );
}
