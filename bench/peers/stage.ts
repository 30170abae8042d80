/** Starts services and sides, and reads what they note. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { cliFolder } from '../../src/worker/server/cli-folder.ts';
import { startOrFindServer } from '../../src/worker/server/embedded-server.ts';
import { startPostgres } from './services/postgres.ts';
import { startRestate } from './services/restate-server.ts';
import type { Service } from './services/service.ts';
import type { FromSide, Places, ToSide } from './side.ts';
import type { SideInfo } from './sides.ts';
import type { Order } from './work.ts';

/** A line that model or tool wrote. */
export interface Note {
  readonly kind: 'ask' | 'effect';
  readonly run: string;
  readonly turn: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A side that runs. */
export interface Player {
  readonly info: SideInfo;
  /** Plays the orders at once; the time in ms. */
  play(orders: readonly Order[]): Promise<number>;
  /** Begins a run, and does not wait for it. */
  begin(order: Order): void;
  /** Kills the process with SIGKILL and starts another, which goes on with the run. */
  replace(order: Order): Promise<void>;
  /** What was noted of a run, in order. */
  notesOf(run: string): readonly Note[];
  storedBytes(): Promise<number>;
  end(): void;
}

/** Everything of one call of the benchmark. */
export interface Stage {
  /** Starts a side and the service that it needs; throws `Unavailable` if that is not to be had. */
  start(info: SideInfo): Promise<Player>;
  close(): Promise<void>;
}

/** Opens a stage in a new folder. */
export function openStage(): Stage {
  const root = mkdtempSync(join(tmpdir(), 'everloop-peers-'));
  const services = new Map<string, Promise<Service<unknown>>>();
  const players: Player[] = [];
  const service = (name: string): Promise<Service<unknown>> => {
    const started = services.get(name) ?? startService(name, root);
    services.set(name, started);
    return started;
  };
  return {
    start: async (info) => {
      const folder = join(root, `side-${info.file.replace('.ts', '')}${info.variant ?? ''}`);
      mkdirSync(folder);
      const { needs } = info;
      const place = needs === undefined ? {} : { [needs]: (await service(needs)).place };
      const player = await createPlayer(info, { folder, ...place } as Places, root);
      players.push(player);
      return player;
    },
    close: async () => {
      for (const player of players) player.end();
      for (const started of services.values()) {
        await started.then((running) => running.stop()).catch(() => undefined);
      }
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function startService(name: string, root: string): Promise<Service<unknown>> {
  if (name === 'postgres') return startPostgres(root);
  if (name === 'restate') return startRestate(root);
  // The development server with Everloop's settings, for all sides that use Temporal.
  const cliDir = await cliFolder('.everloop');
  const server = await startOrFindServer({ dataDir: root, cliDir, port: 'free' });
  return { place: server.address, stop: () => server.stop() };
}

async function createPlayer(info: SideInfo, places: Places, root: string): Promise<Player> {
  const notes = join(places.folder, '..', `notes-${info.file}-${info.variant ?? ''}.txt`);
  let child = await startProcess(info, places, notes);
  return {
    info,
    play: async (orders) => {
      send(child, { type: 'play', orders });
      const answer = await heard(child, info);
      return answer.type === 'played' ? answer.ms : Number.NaN;
    },
    begin: (order) => send(child, { type: 'play', orders: [order] }),
    replace: async (order) => {
      child.kill('SIGKILL');
      child = await startProcess(info, places, notes);
      if (info.isResumed === true) send(child, { type: 'resume', order });
    },
    notesOf: (run) => notesIn(notes).filter((note) => note.run === run),
    storedBytes: async () => info.storedBytes(places, root),
    end: () => child.kill('SIGKILL'),
  };
}

async function startProcess(info: SideInfo, places: Places, notes: string): Promise<ChildProcess> {
  const path = fileURLToPath(new URL(`sides/${info.file}`, import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', path], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...process.env,
      NODE_ENV: 'production',
      MASTRA_TELEMETRY_DISABLED: '1',
      EVERLOOP_LOG_LEVEL: 'error',
      PEERS_PLACES: JSON.stringify(places),
      PEERS_NOTES: notes,
      PEERS_VARIANT: info.variant ?? '',
    },
  });
  await heard(child, info);
  return child;
}

function send(child: ChildProcess, message: ToSide): void {
  child.send(message);
}

/** The next message of a side; rejects if it failed or ended. */
async function heard(child: ChildProcess, { name }: SideInfo): Promise<FromSide> {
  const message = await Promise.race([
    once(child, 'message').then(([first]) => first as FromSide),
    once(child, 'exit').then(([code, signal]): FromSide => ({
      type: 'failed',
      error: `the process ended with ${signal ?? code}`,
    })),
  ]);
  if (message.type === 'failed') throw new Error(`${name}: ${message.error}`);
  return message;
}

function notesIn(file: string): readonly Note[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [kind, run = '', turn, at] = line.split(' ');
    return { kind: kind as Note['kind'], run, turn: Number(turn), at: Number(at) };
  });
}

/** Waits until `find` finds something in the notes of a run. */
export async function waitForNote(
  player: Player,
  run: string,
  find: (notes: readonly Note[]) => Note | undefined,
  withinMs: number,
): Promise<Note> {
  const deadline = performance.now() + withinMs;
  while (performance.now() < deadline) {
    const found = find(player.notesOf(run));
    if (found !== undefined) return found;
    await sleep(5);
  }
  throw new Error(`${player.info.name}: expected run ${run} to go on within ${withinMs} ms.`);
}
