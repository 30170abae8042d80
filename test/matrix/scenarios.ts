/**
 * The reference scenarios: small agents that between them use every way in which a run moves on. Their
 * models reply by iteration alone, so a call that is asked again gets the same reply.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { scriptedModel, type ScriptTurn, type ScriptVariant } from '../../examples/script.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type {
  AgentDefinition,
  ValidatorDefinition,
} from '../../src/define/definition/definitions.ts';
import { humanStep } from '../../src/define/pipeline/human-step.ts';
import { pipeline } from '../../src/define/pipeline/define-pipeline.ts';
import { agentTool } from '../../src/define/tool/agent-tool.ts';
import { defineValidator } from '../../src/define/tool/define-validator.ts';
import { stage } from '../support/pipelines.ts';
import { streamingModel, type StreamStep } from '../support/streamed-calls.ts';
import { effectTools } from './effects.ts';
import { LOOK_EVERY_MS, patiently } from './patiently.ts';

/** A scenario: what a worker serves for it, and how it is started and attended to. */
export interface MatrixScenario {
  readonly name: string;
  /** Its server wants a hand-over after few events. */
  readonly handsOver?: true;
  /** The workflow of the run with this id; absent: the id is that of the workflow. */
  readonly workflowOf?: (id: string) => string;
  /** The agents; their tools note in `folder` what they do. */
  readonly agents: (folder: string) => readonly AgentDefinition[];
  /** Plays it to its end under ids that begin with `id`: gives its runs, all of them ended. */
  readonly play: (everloop: Everloop, id: string) => Promise<readonly RunHandle[]>;
}

/** A turn that makes calls: pairs of tool and number. */
function calls(...made: readonly (readonly [tool: string, n: number])[]): ScriptTurn {
  return { thinking: 'Next.', calls: made.map(([tool, n]) => ({ tool, args: { n } })) };
}

const ANSWER: ScriptTurn = { thinking: 'That is all.', answer: 'done' };

/** Two reads at once, a write of each class, an answer; `rounds` times. */
function actingScript(rounds: number): readonly ScriptTurn[] {
  const round = (n: number): readonly ScriptTurn[] => [
    calls(['look', n], ['look', n + 1]),
    calls(['put', n]),
    calls(['pay', n]),
  ];
  return [...Array.from({ length: rounds }, (_, index) => round(10 * index)).flat(), ANSWER];
}

function scripted(
  name: string,
  variant: ScriptVariant,
  script: readonly ScriptTurn[],
  options: Partial<AgentOptions>,
): AgentDefinition {
  const modes: Partial<Record<ScriptVariant, AgentOptions['mode']>> = {
    chat: 'chat',
    lisp: 'lisp',
  };
  return defineAgent({
    name,
    mode: modes[variant] ?? 'react',
    model: {
      id: `${name}/model`,
      model: scriptedModel(script, variant, { latencyMs: 5 }),
      price: { input: 1, output: 2 },
    },
    limits: { iterations: 40 },
    ...options,
  });
}

/** A run that is started and needs nobody. */
async function playAlone(everloop: Everloop, agent: string, id: string): Promise<RunHandle[]> {
  const run = await everloop.start(agent, { task: 'Go.', id });
  await patiently(() => run.result());
  return [run];
}

function acting(name: string, variant: ScriptVariant, rounds = 1): MatrixScenario {
  return {
    name,
    agents: (folder) => [
      scripted(name, variant, actingScript(rounds), { tools: effectTools(folder) }),
    ],
    play: (everloop, id) => playAlone(everloop, name, id),
  };
}

/** A reply that does not fit, one that a validator refuses, one that is accepted. */
function jsonScenario(): MatrixScenario {
  const name = 'json';
  const replies = ['{"total": "many"}', '{"total": 1}', '{"total": 7}'];
  const isSeven = defineValidator<{ readonly total: number }>({
    name: 'is_seven',
    validate: ({ total }) => (total === 7 ? { accepted: true } : { accepted: false }),
  }) as ValidatorDefinition;
  return {
    name,
    agents: () => [
      defineAgent({
        name,
        mode: 'json',
        model: {
          id: `${name}/model`,
          price: { input: 1, output: 2 },
          model: async ({ messages }) => ({
            content: replies[messages.filter(({ role }) => role === 'assistant').length] ?? '',
            usage: { inputTokens: 100, outputTokens: 10 },
          }),
        },
        signature: '{total :int}',
        validators: [isSeven],
        maxTurns: 5,
      }),
    ],
    play: (everloop, id) => playAlone(everloop, name, id),
  };
}

const PROGRAMS: readonly string[] = [
  `(def seen (pmap (fn [n] (tool/look {:n n})) [1 2 3]))
(tool/put {:n (count seen)})`,
  `(def paid (attempt (tool/pay {:n 1})))
(return {:seen (count seen)})`,
];

/** Programs that read in parallel, write, and pay when a person has approved. */
function lispScenario(): MatrixScenario {
  const name = 'lisp';
  const script = PROGRAMS.map((program) => ({ thinking: 'Next.', program }));
  return {
    name,
    agents: (folder) => [
      scripted(name, 'lisp', script, { tools: effectTools(folder, { approved: true }) }),
    ],
    play: (everloop, id) => playAttended(everloop, name, id),
  };
}

