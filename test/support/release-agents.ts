/**
 * Eight scenarios for workers of two releases of one program: the newer one has changed its agents. A
 * model is a function of its request alone, so a call that is repeated elsewhere gets the same reply.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentTool, defineAgent, defineTool, humanStep, pipeline } from '../../src/index.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import type { ModelFunction, ModelReply, ModelRequest } from '../../src/core/contract/model.ts';

/** The two releases. */
export type Release = 'old' | 'new';

/** Which agents, and where they live. */
export interface ReleasePlace {
  readonly release: Release;
  /** Holds the file of what tools were entered. */
  readonly storeDir: string;
  /** How long each tool and each model takes, in ms. */
  readonly latencyMs: number;
}

/** A scenario: its agent, and what the person in it says to each question. */
export interface ReleaseScenario {
  readonly name: string;
  readonly agent: string;
  /** Tasks of the turns; more than one: a conversation. */
  readonly tasks: readonly string[];
}

/** All eight. */
export const RELEASE_SCENARIOS: readonly ReleaseScenario[] = [
  { name: 'react', agent: 'porter', tasks: ['Fetch five.'] },
  { name: 'chat', agent: 'caller', tasks: ['Call three times.'] },
  { name: 'json', agent: 'grader', tasks: ['Grade it.'] },
  { name: 'lisp with approvals', agent: 'payer', tasks: ['Pay them.'] },
  { name: 'tree', agent: 'top', tasks: ['Delegate.'] },
  { name: 'pipeline', agent: 'press', tasks: ['x'] },
  { name: 'conversation', agent: 'host', tasks: ['A table.', 'For two.', 'At eight.'] },
  { name: 'hand-overs', agent: 'surveyor', tasks: ['Survey.'] },
];

/** The answer to every question of a person; approvals are approved. */
export const PERSON_SAYS = 'yes';

/** A tool that was entered. */
export interface EnteredTool {
  readonly runId: string;
  readonly callId: string;
  readonly idempotencyKey: string;
}

/** The tools that were entered, over all processes. */
export function enteredTools(storeDir: string): readonly EnteredTool[] {
  const file = join(storeDir, 'entered.jsonl');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as EnteredTool);
}

/** What only the instructions of the newer release say. */
const NEW_WORDS = 'Say who you are.';

/**
 * The agents of all scenarios in one release. The newer one has other instructions, a tool that comes
 * first, and other limits; its models answer as the instructions of their run say.
 */
export function releaseAgents(place: ReleasePlace): readonly AgentDefinition[] {
  const isNew = place.release === 'new';
  const { look, write, pay, audit } = tools(place);
  const changed = isNew ? { instructions: NEW_WORDS, limits: { iterations: 18 } } : {};
  const added = isNew ? [audit] : [];
  const modelOf = (name: string, play: (request: ModelRequest) => string | ModelReply) => ({
    id: `script/${name}`,
    price: { input: 1, output: 2 },
    model: playing(play, place.latencyMs),
  });
  const text = (name: string) =>
    defineAgent({
      name,
      mode: 'text',
      prompt: '{{#input}}{{input}}{{/input}}{{^input}}{{task}}{{/input}}',
      model: modelOf(name, (request) => `${name}(${lastText(request)})`),
    });
  const leaf = defineAgent({
    name: 'leaf',
    mode: 'react',
    model: modelOf('leaf', ({ iteration }) => (iteration < 3 ? react('look', 2) : answer('leaf'))),
    tools: [look],
  });
  const middle = defineAgent({
    name: 'middle',
    mode: 'react',
    model: modelOf('middle', ({ iteration }) =>
      iteration === 1 ? delegate('leaf', 2) : answer('middle'),
    ),
    tools: [agentTool({ agent: leaf })],
  });
  return [
    defineAgent({
      name: 'porter',
      mode: 'react',
      model: modelOf('porter', (request) =>
        request.iteration < 6
          ? react(request.iteration % 2 === 0 ? 'write' : 'look', 2)
          : answer(`five, ${releaseIn(request)}`),
      ),
      ...changed,
      tools: [...added, look, write],
    }),
    defineAgent({
      name: 'caller',
      mode: 'chat',
      model: modelOf('caller', ({ iteration }) =>
        iteration < 4 ? native(iteration % 2 === 0 ? 'write' : 'look', iteration) : 'called',
      ),
      ...changed,
      tools: [...added, look, write],
    }),
    defineAgent({
      name: 'grader',
      mode: 'json',
      signature: '(task :string) -> {grade :int, why :string}',
      prompt: '{{task}}',
      model: modelOf('grader', ({ iteration }) =>
        iteration < 3 ? '{"grade": "high"}' : '{"grade": 7, "why": "as it is"}',
      ),
    }),
    defineAgent({
      name: 'payer',
      mode: 'lisp',
      model: modelOf('payer', ({ iteration }) => program(PAYER[iteration - 1] ?? '(return 0)')),
      ...changed,
      tools: [...added, look, pay],
    }),
    defineAgent({
      name: 'top',
      mode: 'react',
      model: modelOf('top', ({ iteration }) =>
        iteration === 1 ? delegate('middle', 2) : answer('top'),
      ),
      tools: [agentTool({ agent: middle })],
    }),
    pipeline(
      'press',
      [
        text('writer'),
        [text('facts'), text('style')],
        humanStep({ question: 'Print {{facts}}?', options: ['yes', 'no'] }),
        text('printer'),
      ],
      { description: 'Writes and prints.', limits: { modelCalls: 10 } },
    ),
    defineAgent({
      name: 'host',
      mode: 'chat',
      model: modelOf('host', (request) =>
        request.iteration === 1
          ? native('look', 1)
          : `heard ${request.messages.length}, ${releaseIn(request)}`,
      ),
      ...changed,
      tools: [...added, look],
    }),
    defineAgent({
      name: 'surveyor',
      mode: 'lisp',
      model: modelOf('surveyor', ({ iteration }) =>
        program(SURVEYOR[iteration - 1] ?? '(return 0)'),
      ),
      ...changed,
      tools: [...added, look, write],
      limits: { iterations: isNew ? 18 : 20 },
    }),
  ];
}

