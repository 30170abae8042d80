/**
 * Unknown options: each is a problem, since an option that is ignored in silence may be a budget. The
 * names of other libraries are known here, with what they are called.
 */
import { UsageError, usageErrorOf, type UsageProblem } from '../base/usage-error.ts';
import { nearestName } from './nearest.ts';

/** Our name of an option and what has it, or a sentence about what there is instead. */
type Familiar = readonly [option: string, owner: string] | string;

const SETTINGS = 'It is in `settings` of `defineAgent`, `start`, `say` and of model entries.';
const MAX_OUTPUT = ['maxOutputTokens', '`settings` of `defineAgent`'] as const;
const REASONING = ['reasoning', '`settings` of `defineAgent`'] as const;
const INSTRUCTIONS = ['instructions', '`defineAgent`'] as const;
const TURNS = ['maxTurns', '`defineAgent`'] as const;
const CONTEXT = ['context', '`start`'] as const;
const VALIDATORS = ['validators', '`defineAgent`'] as const;
const SIGNATURE = ['signature', '`defineAgent`'] as const;
const PARAMETERS = ['parameters', '`defineTool`'] as const;
const EXECUTE = ['execute', '`defineTool`'] as const;
const APPROVAL = ['approval', '`defineTool`'] as const;
const LIMITS = ['limits', '`defineAgent` and `start`'] as const;
const EVENTS = 'Read the events of a run with `run.followEvents()` or a listener of the worker.';
const THREADS = 'Take `everloop.conversation(agent, { id })`.';
const KEPT = 'Remove it: the service keeps every run and conversation.';
const AGENT_TOOLS = 'Give the other agent as a tool: `tools: [agentTool({ agent })]`.';

const FAMILIAR: Readonly<Record<string, readonly Familiar[]>> = {
  inputSchema: [PARAMETERS],
  input_schema: [PARAMETERS],
  args_schema: [PARAMETERS],
  outputSchema: [['output', '`defineTool`'], SIGNATURE],
  handler: [EXECUTE],
  func: [EXECUTE],
  invoke: [EXECUTE],
  run: [EXECUTE],
  needsApproval: [APPROVAL],
  requireApproval: [APPROVAL],
  requiresApproval: [APPROVAL],
  returnDirect: [['final', '`defineTool`']],
  return_direct: [['final', '`defineTool`']],
  toModelOutput: ['Return `toolResult({ output, forModel })` from `execute`.'],
  system: [INSTRUCTIONS],
  systemPrompt: [INSTRUCTIONS],
  system_prompt: [INSTRUCTIONS],
  systemMessage: [INSTRUCTIONS],
  messages: [
    ['history', '`start`'],
    'Earlier messages are `history` of `start`, the new one is `task`.',
  ],
  input: [['task', '`start`']],
  query: [['task', '`start`']],
  prompt: [['task', '`start`']],
  maxSteps: [TURNS],
  max_steps: [TURNS],
  maxIterations: [TURNS],
  max_iterations: [TURNS],
  recursionLimit: [TURNS],
  stopWhen: [TURNS],
  stopConditions: [TURNS],
  temperature: [SETTINGS],
  topP: [SETTINGS],
  topK: [SETTINGS],
  seed: [SETTINGS],
  stopSequences: [SETTINGS],
  presencePenalty: [SETTINGS],
  frequencyPenalty: [SETTINGS],
  reasoning: [SETTINGS],
  reasoningEffort: [REASONING],
  reasoning_effort: [REASONING],
  modelSettings: [['settings', '`defineAgent`']],
  providerOptions: [SETTINGS],
  headers: [SETTINGS],
  maxTokens: [MAX_OUTPUT],
  max_tokens: [MAX_OUTPUT],
  maxOutputTokens: [SETTINGS],
  toolChoice: [['toolChoice', '`defineAgent` and `start`']],
  tool_choice: [['toolChoice', '`defineAgent` and `start`']],
  activeTools: ['Leave tools out of the request in `modelMiddleware` of `defineAgent`.'],
  prepareStep: ['Change the request in `modelMiddleware` of `defineAgent`.'],
  memory: [THREADS],
  thread: [THREADS],
  threadId: [THREADS],
  thread_id: [THREADS],
  sessionId: [THREADS],
  session: [THREADS],
  checkpointer: [KEPT],
  checkpoint: [KEPT],
  store: [KEPT],
  storage: [KEPT],
  guardrails: [VALIDATORS],
  outputGuardrails: [VALIDATORS],
  inputGuardrails: [['guards', '`defineAgent`']],
  toolGuardrails: [['toolMiddleware', '`defineAgent`']],
  middleware: [['modelMiddleware', '`defineAgent`']],
  handoffs: [AGENT_TOOLS],
  subagents: [AGENT_TOOLS],
  subAgents: [AGENT_TOOLS],
  responseFormat: [SIGNATURE],
  response_format: [SIGNATURE],
  outputType: [SIGNATURE],
  output_type: [SIGNATURE],
  resultType: [SIGNATURE],
  onStepFinish: [EVENTS],
  onFinish: [EVENTS],
  onChunk: [EVENTS],
  callbacks: [EVENTS],
  hooks: [EVENTS],
  timeout: [['timeoutMs', '`defineTool`'], LIMITS],
  abortSignal: ['End a run with `run.cancel()`; the signal of a wait is an option of `result`.'],
  maxRetries: [['retry', '`defineTool`']],
  retries: [['retry', '`defineTool`']],
  maxCost: [LIMITS],
  budget: [LIMITS],
  costUsd: [LIMITS],
  experimental_context: [CONTEXT],
  requestContext: [CONTEXT],
  runtimeContext: [CONTEXT],
  inputs: [CONTEXT],
  variables: [CONTEXT],
  state: [CONTEXT],
};

/**
 * A problem for each option that is not `known`; `owner` completes "an option of …".
 */
export function unknownOptions(
  options: object,
  known: readonly string[],
  owner: string,
): readonly UsageProblem[] {
  return Object.keys(options)
    .filter((name) => !known.includes(name))
    .map((name) => ({
      code: 'unknown_option',
      message: `Expected an option of ${owner}, got \`${name}\`. ${optionAdvice(name, known)}`,
    }));
}

/** @throws UsageError `unknown_option` with all options that are not `known`. */
export function requireKnown(
  options: unknown,
  known: Readonly<Record<string, true>>,
  owner: string,
): void {
  if (options === undefined || options === null) return;
  if (typeof options !== 'object') {
    const message = `Expected the options of ${owner} to be an object, got ${typeof options}. Write them as { name: value }.`;
    throw new UsageError('unknown_option', message);
  }
  const problems = unknownOptions(options, Object.keys(known), owner);
  if (problems.length > 0) throw usageErrorOf(problems);
}

/** What to write in place of an option that is not `known`. */
export function optionAdvice(name: string, known: readonly string[]): string {
  const familiar = Object.hasOwn(FAMILIAR, name) ? (FAMILIAR[name] ?? []) : [];
  const here = familiar.find((one) => typeof one !== 'string' && known.includes(one[0]));
  if (here !== undefined) return `\`${name}\` is called \`${here[0]}\`.`;
  const near = nearestName(name, known);
  if (near !== undefined) return `Did you mean \`${near}\`?`;
  const [elsewhere] = familiar.toReversed();
  if (elsewhere === undefined) return 'Remove it.';
  if (typeof elsewhere === 'string') return elsewhere;
  const [option, owner] = elsewhere;
  return option === name
    ? `It is an option of ${owner}.`
    : `\`${name}\` is called \`${option}\`, an option of ${owner}.`;
}
