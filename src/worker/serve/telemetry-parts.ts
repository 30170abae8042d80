/** What telemetry knows of a worker: its meter, its names, its providers. */
import { Runtime } from '@temporalio/worker';
import { defined } from '../../core/base/defined.ts';
import type { RegisteredAgent, Registry } from '../../define/definition/definitions.ts';
import { findEntry } from '../../define/model/provider-models.ts';
import { providerName } from '../../telemetry/genai.ts';
import type { KnownNames } from '../../telemetry/meter.ts';
import type { TelemetryParts } from '../../telemetry/open.ts';
import type { BoundedTranscriptCache } from './transcript-cache.ts';
import { redactTexts } from '../../tools/redact-texts.ts';
import { workerLog } from './worker-log.ts';

/** Tools of one agent that become labels; of more, none does. */
const MAX_TOOL_LABELS = 200;

/** The parts for a worker of `registry`. */
export function telemetryParts(
  registry: Registry,
  cache: Pick<BoundedTranscriptCache, 'stats'>,
): TelemetryParts {
  return {
    known: knownNames(registry),
    cacheBytes: () => cache.stats().bytes,
    providerOf: (model) => providerOf(registry, model),
    transportOf: (server) => TRANSPORTS[registry.servers?.get(server)?.transport.kind ?? 'none'],
    redact: (agent, text) => redactedBy(registry, agent, text),
    warn: (text) => workerLog('WARN', text),
    ...defined({ meter: Runtime._instance?.metricMeter }),
  };
}

/** The transports of servers in the words of OpenTelemetry. */
const TRANSPORTS = { stdio: 'pipe', http: 'tcp', none: undefined } as const;

const NO_TOOLS: ReadonlySet<string> = new Set();

function knownNames({ agents, models }: Registry): KnownNames {
  const own = [...agents.values()].flatMap(modelsOf);
  const tools = new Map([...agents].map(([name, agent]) => [name, toolsOf(agent)]));
  return {
    agents: new Set(agents.keys()),
    models: new Set([...models.keys(), ...own]),
    toolsOf: (agent) => tools.get(agent) ?? NO_TOOLS,
  };
}

function toolsOf({ tools, definition }: RegisteredAgent): ReadonlySet<string> {
  const names = new Set([...tools.keys(), ...definition.spec.tools.map(({ name }) => name)]);
  return names.size > MAX_TOOL_LABELS ? NO_TOOLS : names;
}

/** The models that an agent and its LLM tools name. */
function modelsOf({ definition, tools }: RegisteredAgent): readonly string[] {
  const named = [definition.model, ...[...tools.values()].map(({ model }) => model)];
  return named.flatMap((model) =>
    model === null || model === undefined ? [] : [typeof model === 'string' ? model : model.id],
  );
}

/** What an agent cannot redact is not shown. */
function redactedBy({ agents }: Registry, agent: string, text: string): string {
  const redact = agents.get(agent)?.definition.redact;
  if (redact === undefined) return text;
  try {
    return redactTexts(agent, redact, [text])[0] ?? '';
  } catch {
    return '[redacted]';
  }
}

function providerOf({ models }: Registry, id: string): string | undefined {
  const model = findEntry(models, id)?.model;
  if (typeof model === 'string') return providerName(model);
  if (typeof model === 'function' || model === undefined) return undefined;
  return providerName(model.provider);
}
