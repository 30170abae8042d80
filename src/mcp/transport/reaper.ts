/**
 * Ends the processes of servers when this process is gone, even by SIGKILL.
 *
 * A server whose worker is killed sees that its input ends, and most end then; one in the middle of a
 * call does not. So a small process (Node, some 40 MB, only with stdio servers) holds a channel to
 * this one. The kernel closes the channel however this process ends; the reaper then kills the
 * servers that it knows, and their descendants.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import type { McpLog } from '../text/log.ts';

/** Before the reaper is started again after it was ended. */
const RESTART_MS = 1_000;

/** How often it is started in a minute; where it cannot live, that is enough. */
const MAX_STARTS = 5;

const MINUTE_MS = 60_000;

/** The variable of a server's environment by which the reaper knows what the server has started. */
export const MARK = 'EVERLOOP_MCP_SERVER';

/** Watches over processes of servers. */
export interface Reaper {
  /**
   * Has the process killed when this one ends. The returned function is for when it has ended by
   * itself. `mark` is the value of {@link MARK} in its environment, by which descendants are known
   * that have left it.
   */
  watch(pid: number, mark: string): () => void;
  /**
   * Asks the process to end. Descendants that outlive it are killed, also those that have left its
   * process group. False: the reaper does not run, so nothing was asked.
   */
  end(pid: number): boolean;
  /** Ends the reaper; processes that it still knows are killed. */
  stop(): void;
}

/** Makes the reaper of this process. It starts with the first process that it watches. */
export function createReaper(log: McpLog): Reaper {
  const watched = new Map<number, string>();
  const state: {
    child: ChildProcess | undefined;
    restart: NodeJS.Timeout | undefined;
    isStopped: boolean;
  } = { child: undefined, restart: undefined, isStopped: false };
  const starts: number[] = [];
  const send = (message: object): void => {
    if (state.child?.connected === true) state.child.send(message, () => undefined);
  };
  const start = (): void => {
    const child = spawnReaper();
    state.child = child;
    starts.push(performance.now());
    const onEnd = (): void => {
      if (state.child !== child) return;
      state.child = undefined;
      // It was killed. What it watched still needs one.
      if (!state.isStopped && watched.size > 0) restart();
    };
    child.once('exit', onEnd);
    for (const [pid, mark] of watched) send({ add: pid, mark });
  };
  const restart = (): void => {
    const waitMs = restartMs(starts);
    const what = 'The process that ends MCP servers with this worker has ended';
    log('warn', `${what}; it starts again in ${Math.ceil(waitMs / 1_000)} s.`);
    state.restart = setTimeout(() => {
      state.restart = undefined;
      if (!state.isStopped && watched.size > 0) start();
    }, waitMs);
    state.restart.unref();
  };
  return {
    watch: (pid, mark) => {
      watched.set(pid, mark);
      if (state.child === undefined && state.restart === undefined) start();
      else send({ add: pid, mark });
      return () => {
        watched.delete(pid);
        send({ remove: pid });
      };
    },
    end: (pid) => {
      if (state.child?.connected !== true) return false;
      send({ end: pid });
      return true;
    },
    stop: () => {
      state.isStopped = true;
      clearTimeout(state.restart);
      if (state.child?.connected === true) state.child.disconnect();
    },
  };
}

function spawnReaper(): ChildProcess {
  const child = spawn(process.execPath, ['-e', REAPER], {
    // A process group of its own, so that Ctrl-C in a terminal reaches only this process.
    detached: true,
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    windowsHide: true,
  });
  // It cannot be started: the processes live without a reaper.
  child.once('error', () => undefined);
  child.unref();
  child.channel?.unref();
  return child;
}

/** How long to wait before it is started once more; `starts` keeps the last ones. */
function restartMs(starts: number[]): number {
  starts.splice(0, starts.length - MAX_STARTS);
  const [first] = starts;
  if (first === undefined || starts.length < MAX_STARTS) return RESTART_MS;
  return Math.max(RESTART_MS, first + MINUTE_MS - performance.now());
}

