/** The log of a worker process. */
import { Runtime } from '@temporalio/worker';
import { redact } from '../../core/text/redact.ts';

/** Writes a line to the log of the SDK, without secrets; to stderr when the SDK is not running. */
export function workerLog(level: 'INFO' | 'WARN' | 'ERROR', text: string): void {
  const runtime = Runtime._instance;
  if (runtime === undefined) console.error(redact(text));
  else runtime.logger.log(level, redact(text));
}
