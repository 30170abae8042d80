/**
 * What a worker says of its agents to readers in other processes: `GET /agents` with the token of
 * `/chunks` answers with `{ v, worker, taskQueue, agents, more }`. A scoped token, which opens one
 * tree, does not open it. Pure: `worker/streaming/chunk-endpoint.ts` serves it, and
 * `client/streaming/ask-agents.ts` reads it.
 */
import { isPlainObject } from '../base/json.ts';
import type { AgentDescription, WorkerAgents } from './agent-description.ts';
import { WIRE_VERSION } from './chunk-wire.ts';

/** Path of the list, at an endpoint of chunks. */
export const AGENTS_PATH = '/agents';

/** Upper bound of an answer, in characters; a worker sends at most half of it. */
export const MAX_AGENTS_CHARACTERS = 4_194_304;

/** The body of an answer. */
export function agentsBody(agents: WorkerAgents): string {
  return JSON.stringify({ v: WIRE_VERSION, ...agents });
}

/** Reads an answer. Never throws; undefined for one of another version or shape. */
export function readAgentsBody(text: string): WorkerAgents | undefined {
  const value = parsed(text);
  if (!isPlainObject(value) || value['v'] !== WIRE_VERSION) return undefined;
  const { worker, taskQueue, agents, more } = value;
  const isAnswer =
    typeof worker === 'string' &&
    typeof taskQueue === 'string' &&
    Number.isSafeInteger(more) &&
    Array.isArray(agents) &&
    agents.every(isDescription);
  if (!isAnswer) return undefined;
  return { worker, taskQueue, agents, more: more as number };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isDescription(value: unknown): value is AgentDescription {
  if (!isPlainObject(value)) return false;
  const { models, servers, tools, limits, signature, parameters, moreTools } = value;
  return (
    ['name', 'description', 'mode'].every((name) => typeof value[name] === 'string') &&
    areTexts(models) &&
    areTexts(servers) &&
    (signature === null || typeof signature === 'string') &&
    (parameters === null || isPlainObject(parameters)) &&
    (moreTools === undefined || Number.isSafeInteger(moreTools)) &&
    areObjects(tools) &&
    tools.every(isTool) &&
    areObjects(limits) &&
    limits.every(({ key, max }) => typeof key === 'string' && typeof max === 'number')
  );
}

function isTool({ schema, ...tool }: Readonly<Record<string, unknown>>): boolean {
  const hasTexts = ['name', 'description', 'effect'].every(
    (name) => typeof tool[name] === 'string',
  );
  return hasTexts && (schema === undefined || schema === null || isPlainObject(schema));
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function areObjects(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) && value.every(isPlainObject);
}
