import { describe, expect, it, test } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { pipeline } from '../../src/define/pipeline/define-pipeline.ts';
import { humanStep } from '../../src/define/pipeline/human-step.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { problemsOf } from '../support/usage-problems.ts';
import { stage } from '../support/pipelines.ts';

const a = stage('a');
const b = stage('b');

/** Parts may be what the types forbid. */
const anything = pipeline as (...parts: readonly unknown[]) => unknown;
const asked = humanStep as (options?: unknown) => unknown;

describe('what a pipeline is refused for [sub 1]', () => {
  test.each<{ name: string; parts: readonly unknown[]; code: string; message: string }>([
    {
      name: 'its name',
      parts: ['9 lives', [a]],
      code: 'pipeline_name',
      message:
        'Expected a pipeline name of 1 to 64 letters, digits, `_` or `-` that starts with a letter, got `9 lives`. Rename it.',
    },
    {
      name: 'no stages',
      parts: ['p', []],
      code: 'pipeline_stage',
      message:
        "Expected a list of stages, got an empty list. Write it as pipeline('name', [first, second]).",
    },
    {
      name: 'stages that are no list',
      parts: ['p', a.name],
      code: 'pipeline_stage',
      message:
        'Expected a list of stages, got "a". Write it as pipeline(\'name\', [first, second]).',
    },
    {
      name: 'a stage that is none',
      parts: ['p', [a, 7]],
      code: 'pipeline_stage',
      message:
        'Expected stage 2 to be an agent, a list of agents or `humanStep(…)`, got 7. Change it.',
    },
    {
      name: 'an empty name of an agent',
      parts: ['p', ['']],
      code: 'pipeline_stage',
      message:
        'Expected stage 1 to be an agent, a list of agents or `humanStep(…)`, got "". Change it.',
    },
    {
      name: 'the pipeline itself',
      parts: ['p', [a, 'p']],
      code: 'pipeline_stage',
      message:
        'Expected stage 2 to be another agent, got `p`, the pipeline itself. It would never end.',
    },
    {
      name: 'an empty parallel stage',
      parts: ['p', [[]]],
      code: 'pipeline_stage',
      message:
        'Expected agents in the parallel stage 1, got an empty list. Name them or remove it.',
    },
    {
      name: 'a question in a parallel stage',
      parts: ['p', [[a, null]]],
      code: 'pipeline_stage',
      message: 'Expected stage 1[1] to be an agent, got null. Change it.',
    },
    {
      name: 'two of one name in a parallel stage',
      parts: ['p', [a, [a, b, 'a']]],
      code: 'duplicate_stage',
      message:
        'Expected the agents of the parallel stage 2 to have different names, since their values are joined under them, got `a` twice. Rename one.',
    },
    {
      name: 'memory',
      parts: ['p', [a], { memory: 'keep' }],
      code: 'pipeline_memory',
      message: 'Expected `memory` to be one of none, carry, got "keep". Change it.',
    },
    {
      name: 'a map that is none',
      parts: ['p', [a], { map: { review: 3 } }],
      code: 'pipeline_map',
      message:
        'Expected `map` to be new names by old ones, such as { review: \'text\' }, got {"review":3}. Change it.',
    },
    {
      name: 'a map that gives one name twice',
      parts: ['p', [a], { map: { review: 'text', input: 'text' } }],
      code: 'pipeline_map',
      message: 'Expected `map` to give each field a name of its own, got `text` twice. Rename one.',
    },
    {
      name: 'a description',
      parts: ['p', [a], { description: ' ' }],
      code: 'pipeline_text',
      message: 'Expected `description` to be a text, got " ". Change it.',
    },
    {
      name: 'limits',
      parts: ['p', [a], { limits: { tokens: 5 } }],
      code: 'limit_key',
      message:
        'Expected the names of limits to be among iterations, inputTokens, outputTokens, totalTokens, modelCalls, toolCalls, programSteps, children, questions, costUsd, wallClockMs, activeMs, depth, custom, onUnknownUsage, got `tokens`. Write limits on other keys under `custom`.',
    },
    {
      name: 'callbacks',
      parts: ['p', [a], { onEvent: 'https://x.example' }],
      code: 'callback',
      message:
        'Expected `onEvent` to be { url, events?, content? }, got "https://x.example". Change it.',
    },
    {
      name: 'an unknown option',
      parts: ['p', [a], { memroy: 'carry' }],
      code: 'unknown_option',
      message: 'Expected an option of a pipeline, got `memroy`. Did you mean `memory`?',
    },
    {
      name: 'options that are none',
      parts: ['p', [a], 'carry'],
      code: 'unknown_option',
      message:
        'Expected the options of a pipeline to be an object, got "carry". Write them as { memory: \'carry\' }.',
    },
    {
      name: 'a question that is none',
      parts: ['p', [asked({ question: ' ' })]],
      code: 'human_step',
      message: 'stage 1: Expected `question` of `humanStep` to be a text, got " ". Change it.',
    },
    {
      name: 'a question without options of its own',
      parts: ['p', [asked()]],
      code: 'human_step',
      message:
        'stage 1: Expected options of `humanStep`, got none. Write it as humanStep({ question }).',
    },
    {
      name: 'a question that is no template',
      parts: ['p', [asked({ question: 'Send {{it?' })]],
      code: 'bad_template',
      message:
        'stage 1: Expected `question` of `humanStep` to be a template, got one that cannot be read: unclosed tag at line 1, column 6. Correct it.',
    },
    {
      name: 'choices that nobody can tell apart',
      parts: ['p', [asked({ question: 'Which?', options: ['Yes', 'yes '] })]],
      code: 'human_step',
      message:
        'stage 1: Expected `options` of `humanStep` to be a list of 1 to 100 different texts, got ["Yes","yes "]. Change it.',
    },
    {
      name: 'a time that is none',
      parts: ['p', [asked({ question: 'Which?', timeoutMs: 0 })]],
      code: 'human_step',
      message:
        'stage 1: Expected `timeoutMs` of `humanStep` to be a whole number from 1 to 315360000000, got 0. Change it.',
    },
    {
      name: 'an unknown option of a question',
      parts: ['p', [asked({ question: 'Which?', timeout: 5 })]],
      code: 'unknown_option',
      message:
        'stage 1: Expected an option of `humanStep`, got `timeout`. `timeout` is called `timeoutMs`.',
    },
  ])('$name', ({ parts, code, message }) => {
    expect(problemsOf(() => anything(...parts))).toEqual([{ code, message }]);
  });

  it('says all at once, a line each', () => {
    expect(() => anything('p', [7, []], { memory: 1 })).toThrow(
      [
        'Pipeline `p`: Expected stage 1 to be an agent, a list of agents or `humanStep(…)`, got 7. Change it.',
        'Pipeline `p`: Expected agents in the parallel stage 2, got an empty list. Name them or remove it.',
        'Pipeline `p`: Expected `memory` to be one of none, carry, got 1. Change it.',
      ].join('\n'),
    );
  });
});

