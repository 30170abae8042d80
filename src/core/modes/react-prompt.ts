/** The request of a react agent: everything is text, written by the agent's own format. */
import { textMessage, type FormattedSection, type Message } from '../base/message.ts';
import type { JsonObject } from '../base/json.ts';
import type { ModelRequest } from '../contract/model.ts';
import { toolsText } from '../tool-search/describe.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import { contextDescriptions } from './context-text.ts';
import type { RequestOptions } from './mode.ts';
import { messageOf } from './observation.ts';
import { requestOf, sourceText, visibleContext, writtenMessages } from './prompt.ts';
import type { AgentSpec } from '../contract/spec.ts';
import { describedSections, reactAgentOf, type ReactAgent } from './react-sections.ts';

/** The texts of a system message, for an agent with a prompt function of its own. */
export interface SystemTexts {
  readonly instructions: string;
  /** How the loop works. */
  readonly method: string;
  readonly rules: string;
  /** The catalogue; empty if there are no tools. */
  readonly tools: string;
  /** The sections of a reply. */
  readonly outputFormat: string;
}

/** The texts that a system message is made of; empty ones are left out of it. */
export function systemTexts(
  spec: AgentSpec,
  options: Pick<RequestOptions, 'instructions' | 'rules'>,
): SystemTexts {
  return textsOf(spec, reactAgentOf(spec), options);
}

/** The request of one model call. The same head and messages give the same leading bytes. */
export function buildReactRequest(
  head: TranscriptHead,
  messages: readonly Message[],
  options: RequestOptions,
): ModelRequest {
  const { spec } = head;
  const agent = reactAgentOf(spec);
  const stable = [
    ...(options.prompt ?? systemMessage(textsOf(spec, agent, options))),
    ...spec.examples,
    ...startMessage(head, agent),
    ...messages,
  ];
  const markers = agent.options.markers;
  const marker = markers === null ? [] : [markers[messages.length === 0 ? 0 : 1]];
  return requestOf(
    head,
    options,
    writtenMessages(stable, agent.format),
    marker.map((text) => textMessage('user', text)),
  );
}

type FixedTexts = Pick<SystemTexts, 'method' | 'tools' | 'outputFormat'>;

/** Texts that depend only on the specification. They are cached, since every request needs them. */
const fixedTexts = new WeakMap<ReactAgent, FixedTexts>();

function textsOf(
  spec: AgentSpec,
  agent: ReactAgent,
  options: Pick<RequestOptions, 'instructions' | 'rules'>,
): SystemTexts {
  const { method, tools, outputFormat } = fixedTexts.get(agent) ?? {
    method: howToWork(agent),
    tools: toolsText(spec, agent.toolchain),
    outputFormat: agent.format.describe(describedSections(spec, agent)),
  };
  fixedTexts.set(agent, { method, tools, outputFormat });
  return {
    instructions: sourceText(spec.instructions, options.instructions),
    method,
    rules: sourceText(spec.rules, options.rules),
    tools,
    outputFormat,
  };
}

function systemMessage(texts: SystemTexts): readonly Message[] {
  return messageOfSections('system', [
    { name: 'instructions', content: texts.instructions },
    { name: 'how_to_work', content: texts.method },
    { name: 'rules', content: texts.rules },
    { name: 'tools', content: texts.tools },
    // It shows how sections open and close. If it were escaped, a model would copy the escapes.
    { name: 'output_format', content: texts.outputFormat, isVerbatim: true },
  ]);
}

/** What the run was started with: history, context, task, and the media of the task. */
function startMessage(head: TranscriptHead, agent: ReactAgent): readonly Message[] {
  const turns = (head.history ?? []).map(({ role, text }) => `${role}: ${text}`);
  const context = visibleContext(head.context);
  const isEmpty = Object.keys(context).length === 0;
  const sections = [
    { name: 'history', content: turns.join('\n\n') },
    { name: 'context', content: isEmpty ? '' : contextText(head, agent, context) },
    { name: 'task', content: head.task.text },
  ];
  const [text] = messageOfSections('user', sections);
  return messageOf('user', [...(text?.parts ?? []), ...(head.task.media ?? [])]);
}

/** The context as the agent writes data, under a line for each key whose meaning is known. */
function contextText(head: TranscriptHead, agent: ReactAgent, context: JsonObject): string {
  const meanings = Object.entries(contextDescriptions(head))
    .filter(([key]) => Object.hasOwn(context, key))
    .map(([key, text]) => `# ${key}: ${text.replaceAll(/\s+/g, ' ')}`);
  return [...meanings, agent.toolchain.write(context)].join('\n');
}

function messageOfSections(
  role: Message['role'],
  sections: readonly FormattedSection[],
): readonly Message[] {
  const present = sections.filter((section) => section.content !== '');
  return present.length === 0 ? [] : [{ role, parts: [{ type: 'sections', sections: present }] }];
}

function howToWork({ names: { action, answer } }: ReactAgent): string {
  if (action === null) {
    return `You solve the task in your reply. When you have all that the task needs, write the ${answer} section. That ends the work.`;
  }
  return `You solve the task in steps. Each of your replies is one step.
- In a step you either act or answer. Something still unknown or still to be done: write the ${action} section and stop there.
- What your ${action} returned comes back to you as an observation before your next step.
- Rely on observations, not on guesses. When an ${action} fails, read the error and change something before you try again.
- When you have all that the task needs, write the ${answer} section. That ends the work.`;
}
