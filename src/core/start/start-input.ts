/** What a start sends to the service, and what is refused before that. */
import { defined } from '../base/defined.ts';
import { idProblem, newIdProblem } from '../base/ids.ts';
import { callbackProblems } from './callback-specs.ts';
import type { AgentInput } from '../contract/input.ts';
import { byteSize, isDeeperThan, isPlainObject, MAX_JSON_DEPTH, type Json } from '../base/json.ts';
import type { StepMemory } from '../contract/step.ts';
import type { Task } from '../base/message.ts';
import { settingsProblems, toolChoiceProblem } from '../model/call-settings.ts';
import { shown } from '../text/shown.ts';
import { toJsonResult } from '../base/json-result.ts';
import { foreignIdProblem, tenantProblem } from '../tenant/tenant.ts';
import { UsageError } from '../base/usage-error.ts';
import { actorProblem } from './check-input.ts';
import { traceProblem } from './trace-input.ts';
import { EMPTY_MEMORY, type ProgramMemory } from '../../lisp.ts';
import { INLINE_SIZES, type SizeLimits } from '../base/size-limits.ts';

/** Bytes of JSON that a start may carry, if its client has no blob store; else 16 MB. */
export const MAX_START_BYTES: number = INLINE_SIZES.start;

/** What a start is made of. */
export interface StartParts extends Pick<
  AgentInput,
  | 'tenant'
  | 'context'
  | 'history'
  | 'conversation'
  | 'by'
  | 'messageId'
  | 'trace'
  | 'limits'
  | 'model'
  | 'settings'
  | 'toolChoice'
  | 'memory'
  | 'onEvent'
  | 'compiled'
  | 'compiles'
> {
  /** What to do: text, or text and media. Omit it for an agent whose template needs none. */
  readonly task?: string | Task;
}

/** `id`, if a run can have it. @throws UsageError `invalid_input` */
export function checkedRunId(id: string): string {
  return checkedId(id, idProblem(id));
}

/** `id`, if a user may start a run of `tenant` under it. @throws UsageError `invalid_input` */
export function checkedNewRunId(id: string, tenant: string | undefined): string {
  checkedId(id, newIdProblem(id));
  const foreign = foreignIdProblem(tenant, id);
  if (foreign !== undefined) throw invalid(foreign);
  return id;
}

function checkedId(id: string, problem: string | undefined): string {
  if (problem === undefined) return id;
  throw invalid(`Expected the id of a run ${problem}, got ${shown(id)}. Choose another.`);
}

/**
 * The payload of a start. What only a worker can know, such as the names of agents, is checked
 * there.
 *
 * @throws UsageError `invalid_input` for an empty task, and for input that is not JSON or is too
 * large.
 */
export function startInput(
  agent: string,
  parts: StartParts,
  { start }: SizeLimits = INLINE_SIZES,
): AgentInput {
  if (typeof agent !== 'string' || agent === '') {
    throw invalid(`Expected the name of an agent, got ${shown(agent)}. Name one.`);
  }
  const { task, context, history, conversation, messageId, by, limits, model } = parts;
  const { memory, onEvent, compiled, compiles, trace, tenant, settings, toolChoice } = parts;
  const [problem] = problemsOf(parts);
  if (problem !== undefined) throw invalid(problem);
  const input: AgentInput = {
    v: 1,
    agent,
    ...defined({ tenant }),
    task: checkedTask(task),
    ...defined({
      context,
      history,
      conversation: checkedName('conversation', conversation),
      messageId: checkedName('messageId', messageId),
      by,
      trace,
      limits,
      model,
      settings,
      toolChoice,
      memory: memory === undefined ? undefined : checkedMemory(memory),
      onEvent,
      compiled,
      compiles,
    }),
  };
  if (isDeeperThan(input, MAX_JSON_DEPTH)) {
    throw invalid(
      `Expected a start that nests at most ${MAX_JSON_DEPTH} levels, got a deeper one, or a cycle. Put such data behind a tool.`,
    );
  }
  // A Map would silently become {} on its way.
  const json = toJsonResult(input);
  if (json.kind === 'not_json') {
    throw invalid(
      `Expected a start to be plain JSON, got ${json.type} at \`${json.path}\`. Write it as JSON.`,
    );
  }
  const bytes = byteSize(input as unknown as Json);
  if (bytes > start) {
    throw invalid(
      `Expected a start of at most ${start} bytes, got ${bytes}. Put large data behind a tool.`,
    );
  }
  return input;
}