/** Some 700,000 units of fuel. */
const LONG_PROGRAM =
  '(count (filter odd? (mapcat (fn [i] (map (fn [x] (+ x i)) (range 300))) (range 250))))';

/** Approvals in and after a program of some slices. */
const PAYER: readonly string[] = [
  `(def many ${LONG_PROGRAM})\n(println many (tool/pay {:n 1}))`,
  '(return [many (tool/pay {:n 2}) (pmap (fn [n] (tool/look {:n n})) (range 4))])',
];

/** Calls enough for hand-overs in the middle of a program, and a long computation after them. */
const SURVEYOR: readonly string[] = [
  `(def seen (loop [n 0 seen []]
  (if (< n 12) (recur (inc n) (conj seen (tool/look {:n n}))) seen)))
(def written (pmap (fn [n] (tool/write {:n n})) (range 8)))
(def many ${LONG_PROGRAM})
(println (count seen) (count written) many)`,
  '(def more (mapv (fn [n] (tool/look {:n n})) (range 8)))\n(println (last more))',
  `(return {:seen (last seen) :more (count more) :many (+ many ${LONG_PROGRAM})})`,
];

/** The release whose instructions a request has. */
function releaseIn(request: ModelRequest): Release {
  return JSON.stringify(request.messages).includes(NEW_WORDS) ? 'new' : 'old';
}

function tools({ storeDir, latencyMs }: ReleasePlace) {
  const tool = (name: string, effect: 'read' | 'idempotent', approval?: 'always') =>
    defineTool({
      name,
      description: `To ${name} something.`,
      parameters: {
        type: 'object',
        properties: { n: { type: 'integer' } },
        required: ['n'],
      },
      effect,
      ...(approval === undefined ? {} : { approval }),
      execute: async (args, { runId, callId, idempotencyKey }) => {
        const entered: EnteredTool = { runId, callId, idempotencyKey };
        appendFileSync(join(storeDir, 'entered.jsonl'), `${JSON.stringify(entered)}\n`);
        await sleep(latencyMs);
        return `${name} ${(args as { readonly n: number }).n}`;
      },
    }) as ToolDefinition;
  return {
    look: tool('look', 'read'),
    write: tool('write', 'idempotent'),
    pay: tool('pay', 'idempotent', 'always'),
    audit: tool('audit', 'read'),
  };
}

function playing(
  play: (request: ModelRequest) => string | ModelReply,
  latencyMs: number,
): ModelFunction {
  return async (request) => {
    await sleep(latencyMs);
    const reply = play(request);
    const usage = { inputTokens: 100, outputTokens: 10 };
    return typeof reply === 'string' ? { content: reply, usage } : { ...reply, usage };
  };
}

function react(tool: string, count: number): string {
  const calls = Array.from({ length: count }, (_, n) => `- tool: ${tool}\n  args:\n    n: ${n}`);
  return `<action>\n${calls.join('\n')}\n</action>`;
}

function delegate(agent: string, count: number): string {
  const calls = Array.from(
    { length: count },
    (_, n) => `- tool: ${agent}\n  args:\n    task: part ${n}`,
  );
  return `<action>\n${calls.join('\n')}\n</action>`;
}

function answer(text: string): string {
  return `<answer>${text}</answer>`;
}

function native(tool: string, n: number): ModelReply {
  return {
    content: '',
    toolCalls: [0, 1].map((place) => ({ name: tool, args: { n: n + place } })),
    finishReason: 'tool_calls',
  };
}

function program(source: string): string {
  return `Next.\n\`\`\`clojure\n${source}\n\`\`\``;
}

function lastText({ messages }: ModelRequest): string {
  const parts = messages.at(-1)?.parts ?? [];
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
