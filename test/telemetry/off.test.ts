/** Without traces, nothing of OpenTelemetry is loaded. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { RUNS_ALL } from '../support/extent.ts';

/** Refuses every module of OpenTelemetry, in whichever way it is asked for. */
const REFUSE = `
import { Module, register } from 'node:module';
const hook = \`export const resolve = (name, context, next) => {
  if (name.startsWith('@opentelemetry/')) throw new Error('loads ' + name);
  return next(name, context);
};\`;
register('data:text/javascript,' + encodeURIComponent(hook));
const { _resolveFilename } = Module;
Module._resolveFilename = (name, ...rest) => {
  if (name.startsWith('@opentelemetry/')) throw new Error('requires ' + name);
  return _resolveFilename(name, ...rest);
};`;

const OPEN = (telemetry: string): string => `
if (process.argv[1] === 'worker') await import('./src/worker.ts');
const { openTelemetry } = await import('./src/telemetry/open.ts');
const names = { agents: new Set(), models: new Set(), toolsOf: () => new Set() };
const parts = { known: names, cacheBytes: () => 0, warn: () => undefined };
const { listeners } = await openTelemetry(${telemetry}, parts);
console.log(listeners.length);`;

const run = promisify(execFile);

/** How many listeners telemetry has; `worker` loads everything that a worker does. */
async function opened(telemetry: string, what: 'worker' | 'telemetry'): Promise<string> {
  const refuse = `data:text/javascript,${encodeURIComponent(REFUSE)}`;
  const loader = import.meta.resolve('tsx');
  const code = ['--input-type', 'module', '--eval', OPEN(telemetry), what];
  const { stdout } = await run(process.execPath, ['--import', refuse, '--import', loader, ...code]);
  return stdout.trim();
}

test.runIf(RUNS_ALL)(
  'a worker without traces loads nothing of OpenTelemetry, and has no listener',
  async () => {
    const [off, on] = await Promise.allSettled([
      opened('{}', 'worker'),
      opened(`{ traces: { content: 'off', sample: 1 } }`, 'telemetry'),
    ]);
    expect(off).toEqual({ status: 'fulfilled', value: '0' });
    expect(on).toMatchObject({
      reason: { message: expect.stringContaining('loads @opentelemetry/') as string },
    });
  },
  60_000,
);
