/** A line of the log of a worker as JSON. */
import type { LogEntry } from '@temporalio/worker';
import { defined } from '../../core/base/defined.ts';
import { wellFormedJson } from '../../core/text/well-formed.ts';

/** Bytes of a message; a stack belongs to a person who looks at one process. */
const MAX_MESSAGE_CHARACTERS = 8_000;

/**
 * `entry` as one line of JSON with a line break: `time`, `level`, `message`, and whose it is. Other
 * fields of the SDK are left out: they may hold what was said.
 */
export function logLine({ level, message, meta, timestampNanos }: LogEntry): string {
  const fields = meta ?? {};
  const text = (name: string): string | undefined => {
    const value: unknown = fields[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const attempt: unknown = fields['attempt'];
  const line = JSON.stringify(
    defined({
      time: new Date(Number(timestampNanos / 1_000_000n)).toISOString(),
      level,
      message: message.slice(0, MAX_MESSAGE_CHARACTERS),
      runId: text('runId'),
      workflowId: text('workflowId'),
      activity: text('activityType'),
      attempt: typeof attempt === 'number' ? attempt : undefined,
    }),
  );
  return `${wellFormedJson(line)}\n`;
}
