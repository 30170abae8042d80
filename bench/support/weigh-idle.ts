/** Starts the process whose heaps are measured. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { IdleOrder, IdleReport } from './idle-child.ts';

/** Weighs workflows that wait, in a process of its own. */
export function weighIdle(order: IdleOrder): Promise<IdleReport> {
  const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
  const flags = ['--expose-gc', '--import', 'tsx', '--import', pathOf('workflow-thread.mjs')];
  const child = spawn(
    process.execPath,
    [...flags, pathOf('idle-child.ts'), JSON.stringify(order)],
    {
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    },
  );
  return new Promise((resolve, reject) => {
    child.once('message', (report) => resolve(report as IdleReport));
    child.once('error', reject);
    child.once('exit', (code) => {
      reject(new Error(`Expected a report of the ${order.side} side, got exit code ${code}.`));
    });
  });
}
