/** One link of a run with its history, as the service exports it to JSON and as files keep it. */
import { readRecorded } from '../core/base/recorded.ts';
import { isPlainObject, type Json, type JsonObject } from '../core/base/json.ts';
import { parsedJson } from '../client/streaming/parsed-json.ts';

/** An event of a history: the fields that are read here. */
export interface HistoryEvent {
  /** `'5'`, from 1. */
  readonly eventId: string;
  /** `EVENT_TYPE_TIMER_STARTED` */
  readonly eventType: string;
  readonly [attributes: string]: Json | undefined;
}

/** A link to replay. */
export interface RunHistory {
  readonly v: 1;
  /** Ids of children and of calls derive from it, so a link replays under this id only. */
  readonly workflowId: string;
  /** The run id of the link. */
  readonly runId: string;
  /** The run id of the first link of the chain. */
  readonly firstExecutionRunId: string;
  /** Name of the agent; `''` if the start does not say. */
  readonly agent: string;
  /** The version of the worker that served the run last; null if it had none. */
  readonly build: string | null;
  readonly history: { readonly events: readonly HistoryEvent[] };
}

/** The link with this history; undefined if it is none of an agent's run. */
export function runHistoryOf(history: unknown): RunHistory | undefined {
  if (!isPlainObject(history) || !Array.isArray(history['events'])) return undefined;
  const events = history['events'] as readonly HistoryEvent[];
  const started = objectIn(events[0], 'workflowExecutionStartedEventAttributes');
  if (started === undefined) return undefined;
  const runId = textIn(started, 'originalExecutionRunId');
  const given = payloadsIn(started['input']).map(payloadValue)[0];
  return {
    v: 1,
    workflowId: textIn(started, 'workflowId'),
    runId,
    firstExecutionRunId: textIn(started, 'firstExecutionRunId') || runId,
    agent: agentOf(given),
    build: buildOf(events),
    history: { events },
  };
}

/**
 * What a file holds: a link that was saved, a bare history, or all links of a run as the console
 * exports them. Undefined for anything else.
 */
export function readRunHistories(text: string): readonly RunHistory[] | undefined {
  const value = parsedJson(text);
  if (!isPlainObject(value) || !Array.isArray(value['links'])) {
    const link = readLink(value);
    return link === undefined ? undefined : [link];
  }
  const links = (value['links'] as readonly unknown[]).map(readLink);
  return links.every((link) => link !== undefined) ? links : undefined;
}

function readLink(value: unknown): RunHistory | undefined {
  if (!isPlainObject(value)) return undefined;
  if (!('history' in value)) return runHistoryOf(value);
  const read = runHistoryOf(value['history']);
  if (read === undefined || value['v'] !== 1) return undefined;
  return {
    ...read,
    workflowId: textIn(value, 'workflowId') || read.workflowId,
    agent: textIn(value, 'agent') || read.agent,
  };
}

/**
 * The mark of the loops of your own that the link ran; undefined for Everloop's. Links that were
 * recorded before there were marks have none.
 */
export function workflowsOf({ history }: RunHistory): string | undefined {
  const started = objectIn(history.events[0], 'workflowExecutionStartedEventAttributes');
  for (const payload of payloadsIn(started?.['input'])) {
    const mark = markIn(payloadValue(payload));
    if (mark !== undefined) return mark;
  }
  for (const event of history.events) {
    const marker = objectIn(event, 'markerRecordedEventAttributes');
    const details = marker === undefined ? undefined : objectIn(marker, 'details');
    if (details === undefined) continue;
    // The first marker with a value is that of the agent that was loaded.
    const [result] = payloadsIn(details['result']);
    const value = result === undefined ? undefined : readRecorded(payloadValue(result))?.value;
    if (value !== undefined) return markIn(value);
  }
  return undefined;
}

/** The names of the patches that the history has. */
export function patchesOf({ history }: RunHistory): readonly string[] {
  return history.events.flatMap((event) => {
    const marker = objectIn(event, 'markerRecordedEventAttributes');
    if (marker?.['markerName'] !== 'core_patch') return [];
    const [data] = payloadsIn(objectIn(marker, 'details')?.['patch-data']);
    const value = data === undefined ? undefined : payloadValue(data);
    return isPlainObject(value) && typeof value['id'] === 'string' ? [value['id']] : [];
  });
}

/** A payload in JSON: metadata and data are base64. */
export interface JsonPayload {
  readonly metadata?: { readonly [key: string]: string };
  readonly data?: string;
}

/** The JSON value of a payload; undefined for any other encoding. */
export function payloadValue({ metadata, data }: JsonPayload): unknown {
  const encoding = Buffer.from(metadata?.['encoding'] ?? '', 'base64').toString();
  if (encoding !== 'json/plain' || data === undefined) return undefined;
  return parsedJson(Buffer.from(data, 'base64').toString());
}

function payloadsIn(value: unknown): readonly JsonPayload[] {
  const payloads = isPlainObject(value) ? value['payloads'] : undefined;
  return Array.isArray(payloads) ? (payloads as readonly JsonPayload[]) : [];
}

/** The agent of an input, or of the state that was handed over. */
function agentOf(given: unknown): string {
  if (!isPlainObject(given)) return '';
  const { state } = given as { readonly state?: { readonly head?: { readonly spec?: unknown } } };
  const spec = state?.head?.spec;
  return isPlainObject(spec) ? textIn(spec, 'name') : textIn(given, 'agent');
}

function buildOf(events: readonly HistoryEvent[]): string | null {
  const done = events.findLast((event) => 'workflowTaskCompletedEventAttributes' in event);
  const attributes = objectIn(done, 'workflowTaskCompletedEventAttributes');
  const version = attributes === undefined ? undefined : objectIn(attributes, 'deploymentVersion');
  return version === undefined ? null : textIn(version, 'buildId') || null;
}

function markIn(value: unknown): string | undefined {
  const runtime = isPlainObject(value) ? value['runtime'] : undefined;
  const mark = isPlainObject(runtime) ? runtime['workflows'] : undefined;
  return typeof mark === 'string' ? mark : undefined;
}

function objectIn(value: unknown, key: string): JsonObject | undefined {
  const found = isPlainObject(value) ? value[key] : undefined;
  return isPlainObject(found) ? (found as JsonObject) : undefined;
}

function textIn(value: { readonly [key: string]: unknown }, key: string): string {
  const found = value[key];
  return typeof found === 'string' ? found : '';
}
