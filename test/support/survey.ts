/**
 * A survey by programs, for tests that kill things: an agent that writes three programs, the second of
 * which makes sixty calls, and tools that write into a file that they were entered. The model is a
 * function of the iteration alone, so a call that is repeated after a crash gets the same reply.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import type { Json } from '../../src/core/base/json.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { outcomeOf, type Outcome } from './airline.ts';

/** Name of the agent. */
export const SURVEYOR = 'surveyor';

/** What its programs make of its tools, worked out by hand in {@link surveyValue}. */
const PROGRAMS: readonly string[] = [
  // A definition that the next program calls.
  `(defn sum-of [station parts]
  (reduce + (map (fn [part] (tool/probe {:station station :part part})) parts)))
(println "defined")`,
  // 10 one after another, 20 in nested maps, 1 task, 20 in a pmap of 10, 9 in a loop: 60 calls.
  `(def names (mapv (fn [n] (tool/name_of {:station n})) (range 10)))
(println "names" (first names) (last names))
(def grid (map (fn [n] (sum-of n (range 5))) (range 4)))
(println "grid" grid)
(def report (task "report" (tool/file_report {:rows grid})))
(sleep 40)
(def deep
  (pmap (fn [n]
          (let [first-value (tool/probe {:station n :part 100})
                second-value (tool/probe {:station n :part (+ 200 first-value)})]
            (println "deep" n)
            (+ first-value second-value)))
        (range 10)))
(def tail
  (loop [n 0 values []]
    (if (< n 9) (recur (inc n) (conj values (tool/probe {:station n :part 50}))) values)))
(println "total" (reduce + (concat grid deep tail)))
{:deep deep :tail tail}`,
  // The task is in the journal: its call is not made again.
  `(def again (task "report" (tool/file_report {:rows [0]})))
(return {:names names :grid grid :report again :deep (:deep *1) :tail tail})`,
];

/** Calls of the run, all of them of its second program. */
export const SURVEY_CALLS = 60;

/** What the run gives. */
export function surveyValue(): Json {
  const ten = Array.from({ length: 10 }, (_, n) => n);
  const grid = ten
    .slice(0, 4)
    .map((n) => [0, 1, 2, 3, 4].reduce((sum, p) => sum + probed(n, p), 0));
  return {
    names: ten.map((n) => `station ${n}`),
    grid,
    report: `filed ${grid.join(' ')}`,
    deep: ten.map((n) => probed(n, 100) + probed(n, 200 + probed(n, 100))),
    tail: ten.slice(0, 9).map((n) => probed(n, 50)),
  };
}

function probed(station: number, part: number): number {
  return (station * 37 + part * 11) % 101;
}

/** Where a survey lives. */
export interface SurveyPlace {
  /** Holds the file of what was entered. */
  readonly storeDir: string;
  /** How long `probe` and `file_report` take, in ms. */
  readonly latencyMs: number;
}

/** A tool that was entered. */
export interface EnteredCall {
  readonly tool: string;
  readonly args: Json;
  readonly callId: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
}

/** The agent, which writes `programs`; `onEffect` hears when a tool begins and when it has acted. */
export function surveyAgent(
  { storeDir, latencyMs }: SurveyPlace,
  onEffect: (step: 'begun' | 'done') => void = () => undefined,
  programs: readonly string[] = PROGRAMS,
  options: Partial<AgentOptions> = {},
): AgentDefinition {
  const tools = [
    defineTool({
      name: 'name_of',
      description: 'The name of a station.',
      parameters: z.object({ station: z.int() }),
      effect: 'read',
      local: true,
      timeoutMs: 2_000,
      execute: ({ station }) => `station ${station}`,
    }),
    defineTool({
      name: 'probe',
      description: 'A part of a station, as a number.',
      parameters: z.object({ station: z.int(), part: z.int() }),
      effect: 'read',
      execute: ({ station, part }) => probed(station, part),
    }),
    defineTool({
      name: 'file_report',
      description: 'Files a report.',
      parameters: z.object({ rows: z.array(z.int()) }),
      effect: 'idempotent',
      execute: ({ rows }) => `filed ${rows.join(' ')}`,
    }),
  ] as readonly ToolDefinition[];
  return defineAgent({
    name: SURVEYOR,
    mode: 'lisp',
    model: { id: `${options.name ?? SURVEYOR}/model`, model: writing(programs) },
    tools: tools.map((tool) => noting(tool, { storeDir, latencyMs }, onEffect)),
    limits: { iterations: 20 },
    ...options,
  });
}

