/** What comes to a workflow takes effect in one order, whenever a local activity ends. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDeliveries, type Deliveries } from '../../src/workflows/recorded/deliveries.ts';

/** A workflow as a replay or a first execution has it: what comes, and when its local calls end. */
interface Simulated {
  readonly deliveries: Deliveries;
  /** Runs everything that can run. */
  readonly drain: () => Promise<void>;
  /** Ends the local call that began first, and runs nothing. */
  readonly endFirst: () => void;
  /** Lets the local calls end that have begun, in this order of their names. */
  readonly end: (order: (names: string[]) => string[]) => Promise<void>;
  readonly local: (name: string) => Promise<void>;
  readonly log: string[];
}

function simulate(clockEvery = Infinity): Simulated {
  const log: string[] = [];
  const open = new Map<string, () => void>();
  let untimed = 0;
  let conditions: (() => void)[] = [];
  // As the SDK does: microtasks first, then the conditions, until none of them holds.
  const drain = async (): Promise<void> => {
    for (;;) {
      await new Promise(setImmediate);
      if (conditions.length === 0) return;
      const held = conditions;
      conditions = [];
      for (const hold of held) hold();
    }
  };
  const begin = (name: string): Promise<void> =>
    deliveries.local(new Promise((resolve) => open.set(name, resolve)));
  const deliveries = createDeliveries({
    quiet: () => new Promise((resolve) => conditions.push(resolve)),
    isClockDue: () => untimed >= clockEvery,
    readClock: () => {
      untimed = 0;
      void begin(`clock ${log.length}`).then(() => log.push('clock'));
    },
  });
  return {
    deliveries: {
      local: deliveries.local,
      settled: deliveries.settled,
      turn: () => deliveries.turn().then(() => void (untimed += 1)),
    },
    drain,
    endFirst: () => {
      const [first] = open;
      if (first === undefined) return;
      const [name, end] = first;
      open.delete(name);
      end();
    },
    local: (name) => begin(name),
    log,
    end: async (order) => {
      while (open.size > 0) {
        for (const name of order([...open.keys()])) {
          open.get(name)?.();
          open.delete(name);
          await drain();
        }
      }
    },
  };
}

/** A thing that comes, and the local calls that follow it, one after the other. */
interface Arrival {
  readonly name: string;
  readonly locals: number;
  /** It begins them at once instead. */
  readonly together: boolean;
}

async function handle(sim: Simulated, { name, locals, together }: Arrival): Promise<void> {
  await sim.deliveries.turn();
  sim.log.push(`${name} came`);
  const call = async (at: number): Promise<void> => {
    await sim.local(`${name}.${at}`);
    sim.log.push(`${name}.${at} ended`);
  };
  if (together) await Promise.all(Array.from({ length: locals }, (_, at) => call(at)));
  else for (let at = 0; at < locals; at += 1) await call(at);
  sim.log.push(`${name} done`);
}

/** The updates of a task: their acceptances are commands, in one row with what the others log. */
async function accept(sim: Simulated, updates: readonly Arrival[]): Promise<void> {
  await sim.deliveries.settled();
  for (const one of updates) {
    sim.log.push(`${one.name} accepted`);
    void handle(sim, one);
  }
}

const arrivals = fc
  .array(fc.record({ locals: fc.nat(3), together: fc.boolean() }), { maxLength: 8 })
  .map((all) => all.map((one, at) => ({ ...one, name: `m${at}` })));

describe('the order of what comes to a workflow', () => {
  it('is that of a replay, whichever task ends a local activity', async () => {
    await fc.assert(
      fc.asyncProperty(
        arrivals,
        fc.infiniteStream(fc.boolean()),
        fc.nat(3),
        async (all, coin, every) => {
          const clockEvery = every === 0 ? Infinity : every;
          // A replay: each local activity ends before anything else comes.
          const replayed = simulate(clockEvery);
          for (const one of all) {
            void handle(replayed, one);
            await replayed.drain();
            await replayed.end((names) => names);
          }
          // The first execution: things come together, and while local activities are open, which end
          // in any order.
          const live = simulate(clockEvery);
          for (const one of all) {
            void handle(live, one);
            if (coin.next().value === true) await live.drain();
            if (coin.next().value === true)
              await live.end((names) => (coin.next().value === true ? names.toReversed() : names));
          }
          await live.drain();
          await live.end((names) => names.toReversed());
          await live.drain();
          expect(live.log).toEqual(replayed.log);
          expect(live.log.filter((line) => line.endsWith('done'))).toHaveLength(all.length);
        },
      ),
    );
  });

  it('accepts updates after what ended in their task, which a replay sees in the one before', async () => {
    await fc.assert(
      fc.asyncProperty(arrivals, arrivals, fc.nat(3), async (before, after, ends) => {
        const named = after.map((one, at) => ({ ...one, name: `after ${at}` }));
        const come = (sim: Simulated): void => {
          void accept(
            sim,
            named.filter((_, at) => at % 2 === 0),
          );
          for (const [at, one] of named.entries()) if (at % 2 === 1) void handle(sim, one);
        };
        const play = async (between: (sim: Simulated) => Promise<unknown>): Promise<string[]> => {
          const sim = simulate();
          for (const one of before) void handle(sim, one);
          await sim.drain();
          for (let at = 0; at < ends; at += 1) {
            sim.endFirst();
            await sim.drain();
          }
          sim.endFirst();
          await between(sim);
          come(sim);
          await sim.drain();
          await sim.end((names) => names);
          await sim.drain();
          return sim.log;
        };
        const replayed = await play((sim) => sim.drain());
        expect(await play(() => Promise.resolve())).toEqual(replayed);
      }),
    );
  });

  it('accepts an update that came with a result after the local activities that the result begins', async () => {
    await fc.assert(
      fc.asyncProperty(arrivals, arrivals, async (before, updates) => {
        const play = async (isJoined: boolean): Promise<string[]> => {
          const sim = simulate();
          const come = (): void =>
            void accept(
              sim,
              updates.map((one) => ({ ...one, name: `u${one.name}` })),
            );
          const results = [{ name: 'first', locals: 1, together: false }, ...before];
          // The service gives updates to a task that the SDK joins with that of these results.
          if (isJoined) come();
          for (const one of results) void handle(sim, one);
          if (!isJoined) {
            await sim.drain();
            come();
          }
          await sim.drain();
          await sim.end((names) => names);
          await sim.drain();
          return sim.log;
        };
        expect(await play(true)).toEqual(await play(false));
      }),
    );
  });

  it('ends a local activity that fails, and what came meanwhile takes effect', async () => {
    const sim = simulate();
    let fail: (error: Error) => void = () => undefined;
    const failing = sim.deliveries.local(
      new Promise<void>((_, reject) => {
        fail = reject;
      }),
    );
    void failing.catch(() => sim.log.push('failed'));
    void sim.deliveries.turn().then(() => sim.log.push('message'));
    await sim.drain();
    expect(sim.log).toEqual([]);
    fail(new Error('no'));
    await sim.drain();
    expect(sim.log).toEqual(['failed', 'message']);
  });

  it('lets the first finish before the second takes effect, though both came at once', async () => {
    const sim = simulate();
    const work = async (name: string): Promise<void> => {
      await sim.deliveries.turn();
      for (let tick = 0; tick < 20; tick += 1) await Promise.resolve();
      sim.log.push(name);
    };
    void work('first');
    void work('second').then(() => sim.log.push('after'));
    void sim.deliveries.turn().then(() => sim.log.push('third'));
    await sim.drain();
    expect(sim.log).toEqual(['first', 'second', 'after', 'third']);
  });
});
