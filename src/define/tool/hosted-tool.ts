/**
 * Tools that a provider runs itself, as packages of the AI SDK define them: `openai.tools.webSearch({})`.
 * Their names, ids and arguments are data, so the specification has all of them.
 */
import { isPlainObject, type JsonObject } from '../../core/base/json.ts';
import { toJsonResult } from '../../core/base/json-result.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import type { HostedTool } from '../../core/contract/model.ts';
import { expected } from '../checks/fields.ts';
import type { AgentModel } from '../model/model-entry.ts';

/** A tool of the AI SDK, 6 or 7: of `tool({…})`, or of a provider, such as `openai.tools.webSearch({})`. */
export interface AiTool {
  /** `provider` for one that a provider defines. */
  readonly type?: string | undefined;
  readonly description?: unknown;
  /** A schema of zod, valibot, …, or what `jsonSchema()` of the AI SDK returns. */
  readonly inputSchema: unknown;
}

/** The fields of a tool that a provider defines. */
interface ProviderTool extends AiTool {
  readonly id: string;
  readonly args: object;
  /** Only in the AI SDK 7. */
  readonly isProviderExecuted?: boolean;
}

/** What the packages of the AI SDK 6, which do not say so, have providers run: the id without its date. */
const RUN_BY_PROVIDERS: ReadonlySet<string> = new Set([
  'openai.code_interpreter',
  'openai.file_search',
  'openai.image_generation',
  'openai.mcp',
  'openai.web_search',
  'openai.web_search_preview',
  'anthropic.advisor',
  'anthropic.code_execution',
  'anthropic.web_fetch',
  'anthropic.web_search',
  'google.code_execution',
  'google.enterprise_web_search',
  'google.file_search',
  'google.google_maps',
  'google.google_search',
  'google.url_context',
  'google.vertex_rag_store',
  'groq.browser_search',
  'xai.code_execution',
  'xai.file_search',
  'xai.view_image',
  'xai.view_x_video',
  'xai.web_search',
  'xai.x_search',
  'gateway.parallel_search',
  'gateway.perplexity_search',
]);

/** Whether `value` is a tool of the AI SDK. */
export function isAiTool(value: unknown): value is AiTool {
  return isPlainObject(value) && 'inputSchema' in value && !('kind' in value);
}

/** Whether `value` is a tool that a provider defines. */
export function isProviderTool(value: unknown): value is ProviderTool {
  if (!isAiTool(value)) return false;
  const { id, args, type } = value as Partial<ProviderTool>;
  const isDefined = type === 'provider' || type === 'provider-defined';
  return isDefined && typeof id === 'string' && isPlainObject(args);
}

/** A hosted tool as data; its name is the last part of its id. */
export function hostedTool({ id, args }: ProviderTool): HostedTool {
  const read = toJsonResult(args);
  return { name: nameOf(id), id, args: (read.kind === 'json' ? read.value : {}) as JsonObject };
}

/** The name of the tool with `id`. */
export function nameOf(id: string): string {
  return id.slice(id.indexOf('.') + 1);
}

/** The problems of a tool of the AI SDK at `place` among the tools of an agent. */
export function aiToolProblems(tool: AiTool, place: string): readonly UsageProblem[] {
  if (!isProviderTool(tool)) {
    const what = `\`${place}\` to have a name and an effect`;
    const advice =
      "Write `tools: { name: tool({…}) }`, or `fromAiTool('name', tool({…}), { effect: 'read' })`.";
    return [expected('definition', what, 'a `tool({…})` of the AI SDK', advice)];
  }
  const { id, args, isProviderExecuted = RUN_BY_PROVIDERS.has(id.replace(/_20\d{6}$/, '')) } = tool;
  if (!isProviderExecuted) {
    const what = `\`${place}\` to be a tool that its provider runs`;
    const advice = `Give it an \`execute\`, and write \`fromAiTool('${nameOf(id)}', …, { effect: 'once' })\`.`;
    return [expected('hosted_tool', what, `\`${id}\`, which your process runs`, advice)];
  }
  return argumentProblems(id, args, place);
}

function argumentProblems(id: string, args: object, place: string): readonly UsageProblem[] {
  const read = toJsonResult(args);
  if (read.kind === 'not_json') {
    const got = `${read.type} at \`${read.path}\``;
    const what = `the arguments of \`${place}\` (\`${id}\`) to be JSON`;
    return [expected('hosted_tool', what, got, 'Runs record them: give plain data.')];
  }
  if (id !== 'openai.mcp') return [];
  const {
    requireApproval = 'never',
    authorization,
    headers,
  } = args as {
    readonly [name: string]: unknown;
  };
  const advice = 'Use `mcpServer` instead.';
  const what = `\`${place}\` (\`${id}\`) without`;
  return [
    ...(requireApproval === 'never'
      ? []
      : [
          expected(
            'hosted_tool',
            `${what} \`requireApproval\``,
            'one',
            `Its calls wait for nobody here. ${advice}`,
          ),
        ]),
    ...(authorization === undefined && headers === undefined
      ? []
      : [
          expected(
            'hosted_tool',
            `${what} secrets`,
            '`authorization` or `headers`',
            `Runs record arguments. ${advice}`,
          ),
        ]),
  ];
}

/** The providers that run the tools whose ids begin with a word; others are asked without them. */
const HOSTS: ReadonlyMap<string, RegExp> = new Map([
  ['openai', /^(?!xai)\S*\.responses$/],
  ['anthropic', /anthropic/],
  ['google', /^(?:google|vertex)(?!.*anthropic)/],
  ['xai', /^xai\.responses/],
]);

/** Whether the provider of a model runs the hosted tool with `id`. */
export function runsHosted(provider: string, id: string): boolean {
  if (provider.startsWith('gateway')) return true;
  const [family = ''] = id.split('.');
  return HOSTS.get(family)?.test(provider) ?? provider.startsWith(family);
}

/** Whether `model` may run the hosted tool with `id`; one that is not loaded yet may. */
export function mayRunHosted(model: AgentModel, id: string): boolean {
  if (typeof model === 'function') return false;
  if (typeof model === 'string') {
    const [family = ''] = id.split('.');
    return !model.includes('/') || model.startsWith(family);
  }
  return 'provider' in model ? runsHosted(model.provider, id) : mayRunHosted(model.model, id);
}
