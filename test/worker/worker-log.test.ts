import type { LogEntry } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { workerLogger } from '../../src/worker/serve/worker-log.ts';

const VALUE = 'a-value-that-is-secret';

function logged(meta: LogEntry['meta'], hidesFailures = false): LogEntry {
  const lines: LogEntry[] = [];
  const logger = workerLogger({
    level: 'INFO',
    hiding: () => ({ hidesFailures, hide: (text) => text.replaceAll(VALUE, '[redacted]') }),
    write: (entry) => void lines.push(entry),
  });
  logger.warn(`it said ${VALUE}`, meta);
  return lines[0] as LogEntry;
}

it('hides values in messages and in all that stands beside them', () => {
  const error = new TypeError(`no ${VALUE}`, { cause: new Error(VALUE) });
  const { message, meta } = logged({ error, list: [{ text: VALUE }], count: 1, at: null });

  expect(message).toBe('it said [redacted]');
  expect(meta).toMatchObject({ list: [{ text: '[redacted]' }], count: 1, at: null });
  const shown = meta?.['error'] as Error;
  expect([shown.name, shown.message, (shown.cause as Error).message]).toEqual([
    'TypeError',
    'no [redacted]',
    '[redacted]',
  ]);
  expect(`${shown.stack}${(shown.cause as Error).stack}`).not.toContain(VALUE);
});

it('ends with what contains itself', () => {
  const loop: Record<string, unknown> = { text: VALUE };
  loop['loop'] = loop;

  expect(JSON.stringify(logged({ loop }).meta)).not.toContain(VALUE);
});

it('cuts failures to their types as well, with keys', () => {
  const error = Object.assign(new Error(VALUE), { type: 'tool_failed' });

  expect(logged({ error }, true).meta).toEqual({ error: { type: 'tool_failed' } });
});