/** The reaper's program, for `node -e`: a file would have to work from the sources and the build. */
const REAPER = `
const { execFileSync } = require('node:child_process');
const { readdirSync, readFileSync } = require('node:fs');
const watched = new Map();
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
const trees = new Map();
process.on('message', ({ add, mark, remove, end }) => {
  if (add) watched.set(add, mark);
  if (end) askToEnd(end);
  if (remove) {
    const removed = watched.get(remove);
    watched.delete(remove);
    sweep(remove, removed);
  }
});
process.on('disconnect', () => {
  for (const pid of trees.keys()) sweep(pid, watched.get(pid));
  if (watched.size > 0) process.platform === 'win32' ? endTrees() : endGroups();
  process.exit(0);
});
function signal(pid, name) {
  try { process.kill(pid, name); } catch {}
}
function askToEnd(pid) {
  // Now, while its descendants still are: later their parent is another one.
  if (process.platform !== 'win32') trees.set(pid, treesOf(new Map([[pid, watched.get(pid)]])));
  signal(process.platform === 'win32' ? pid : -pid, 'SIGTERM');
}
function sweep(root, mark) {
  if (process.platform === 'win32') return;
  const later = treesOf(new Map([[root, mark]]));
  const tree = [...(trees.get(root) ?? []), ...later];
  trees.delete(root);
  if (!tree.some(({ pid }) => pid !== root)) return;
  // The id of a process that has ended may be that of another one by now.
  const starts = new Map(processes().map(({ pid, start }) => [pid, start]));
  for (const { pid, start } of tree) {
    if (pid !== root && start !== undefined && starts.get(pid) === start) signal(pid, 'SIGKILL');
  }
}
function endTrees() {
  for (const pid of watched.keys()) {
    try { execFileSync('taskkill', ['/PID', String(pid), '/T', '/F'], { stdio: 'ignore' }); } catch {}
  }
}
function endGroups() {
  const tree = treesOf(watched);
  for (const pid of watched.keys()) signal(-pid, 'SIGKILL');
  for (const { pid } of tree) signal(pid, 'SIGKILL');
}
function treesOf(roots) {
  // Each server leads a process group. A descendant may have made a group of its own.
  const tree = new Map();
  const all = processes();
  const marks = [...roots.values()].filter(Boolean).map((mark) => '${MARK}=' + mark + '\\0');
  // A daemon has another parent and group, but mostly the environment that it began with.
  for (const each of all) {
    if (each.pid !== process.pid && isMarked(each.pid, marks)) tree.set(each.pid, each);
  }
  for (let found = -1; found !== tree.size;) {
    found = tree.size;
    for (const each of all) {
      const { pid, parent, group } = each;
      const isPart = roots.has(pid) || roots.has(group) || roots.has(parent) || tree.has(parent);
      if (isPart && pid !== process.pid) tree.set(pid, each);
    }
  }
  return [...tree.values()];
}
function isMarked(pid, marks) {
  try {
    const environment = readFileSync('/proc/' + pid + '/environ', 'latin1');
    return marks.some((mark) => environment.includes(mark));
  } catch { return false; }
}
function processes() {
  try {
    return readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).flatMap((name) => {
      try {
        const stat = readFileSync('/proc/' + name + '/stat', 'utf8');
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const [, parent, group] = fields.map(Number);
        return [{ pid: Number(name), parent, group, start: fields[19] }];
      } catch { return []; }
    });
  } catch {}
  try {
    const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,pgid='], { encoding: 'utf8' });
    return lines.trim().split('\\n').map((line) => {
      const [pid, parent, group] = line.trim().split(/\\s+/).map(Number);
      return { pid, parent, group };
    });
  } catch { return []; }
}
`;
