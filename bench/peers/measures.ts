/** What is measured of each side. */
import { setTimeout as sleep } from 'node:timers/promises';
import { waitForNote, type Note, type Player } from './stage.ts';
import type { Order } from './work.ts';

/** Figures of one side, by name. */
export type Figures = Record<string, number>;

const SHORT = { chatBytes: 0, resultBytes: 1_024, modelMs: 0, toolMs: 0 };
const TURNS = 15;
const ROUNDS = 2;
const FLEET = 40;
const FLEET_TURNS = 3;
const SLOW_TURNS = 2;
const SLOW_MS = 1_000;
const LONG = { turns: 100, chatBytes: 400_000, resultBytes: 5_000, modelMs: 0, toolMs: 0 };
const KILLS = 2;
/** Longer than a bare workflow without heartbeats of its model calls needs. */
const PATIENCE_MS = 90_000;

let runs = 0;

function orderOf(parts: Omit<Order, 'id'>, prefix = 'run'): Order {
  runs += 1;
  return { id: `${prefix}-${process.pid}-${runs}`, ...parts };
}

/**
 * Short chats: alone and forty at once with an instant model, and forty at once whose model thinks
 * for a second. The sides take turns. Each value is said at once, since all take some minutes.
 */
export async function measureSpeed(players: readonly Player[]): Promise<readonly Figures[]> {
  const alone: number[][] = players.map(() => []);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [place, player] of players.entries()) {
      const ms = await player.play([orderOf({ ...SHORT, turns: TURNS })]);
      // The first round warms up.
      if (round > 0) alone[place]?.push(shown(player, 'turn_ms', ms / TURNS));
    }
  }
  const figures: Figures[] = [];
  for (const [place, player] of players.entries()) {
    await player.play(fleetOf({ ...SHORT, turns: 1 }));
    const fleetMs = await player.play(fleetOf({ ...SHORT, turns: FLEET_TURNS }));
    // A step is a call of the model or of the tool; the answer is a call of the model, too.
    const steps = FLEET * (2 * FLEET_TURNS + 1);
    const steps_per_s = shown(player, 'steps_per_s', (steps * 1_000) / fleetMs);
    const slowMs = await player.play(fleetOf({ ...SHORT, turns: SLOW_TURNS, modelMs: SLOW_MS }));
    const calls = SLOW_TURNS + 1;
    const beyond = (slowMs - calls * SLOW_MS) / calls;
    const overhead_ms_1s_model = shown(player, 'overhead_ms_1s_model', beyond);
    figures.push({ turn_ms: median(alone[place] ?? []), steps_per_s, overhead_ms_1s_model });
  }
  return figures;
}

/** `value`, which it writes for the people who wait. */
function shown({ info }: Player, name: string, value: number): number {
  process.stderr.write(`  ${info.name}: ${name} ${Number(value.toPrecision(4))}\n`);
  return value;
}

function fleetOf(parts: Omit<Order, 'id'>): readonly Order[] {
  return Array.from({ length: FLEET }, () => orderOf(parts));
}

/** A chat of 400 KB that goes on for a hundred turns with results of 5 KB. */
export async function measureLong(player: Player): Promise<Figures> {
  await player.play([orderOf({ ...SHORT, turns: 2 })]);
  const before = await settledBytes(player);
  const order = orderOf(LONG);
  await player.play([order]);
  const stored = (await settledBytes(player)) - before;
  const effects = player.notesOf(order.id).filter(({ kind }) => kind === 'effect');
  return {
    stored_mb: stored / 1e6,
    turn_ms_10: msAt(effects, 10),
    turn_ms_50: msAt(effects, 50),
    turn_ms_100: msAt(effects, 100),
  };
}

/** The mean time of the nine turns around `turn`, or of the last nine. */
function msAt(effects: readonly Note[], turn: number): number {
  const last = effects[Math.min(turn + 4, effects.length) - 1];
  const first = effects[Math.min(turn + 4, effects.length) - 10];
  return last === undefined || first === undefined ? Number.NaN : (last.at - first.at) / 9;
}

/** Engines write some things a little later; waits until two readings are the same. */
async function settledBytes(player: Player): Promise<number> {
  let last = await player.storedBytes();
  for (let tries = 0; tries < 10; tries++) {
    await sleep(500);
    const next = await player.storedBytes();
    if (next === last) return next;
    last = next;
  }
  return last;
}

/** Kills the process in model calls and behind effects of the tool. */
export async function measureKills(player: Player): Promise<Figures> {
  const progress_ms = await killInModel(player);
  const effects_twice = await killInTool(player, 'run');
  if (player.info.hasOnce !== true) return { progress_ms, effects_twice };
  return { progress_ms, effects_twice, effects_twice_once: await killInTool(player, 'once') };
}

/** The median time from the kill of a process in a model call to the next call of the model. */
async function killInModel(player: Player): Promise<number> {
  const order = orderOf({ ...SHORT, turns: KILLS, modelMs: 2_000 });
  const times: number[] = [];
  player.begin(order);
  for (let turn = 1; turn <= KILLS; turn++) {
    await waitForNote(player, order.id, asked(turn), PATIENCE_MS);
    await sleep(1_000);
    const known = player.notesOf(order.id).length;
    const killedAt = performance.timeOrigin + performance.now();
    await player.replace(order);
    const next = await waitForNote(player, order.id, (notes) => notes[known], PATIENCE_MS);
    times.push(next.at - killedAt);
  }
  await waitForNote(player, order.id, asked(KILLS + 1), PATIENCE_MS);
  return median(times);
}

/** How many effects happened again, of runs whose process was killed between effect and result. */
async function killInTool(player: Player, prefix: string): Promise<number> {
  const order = orderOf({ ...SHORT, turns: KILLS, toolMs: 600 }, prefix);
  player.begin(order);
  for (let turn = 1; turn <= KILLS; turn++) {
    await waitForNote(player, order.id, effect(turn), PATIENCE_MS);
    await sleep(300);
    await player.replace(order);
  }
  await waitForNote(player, order.id, asked(KILLS + 1), PATIENCE_MS);
  const effects = player.notesOf(order.id).filter(({ kind }) => kind === 'effect');
  return effects.length - new Set(effects.map(({ turn }) => turn)).size;
}

function asked(turn: number): (notes: readonly Note[]) => Note | undefined {
  return (notes) => notes.find((note) => note.kind === 'ask' && note.turn === turn);
}

function effect(turn: number): (notes: readonly Note[]) => Note | undefined {
  return (notes) => notes.find((note) => note.kind === 'effect' && note.turn === turn);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? upper) + upper) / 2 : upper;
}
