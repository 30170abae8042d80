/** Which fields of the service's answers can be read without a key. */
import type { Payload } from '@temporalio/common';
import { keyIdOf } from '../../src/protection/codec.ts';

/** What stays readable, by the row of the table in docs/protection.md, and the fields that are it. */
const READABLE: readonly (readonly [row: string, fields: RegExp])[] = [
  [
    'ids of runs, executions, messages and timers',
    /(?:workflowId|[rR]unId|requestId|[uU]pdateId|activityId|timerId|protocolInstanceId|MessageId|[nN]amespaceId)$/,
  ],
  ['namespace and task queues', /(?:[nN]amespace|taskQueue|taskQueue\.(?:name|normalName))$/],
  ['types of workflows and activities', /(?:\.type|workflowType|activityType)\.name$/],
  ['names of signals and updates', /(?:signalName|input\.name)$/],
  ['search attributes', /searchAttributes\.indexedFields\.\w+ \(payload\)$/],
  ['workers and their software', /(?:[iI]dentity|buildId|sdkName|sdkVersion)$/],
  ['references to blobs', / \(reference\)$/],
  ['types of failures', /failure\.(?:source|message|applicationFailureInfo\.type)$/],
  [
    'patches and bookkeeping of local activities',
    /(?:markerName|details\.(?:patch-data|data)\.payloads \(payload\))$/,
  ],
];

/** The rows that readable fields are in, and fields that are in none. */
export function readableRows(fields: ReadonlyMap<string, string>): {
  readonly rows: readonly string[];
  readonly others: readonly string[];
} {
  const paths = [...fields.keys()];
  const isIn = (path: string): boolean => READABLE.some(([, pattern]) => pattern.test(path));
  return {
    rows: READABLE.filter(([, pattern]) => paths.some((path) => pattern.test(path))).map(
      ([row]) => row,
    ),
    others: paths.filter((path) => !isIn(path)),
  };
}

/** The paths of all texts, and of all payloads that are not encrypted, such as `a.b.name`. */
export function readableFields(messages: readonly object[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const visit = (value: unknown, path: string): void => {
    if (typeof value === 'string') {
      if (value !== '') found.set(path, value);
      return;
    }
    if (Array.isArray(value)) return value.forEach((item) => visit(item, path));
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
    if ('metadata' in value && 'data' in value) {
      const payload = value as Payload & { readonly externalPayloads?: readonly unknown[] };
      if (keyIdOf(payload) !== undefined) return;
      const kind = (payload.externalPayloads ?? []).length > 0 ? 'reference' : 'payload';
      found.set(`${path} (${kind})`, Buffer.from(payload.data ?? []).toString());
      return;
    }
    for (const [name, item] of Object.entries(value)) {
      visit(item, path === '' ? name : `${path}.${name}`);
    }
  };
  for (const message of messages) visit(message, '');
  return found;
}