/** What is wrong with parts whose whole meaning is known here. */
function problemsOf({
  tenant,
  trace,
  settings,
  toolChoice,
  by,
  onEvent,
}: StartParts): readonly string[] {
  return [
    tenant === undefined ? undefined : tenantProblem(tenant),
    traceProblem(trace),
    ...settingsProblems(settings),
    toolChoiceProblem(toolChoice),
    by === undefined ? null : actorProblem(by),
    ...callbackProblems(onEvent).map(({ message }) => message),
  ].flatMap((problem) => problem ?? []);
}

function checkedName(field: string, value: unknown): string | undefined {
  if (value === undefined || isConversationId(value)) return value;
  throw invalid(`Expected \`${field}\` ${idProblem(value)}, got ${shown(value)}. Choose another.`);
}

/** Whether a run can be a turn of the conversation `value`. */
export function isConversationId(value: unknown): value is string {
  return idProblem(value) === undefined;
}

function checkedMemory(value: unknown): StepMemory {
  const problem = memoryProblem(value);
  if (problem !== undefined) throw invalid(problem);
  return value as StepMemory;
}

function checkedTask(value: unknown): Task {
  if (value === undefined) return { text: '' };
  const task: unknown = typeof value === 'string' ? { text: value } : value;
  if (!isPlainObject(task) || typeof task['text'] !== 'string') {
    throw invalid(
      `Expected \`task\` to be a text or { text, media? }, got ${shown(value)}. Say what to do.`,
    );
  }
  const { text, media } = task;
  if (text.trim() === '' && (media === undefined || (Array.isArray(media) && media.length === 0))) {
    throw invalid('Expected a task with text or media, got an empty one. Say what to do.');
  }
  // The worker checks media, since it must do so for every client.
  return task as unknown as Task;
}

function invalid(message: string): UsageError {
  return new UsageError('invalid_input', message);
}

/** Why `value` cannot be the memory of a run, in one sentence; undefined when it can. */
export function memoryProblem(value: unknown): string | undefined {
  if (!isPlainObject(value)) {
    return `Expected \`memory\` to be that of a Step, got ${shown(value)}. Pass \`step.memory\` on.`;
  }
  // The memory of a run without programs.
  if (Object.keys(value).length === 0) return undefined;
  const { v, bindings, history, journal, plan, heap, sources } = value;
  if (v !== 1) {
    return `Expected \`memory\` of version 1, got ${shown(v)}. A newer worker wrote it: upgrade this one, or start without it.`;
  }
  const broken = [
    ['bindings', isPlainObject(bindings)],
    ['history', Array.isArray(history)],
    ['journal', isPlainObject(journal)],
    ['plan', isTexts(plan)],
    ['heap', Array.isArray(heap)],
    ['sources', isTexts(sources)],
  ].flatMap(([name, fits]) => (fits === true ? [] : [String(name)]));
  if (broken.length === 0) return undefined;
  return `Expected \`memory\` to be that of a Step, got one with a broken ${broken.join(', ')}. Pass \`step.memory\` on as it is.`;
}

function isTexts(value: unknown): boolean {
  return isPlainObject(value) && Object.values(value).every((text) => typeof text === 'string');
}

/** The memory of a Step that was checked, in the form in which a run begins with it. */
export function startMemory(given: ProgramMemory | Readonly<Record<string, never>>): ProgramMemory {
  return 'v' in given ? (given as ProgramMemory) : EMPTY_MEMORY;
}