/** A model that writes the programs in turn. */
export function writing(programs: readonly string[]): ModelFunction {
  return async ({ iteration }, { onChunk }) => {
    const program = programs[iteration - 1];
    if (program === undefined) throw new Error(`Expected ${programs.length} turns at most.`);
    const content = `Next.\n\`\`\`clojure\n${program}\n\`\`\``;
    onChunk({ kind: 'text', delta: content });
    return { content, usage: { inputTokens: 100, outputTokens: 10 } };
  };
}

/** The tool, which writes down that it was entered, takes its time, and tells of it. */
export function noting(
  tool: ToolDefinition,
  { storeDir, latencyMs }: SurveyPlace,
  onEffect: (step: 'begun' | 'done') => void = () => undefined,
): ToolDefinition {
  return {
    ...tool,
    execute: async (args, context) => {
      const { callId, idempotencyKey, attempt, signal } = context;
      const entered = { tool: tool.spec.name, args, callId, idempotencyKey, attempt };
      appendFileSync(enteredFile(storeDir), `${JSON.stringify(entered)}\n`);
      onEffect('begun');
      if (!tool.spec.local) await sleep(latencyMs, undefined, { signal });
      const result: unknown = await tool.execute(args, context);
      onEffect('done');
      return result;
    },
  };
}

/** The calls that were entered, in order, over all processes. */
export function enteredCalls(storeDir: string): readonly EnteredCall[] {
  const file = enteredFile(storeDir);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as EnteredCall);
}

/** Calls that were entered under more than one key, and keys under which two calls were entered. */
export function confusedCalls(storeDir: string): readonly string[] {
  const calls = new Map<string, Set<string>>();
  const add = (from: string, to: string): void => {
    calls.set(from, (calls.get(from) ?? new Set()).add(to));
  };
  for (const { tool, args, idempotencyKey } of enteredCalls(storeDir)) {
    const call = `${tool} ${JSON.stringify(args)}`;
    add(call, idempotencyKey);
    add(idempotencyKey, call);
  }
  return [...calls].flatMap(([from, to]) =>
    to.size === 1 ? [] : [`${from}: ${[...to].join(', ')}`],
  );
}

function enteredFile(storeDir: string): string {
  return join(storeDir, 'entered.jsonl');
}

/** What came of a run of programs: its Step with memory and notes, its transcript, its requests. */
export interface ProgramOutcome extends Outcome {
  /** By call id: where in the program, which tool, which arguments, what came of it. */
  readonly requests: Json;
  /** What each program came to, in order. */
  readonly programs: Json;
}

/** The outcome of a run that ended, without what is different in every run. */
export async function programOutcomeOf(run: RunHandle): Promise<ProgramOutcome> {
  const outcome = await outcomeOf(run);
  const events = await run.events();
  return {
    ...outcome,
    requests: requestsIn(events),
    programs: events.flatMap((event) => {
      if (event.type !== 'agent:program:after') return [];
      const { programId, outcome: ending, steps, calls } = event;
      return [{ programId, ending, steps, calls }];
    }),
  };
}

function requestsIn(events: readonly AgentEvent[]): Json {
  const asked = events.flatMap((event) =>
    event.type === 'agent:tool_call:before'
      ? [{ callId: event.callId, tool: event.tool, args: event.args }]
      : [],
  );
  const came = new Map(
    events.flatMap((event) =>
      event.type === 'agent:tool_call:after'
        ? [[event.callId, { outcome: event.outcome, output: event.output ?? null }] as const]
        : [],
    ),
  );
  return asked
    .map((call) => ({ ...call, ...came.get(call.callId) }))
    .toSorted((a, b) => (a.callId < b.callId ? -1 : 1)) as unknown as Json;
}
