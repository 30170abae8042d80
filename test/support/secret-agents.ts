/** Agents that hold a secret in every place that there is; the words are those of `secrets.ts`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import {
  agentTool,
  defineAgent,
  defineTool,
  defineValidator,
  external,
  textMessage,
  toolResult,
  ToolError,
  type AgentDefinition,
  type JsonObject,
  type ModelFunction,
  type ToolDefinition,
} from '../../src/index.ts';
import type { ModelReply } from '../../src/core/contract/model.ts';
import { secret } from './secrets.ts';

const peek = defineTool({
  name: 'peek',
  description: `Looks ${secret('tool-description')}.`,
  parameters: z.object({
    [secret('argument-name')]: z.string().describe(secret('parameter-description')),
  }),
  execute: async (_args, context) => {
    context.emit('vault:seen', { [secret('event-field')]: secret('tool-event') });
    // Longer than the first heartbeat takes.
    await sleep(2_000);
    return toolResult({
      output: secret('tool-result'),
      instructions: secret('tool-instructions'),
    });
  },
});

const refuse = defineTool({
  name: 'refuse',
  description: 'Refuses.',
  execute: () => {
    throw new ToolError(secret('tool-error'));
  },
});

/** A variable that the worker hides; its value is in no list of places, as it must be nowhere. */
export const HIDDEN_VALUE = 'zqvalueofavariablezq';

/** Says the value in every way that a tool has. */
const leak = defineTool({
  name: 'leak',
  description: 'Leaks.',
  retry: { attempts: 1 },
  parameters: z.object({ how: z.string() }),
  execute: ({ how }, context) => {
    context.emit('vault:leaked', { text: HIDDEN_VALUE });
    if (how === 'throw') throw new Error(`no ${HIDDEN_VALUE}`, { cause: new Error(HIDDEN_VALUE) });
    return { text: `Basic ${Buffer.from(`user:${HIDDEN_VALUE}`).toString('base64')}` };
  },
});

const crash = defineTool({
  name: 'crash',
  description: 'Crashes.',
  retry: { attempts: 1 },
  execute: () => {
    throw new Error(secret('tool-crash'));
  },
});

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: z.object({ to: z.string() }),
  approval: 'always',
  execute: () => 'paid',
});

const build = defineTool({
  name: 'build',
  description: 'Builds outside.',
  execute: () => external({ details: { at: secret('outside-details') } }),
});

const strict = defineValidator({
  name: 'strict',
  validate: (answer, context) => {
    context.emit('vault:judged', { text: secret('validator-event') });
    return JSON.stringify(answer).includes(secret('refused-answer'))
      ? { accepted: false, feedback: secret('feedback') }
      : { accepted: true };
  },
});

const call = (name: string, args: JsonObject = {}): { name: string; args: JsonObject } => ({
  name,
  args,
});

const turns: readonly ModelReply[] = [
  {
    content: secret('prose'),
    reasoning: secret('reasoning'),
    toolCalls: [
      call('peek', { [secret('argument-name')]: secret('tool-argument') }),
      call('refuse'),
      call('crash'),
      call('leak', { how: 'return' }),
      call('leak', { how: 'throw' }),
    ],
  },
  { toolCalls: [call('helper', { task: secret('helper-task') })] },
  { toolCalls: [call('pay', { to: secret('approval-argument') }), call('build')] },
  {
    toolCalls: [
      call('ask_user', { question: secret('question'), options: [secret('option'), 'none'] }),
      call('ask_user', { question: 'What else?' }),
    ],
  },
  { content: secret('refused-answer') },
];

const vaultModel: ModelFunction = async ({ iteration }) => turns[iteration - 1] ?? secret('answer');

const helper = defineAgent({
  name: 'helper',
  mode: 'chat',
  description: secret('helper-description'),
  instructions: secret('helper-instructions'),
  model: { id: 'helper-model', model: async () => secret('helper-answer') },
});

/** `vault` holds most of them, `doomed` fails with two, `patient` waits to be canceled. */
export const secretAgents: readonly AgentDefinition[] = [
  defineAgent({
    name: 'vault',
    mode: 'chat',
    instructions: secret('instructions'),
    rules: secret('rules'),
    examples: [textMessage('user', secret('example')), textMessage('assistant', 'Yes.')],
    model: { id: 'vault-model', model: vaultModel },
    tools: [
      peek,
      refuse,
      crash,
      leak,
      pay,
      build,
      agentTool({ agent: 'helper' }),
    ] as readonly ToolDefinition[],
    validators: [strict],
    askUser: true,
  }),
  helper,
  defineAgent({
    name: 'doomed',
    mode: 'chat',
    model: {
      id: 'doomed-model',
      model: async () => {
        // The provider refuses the request, so it is not repeated.
        throw Object.assign(new Error(secret('model-failure')), { statusCode: 400 });
      },
    },
  }),
  defineAgent({
    name: 'patient',
    mode: 'chat',
    askUser: true,
    model: {
      id: 'patient-model',
      model: async () => ({ toolCalls: [call('ask_user', { question: 'Now?' })] }),
    },
  }),
];
