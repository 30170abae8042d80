/**
 * Calls in text, for loops of users: a toolchain's description in a prompt, the calls of a reply, and
 * what the model reads about their results.
 */
import { defined } from '../base/defined.ts';
import type { FormattedSection, Message, ToolCall } from '../base/message.ts';
import type { CallTurn } from '../calls/run-calls.ts';
import type { Reply } from '../contract/model.ts';
import type { AgentSpec, ToolchainSpec } from '../contract/spec.ts';
import { malformedTurn, plainTurn, replyText, wasCut } from '../contract/turn.ts';
import { truncatedProblem } from '../format/format.ts';
import {
  messageOf,
  numberMedia,
  observationSection,
  type CallResult,
} from '../modes/observation.ts';
import { readingEvents } from '../run/turn-record.ts';
import { errorSection, explainCalls } from '../termination/feedback.ts';
import { withFoundTools } from '../tool-search/stubs.ts';
import { toolsText } from '../tool-search/describe.ts';
import { toolchainOf } from '../toolchain/toolchain-of.ts';
import type { CallsReading, Toolchain } from '../toolchain/toolchain.ts';
import type { Work } from './work.ts';

/** How a loop has calls written. */
export interface TextCallOptions {
  /**
   * `yaml`, `json`, or `own:name` of one that the module adds. Default: the toolchain of the agent;
   * `yaml` if that has native calls.
   */
  readonly toolchain?: Exclude<ToolchainSpec['kind'], 'native'>;
}

/** The options of {@link readCalls}. */
export interface ReadCallsOptions extends TextCallOptions {
  /** The part of the reply that has the calls, such as one section. Default: its whole text. */
  readonly content?: string;
}

/** The calls of a reply. */
export interface CallsRead {
  /** None if the reply has none, or if one of them cannot be read. */
  readonly calls: readonly ToolCall[];
  /** What the model has to read about calls that cannot be read; empty if there is nothing. */
  readonly feedback: readonly FormattedSection[];
}

/**
 * The tools of an agent and how to call them in text, for a prompt of the loop's own. Empty if it has
 * no tools.
 *
 * @example
 * const system = textMessage('system', `You plan.\n\n${describeCalls(work.state.head.spec)}`);
 */
export function describeCalls(spec: AgentSpec, options: TextCallOptions = {}): string {
  if (spec.tools.length === 0) return '';
  const toolchain = toolchainFor(spec, options);
  return `${toolsText(spec, toolchain)}\n\n${toolchain.guidance({ parallel: spec.parallel })}`;
}

/**
 * Reads the calls of a reply, once in an iteration, as the built-in loop does: nothing of a reply that
 * was cut off counts, a batch with one unreadable call runs none, and unreadable calls are recorded
 * and limited. Never throws on what a model wrote.
 *
 * @example
 * const reply = work.state.turn?.reply ?? (await work.ask());
 * const { calls, feedback } = readCalls(work, reply);
 * const results = await work.call(calls, callTurn(work, reply));
 */
export function readCalls(
  work: Pick<Work, 'run' | 'iteration' | 'state'>,
  reply: Reply,
  { content = replyText(reply), ...options }: ReadCallsOptions = {},
): CallsRead {
  const { run, iteration } = work;
  const spec = withFoundTools(work.state.head.spec, work.state.found);
  const read = (): CallsReading => readingOf(spec, { reply, content, iteration, options });
  const reading = run.host.computing.run('reply', read) ?? TOO_LONG;
  // The events of a turn that was handed over are those of the link before.
  const isNew = (work.state.turn ?? null) === null;
  if (reading.kind === 'none') return { calls: [], feedback: [] };
  const feedback = reading.kind === 'calls' ? [] : [errorSection(explainCalls(reading.problems))];
  const turn =
    reading.kind === 'calls'
      ? { ...plainTurn, ...reading }
      : malformedTurn(plainTurn, 'toolchain', reading.problems, { feedback });
  if (isNew) for (const event of readingEvents(turn, reply)) run.record(event);
  return { calls: reading.kind === 'calls' ? reading.calls : [], feedback };
}

const TOO_LONG: CallsReading = {
  kind: 'problems',
  problems: [{ code: 'unreadable', message: 'they take too long to read; write fewer' }],
};

function readingOf(
  { tools, maxCallsPerTurn, toolchain }: AgentSpec,
  {
    reply,
    content,
    iteration,
    options,
  }: {
    readonly reply: Reply;
    readonly content: string;
    readonly iteration: number;
    readonly options: TextCallOptions;
  },
): CallsReading {
  if (wasCut(reply)) return { kind: 'problems', problems: [truncatedProblem()] };
  if (content.trim() === '') return { kind: 'none' };
  const context = { iteration, tools, maxCallsPerTurn };
  return toolchainFor({ toolchain }, options).readCalls([content], context);
}

/**
 * What the calls of a reply know of their turn: what the model wrote, for people who approve one, and
 * how the run is handed over while it waits for people. A loop that passes it asks only if
 * `work.state.turn` has no reply.
 */
export function callTurn(work: Pick<Work, 'state' | 'startedAt'>, reply: Reply): CallTurn {
  const { startedAt, state } = work;
  return {
    reasoning: replyText(reply),
    ...defined({ kept: state.turn?.calls }),
    keep: (calls) => ({ reply, startedAt, calls }),
  };
}

/**
 * The message with the results of calls, as a model reads them, in the section `observation` of its
 * agent's format; none if there is nothing to say.
 *
 * @example
 * work.append({ messages: [textMessage('assistant', text), ...observationMessages(results, feedback)] });
 */
export function observationMessages(
  results: readonly CallResult[],
  feedback: readonly FormattedSection[] = [],
): readonly Message[] {
  const numbered = numberMedia(results);
  const children = [...feedback, ...numbered.results.map(observationSection)];
  const section = { name: 'observation', children };
  return messageOf('user', [
    ...(children.length === 0 ? [] : [{ type: 'sections' as const, sections: [section] }]),
    ...numbered.media,
  ]);
}

function toolchainFor(
  { toolchain }: Pick<AgentSpec, 'toolchain'>,
  options: TextCallOptions,
): Toolchain {
  if (options.toolchain === undefined && toolchain.kind !== 'native') return toolchainOf(toolchain);
  return toolchainOf({ kind: options.toolchain ?? 'yaml', section: toolchain.section });
}