/** A run whose questions are answered and whose calls are approved. */
async function playAttended(everloop: Everloop, agent: string, id: string): Promise<RunHandle[]> {
  const run = await everloop.start(agent, { task: 'Go.', id });
  while ((await patiently(() => run.step())) === null) {
    for (const { id: item, kind } of await patiently(() => run.pending())) {
      const options = { updateId: `${id}-${item}` };
      await patiently(() =>
        kind === 'approval'
          ? run.decide(item, { approve: true }, options)
          : run.answer(item, 'yes', options),
      );
    }
    await sleep(LOOK_EVERY_MS);
  }
  return [run];
}

/** A root, two branches, nine leaves. A branch acts when its leaves have ended. */
function treeScenario(): MatrixScenario {
  const name = 'tree';
  const above = (
    of: string,
    below: readonly AgentDefinition[],
    asked: readonly string[],
    folder: string,
  ): AgentDefinition => {
    const made = asked.map((tool, index) => ({ tool, args: { task: `${index}` } }));
    return scripted(
      of,
      'yaml',
      [{ thinking: 'All of it.', calls: made }, calls(['put', 1]), ANSWER],
      { tools: [...below.map((agent) => agentTool({ agent })), ...effectTools(folder)] },
    );
  };
  return {
    name,
    agents: (folder) => {
      const leaf = stage('leaf', 'seen', { description: 'Looks.' });
      const left = above('left', [leaf], Array<string>(4).fill('leaf'), folder);
      const right = above('right', [leaf], Array<string>(5).fill('leaf'), folder);
      return [above(name, [left, right], ['left', 'right'], folder)];
    },
    play: (everloop, id) => playAlone(everloop, name, id),
  };
}

/** A stage alone, two at once, a question, and one that acts. */
function pipelineScenario(): MatrixScenario {
  const name = 'pipeline';
  return {
    name,
    agents: (folder) => [
      pipeline(name, [
        stage('writer', 'written'),
        [stage('facts', 'checked'), stage('style', 'polished')],
        humanStep({ question: 'Print {{facts}}?', options: ['yes', 'no'] }),
        scripted('printer', 'yaml', [calls(['put', 1], ['pay', 1]), ANSWER], {
          tools: effectTools(folder),
        }),
      ]),
    ],
    play: (everloop, id) => playAttended(everloop, name, id),
  };
}

/** Three messages to one run; each turn acts in its first reply. */
function conversationScenario(): MatrixScenario {
  const name = 'conversation';
  const turns = [1, 2, 3].flatMap((n) => [calls(['look', n], ['pay', n]), ANSWER]);
  return {
    name,
    agents: (folder) => [scripted(name, 'chat', turns, { tools: effectTools(folder) })],
    play: async (everloop, id) => {
      const chat = everloop.conversation(name, { id });
      for (const [index, message] of ['First.', 'Second.', 'Third.'].entries()) {
        const turn = await patiently(() => chat.say(message, { id: `${id}-${index}` }));
        await patiently(() => turn.result());
      }
      await patiently(() => chat.close());
      await patiently(() => chat.run.result());
      return [chat.run];
    },
  };
}

/** Two reads while the model still writes its reply, then a write of each class. */
function besideScenario(): MatrixScenario {
  const name = 'beside';
  const write = (): StreamStep => ({ wait: sleep(WRITING_MS) });
  const call = (tool: string, n: number): StreamStep => ({ call: tool, args: { n } });
  const replies: readonly (() => readonly StreamStep[])[] = [
    () => [call('look', 1), write(), call('look', 2), write()],
    () => [call('put', 1), call('look', 3)],
    () => [call('pay', 1)],
  ];
  return {
    name,
    agents: (folder) => [
      defineAgent({
        name,
        mode: 'chat',
        model: {
          id: `${name}/model`,
          price: { input: 1, output: 2 },
          model: streamingModel(({ replies: before }) => replies[before]?.() ?? [{ text: 'done' }]),
        },
        tools: effectTools(folder),
        limits: { iterations: 40 },
      }),
    ],
    play: (everloop, id) => playAlone(everloop, name, id),
  };
}

/** How long the model goes on writing after a call: longer than a read takes, and a kill may come. */
const WRITING_MS = 30;

/** All, in the order of the page. */
export const MATRIX_SCENARIOS: readonly MatrixScenario[] = [
  acting('react', 'yaml'),
  acting('chat', 'chat'),
  jsonScenario(),
  lispScenario(),
  treeScenario(),
  pipelineScenario(),
  conversationScenario(),
  { ...acting('hand-overs', 'yaml', 2), handsOver: true },
  besideScenario(),
];

/** A run of 200 turns, for random kills: a read, a write of each class, and so on. */
export const LONG_SCENARIO: MatrixScenario = {
  name: 'long',
  agents: (folder) => [
    scripted(
      'long',
      'yaml',
      [
        ...Array.from({ length: 199 }, (_, n) => calls([['look', 'put', 'pay'][n % 3] ?? '', n])),
        ANSWER,
      ],
      { tools: effectTools(folder, { toolMs: 300 }), limits: { iterations: 250, toolCalls: 250 } },
    ),
  ],
  play: (everloop, id) => playAlone(everloop, 'long', id),
};
