/** Which fields of the service's answers can be read without a key. */
import type { Payload } from '@temporalio/common';
import { keyIdOf } from '../../src/protection/codec.ts';

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
      const payload = value as Payload;
      if (keyIdOf(payload) !== undefined) return;
      found.set(`${path} (payload)`, Buffer.from(payload.data ?? []).toString());
      return;
    }
    for (const [name, item] of Object.entries(value)) {
      visit(item, path === '' ? name : `${path}.${name}`);
    }
  };
  for (const message of messages) visit(message, '');
  return found;
}
