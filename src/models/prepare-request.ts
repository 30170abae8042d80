/**
 * What the functions of an agent decide about one request: which tools are offered, and what `prepare`
 * says. The reply carries it, so it is recorded once and replays repeat it.
 */
import { defined } from '../core/base/defined.ts';
import { isPlainObject } from '../core/base/json.ts';
import { usageErrorOf, UsageError } from '../core/base/usage-error.ts';
import type { RunInfo } from '../core/calls/run-info.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { CallSettings, Prepared } from '../core/contract/model.ts';
import type { AgentSpec } from '../core/contract/spec.ts';
import { mergeSettings, settingsProblems, toolChoiceProblem } from '../core/model/call-settings.ts';
import { unknownOptions } from '../core/text/option-names.ts';
import { shown } from '../core/text/shown.ts';
import type { RegisteredAgent } from '../define/definition/definitions.ts';
import { withinTime } from '../tools/within-time.ts';

/** A specification as one request shows it. */
export interface PreparedSpec {
  readonly spec: AgentSpec;
  /** Tools of the agent that the request leaves out; absent: none. */
  readonly notOffered?: readonly string[];
  /** Absent: the agent has no `prepare`. */
  readonly prepared?: Prepared;
}

/**
 * Calls the functions for a request that goes to model `asked`. An error of one, or its deadline, fails
 * the attempt. A model is chosen in place of the first only: a fallback was ordered since that one failed.
 */
export async function preparedSpec(
  agent: RegisteredAgent | undefined,
  spec: AgentSpec,
  info: RunInfo,
  asked: string,
): Promise<PreparedSpec> {
  const hasConditions = agent?.definition.tools.some((tool) => tool.enabled !== undefined);
  const prepare = agent?.definition.prepare;
  if (agent === undefined || (hasConditions !== true && prepare === undefined)) return { spec };
  const prepared =
    prepare &&
    checkedPrepared(spec, await withinTime(`\`prepare\` of ${spec.name}`, () => prepare(info)));
  if (asked !== spec.models[0]?.id) delete prepared?.model;
  const named = prepared?.tools;
  const names = [...spec.tools, ...(spec.stubs ?? [])].map(({ name }) => name);
  const offered = await Promise.all(
    names.map(async (name) => {
      const isNamed = named === undefined || named.includes(name);
      return isNamed && (await isEnabled(agent, name, info));
    }),
  );
  const notOffered = names.filter((_name, index) => offered[index] !== true);
  const isOffered = ({ name }: { readonly name: string }): boolean => !notOffered.includes(name);
  return {
    spec: {
      ...spec,
      tools: spec.tools.filter(isOffered),
      ...defined({
        stubs: spec.stubs?.filter(isOffered),
        toolChoice: prepared?.toolChoice ?? spec.toolChoice,
        settings: mergeSettings<CallSettings>(spec.settings, prepared?.settings),
      }),
    },
    ...defined({ notOffered: notOffered.length === 0 ? undefined : notOffered, prepared }),
  };
}

async function isEnabled(agent: RegisteredAgent, name: string, info: RunInfo): Promise<boolean> {
  const tool = agent.tools.get(name);
  if (tool?.enabled === undefined) return true;
  const enabled: unknown = await withinTime(`\`enabled\` of tool ${name}`, () =>
    tool.enabled?.(info),
  );
  if (typeof enabled === 'boolean') return enabled;
  const message = `Expected \`enabled\` of tool \`${name}\` to give a boolean, got ${shown(enabled)}. Return true or false.`;
  throw new UsageError('tool_enabled', message);
}

/** `order` as it goes to the model that `prepare` chose. */
export function orderFor(
  order: ModelOrder,
  { models }: AgentSpec,
  { model = order.model }: Prepared = {},
): ModelOrder {
  if (model === order.model) return order;
  const { structuredOutput: asked } = order;
  const wayOf = (id: string): ModelOrder['structuredOutput'] =>
    models.find((one) => one.id === id)?.structuredOutput;
  // A plainer way than that of the entry was ordered since a provider did not take its own.
  const structuredOutput = asked === wayOf(order.model) ? wayOf(model) : asked;
  return { ...order, model, ...defined({ structuredOutput }) };
}

const KNOWN = ['model', 'tools', 'toolChoice', 'settings'];

function checkedPrepared(
  spec: AgentSpec,
  value: unknown,
): { -readonly [Field in keyof Prepared]: Prepared[Field] } {
  if (value === undefined) return {};
  const message = (text: string): { readonly code: 'agent_prepare'; readonly message: string } => ({
    code: 'agent_prepare',
    message: text,
  });
  if (!isPlainObject(value)) {
    throw usageErrorOf([
      message(
        `Expected \`prepare\` to give { model?, tools?, toolChoice?, settings? }, got ${shown(value)}.`,
      ),
    ]);
  }
  const names = [...spec.tools, ...(spec.stubs ?? [])].map(({ name }) => name);
  const { model, tools, toolChoice, settings } = value;
  const choice = toolChoiceProblem(toolChoice, names);
  const problems = [
    ...unknownOptions(value, KNOWN, '`prepare`'),
    ...[
      ...modelProblems(model, spec),
      ...toolProblems(tools, names),
      ...settingsProblems(settings),
    ].map(message),
    ...(choice === undefined ? [] : [message(choice)]),
  ];
  if (problems.length > 0) throw usageErrorOf(problems);
  return defined({ model, tools, toolChoice, settings }) as Prepared;
}

/** Only of the models of the agent does the run know prices and limits. */
function modelProblems(model: unknown, { models }: AgentSpec): readonly string[] {
  const ids = models.map(({ id }) => id);
  if (model === undefined || ids.includes(model as string)) return [];
  return [
    `Expected \`model\` of \`prepare\` to name a model of the agent (${ids.join(', ')}), got ${shown(model)}. Add it to \`fallbacks\` of the first.`,
  ];
}

function toolProblems(tools: unknown, names: readonly string[]): readonly string[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools)) {
    return [`Expected \`tools\` of \`prepare\` to be a list of names, got ${shown(tools)}.`];
  }
  return tools
    .filter((name) => !names.includes(name as string))
    .map(
      (name) =>
        `Expected \`tools\` of \`prepare\` to name tools of the agent (${names.join(', ')}), got ${shown(name)}.`,
    );
}