describe('a pipeline on a worker', () => {
  it('brings its stages along, those of pipelines in it too, each once', () => {
    const inner = pipeline('inner', [b, [a]]);
    const agents = [pipeline('outer', [a, inner, humanStep({ question: 'Fine?' })])];

    expect([...createRegistry({ agents }).agents.keys()]).toEqual(['outer', 'a', 'inner', 'b']);
  });

  it('needs the agents that it names, and names of their own', () => {
    const agents = [
      pipeline('first', ['wrtier', ['a', 'nobody']]),
      pipeline('second', [stage('a')]),
      stage('writer'),
      a,
    ];
    const known = 'first, second, writer, a';

    expect(problemsOf(() => createRegistry({ agents }))).toEqual([
      {
        code: 'duplicate_model',
        message: expect.any(String),
      },
      {
        code: 'unknown_agent',
        message: `Pipeline \`first\`: Expected the agent of stage 1 among those of the worker (${known}), got \`wrtier\`. Did you mean \`writer\`?`,
      },
      {
        code: 'unknown_agent',
        message: `Pipeline \`first\`: Expected the agent of stage 2 among those of the worker (${known}), got \`nobody\`. Add it to \`agents\`.`,
      },
      {
        code: 'duplicate_agent',
        message: 'Expected agent names to be unique, got two agents named `a`. Rename one.',
      },
    ]);
  });

  it('has no model, whatever the worker has', () => {
    const agents = [pipeline('line', [defineAgent({ name: 'x', mode: 'react', model: 'm' })])];
    const m = { id: 'm', model: () => Promise.resolve('') };
    const registry = createRegistry({ agents, models: [m] });

    expect(registry.agents.get('line')?.definition.model).toBeNull();
  });
});
