/** The process that ends servers with their worker, when it is killed itself. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createReaper } from '../../src/mcp/transport/reaper.ts';
import { eventually } from '../support/eventually.ts';

/** The processes of this one that run a program of `node -e`. */
function reapers(): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const [, parent = ''] =
        /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8')) ?? [];
      const isOurs = Number(parent) === process.pid;
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      return isOurs && words.includes('EVERLOOP_MCP_SERVER') ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

it.runIf(process.platform === 'linux')('comes again after a pause, and says so', async () => {
  const logged: string[] = [];
  const reaper = createReaper((_level, message) => void logged.push(message));
  const server = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  try {
    reaper.watch(server.pid ?? 0, 'mark');
    await eventually('a reaper', () => reapers().length === 1);
    const [first = 0] = reapers();
    process.kill(first, 'SIGKILL');
    await eventually('a warning', () => logged.length === 1);
    expect(reapers()).toEqual([]);
    await eventually('another one', () => reapers().length === 1);

    expect(logged).toEqual([
      'The process that ends MCP servers with this worker has ended; it starts again in 1 s.',
    ]);
  } finally {
    reaper.stop();
    server.kill('SIGKILL');
  }
});
