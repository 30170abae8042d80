/** The arithmetic of what one workflow task sends, over random orders of calls, ends and timers. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTaskBytes } from '../../../src/workflows/sending/task-bytes.ts';

const TASK_BYTES = 3_000_000;

/** The microtasks that follow a step. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
};

/**
 * A service that knows what tasks are: what is issued is sent when a task ends, the result of a local
 * activity with the task in which it ends, and a timer fires in a later task.
 */
function taskWorld() {
  let timer: { sentAfter: number; fire: () => void } | null = null;
  let timers = 0;
  let task = 0;
  let inTask = 0;
  let largest = 0;
  const bytes = createTaskBytes(TASK_BYTES, () => {
    timers += 1;
    let fire = (): void => undefined;
    const fired = new Promise<void>((resolve) => (fire = resolve));
    const own = { sentAfter: task, fire };
    timer = own;
    return { fired, cancel: () => void (timer === own && (timer = null)) };
  });
  const send = (count: number): void => {
    inTask += count;
    largest = Math.max(largest, inTask);
  };
  const endTask = (): void => {
    task += 1;
    inTask = 0;
  };
  return {
    bytes,
    send,
    endTask,
    /** Fires the timer, in a later task than that which started it. */
    fire: (): boolean => {
      if (timer === null) return false;
      if (timer.sentAfter === task) endTask();
      const { fire } = timer;
      timer = null;
      fire();
      return true;
    },
    timers: () => timers,
    largest: () => largest,
  };
}

type Act =
  | { readonly kind: 'call' | 'local'; readonly size: number }
  | { readonly kind: 'end' | 'task' | 'fire' | 'cancel'; readonly size: number };

const acts = fc.array(
  fc.record({
    kind: fc.constantFrom<Act['kind']>(
      'call',
      'call',
      'local',
      'local',
      'end',
      'task',
      'fire',
      'cancel',
    ),
    size: fc.integer({ min: 1, max: 2_000_000 }),
  }),
  { maxLength: 60 },
);

async function play(list: readonly Act[]) {
  const world = taskWorld();
  const begun: number[] = [];
  const canceled = new Set<number>();
  const open: { readonly size: number }[] = [];
  const cancels = new Map<number, () => void>();
  let started = 0;
  const end = (): void => {
    const one = open.shift();
    if (one === undefined) return;
    world.send(one.size);
    world.bytes.endLocal();
  };
  for (const { kind, size } of list) {
    if (kind === 'call' || kind === 'local') {
      const number = (started += 1);
      const isLocal = kind === 'local';
      const stop = new Promise<never>((_resolve, reject) =>
        cancels.set(number, () => reject(new Error('canceled'))),
      );
      stop.catch(() => undefined);
      const begin = (): void => {
        cancels.delete(number);
        if (canceled.has(number)) {
          if (isLocal) world.bytes.endLocal();
          return;
        }
        begun.push(number);
        if (isLocal) open.push({ size });
        else world.send(size);
      };
      const room = world.bytes.take({ bytes: size, isLocal, canceled: stop });
      if (room === null) begin();
      else void room.then(begin);
    } else if (kind === 'end') end();
    else if (kind === 'fire') world.fire();
    else if (kind === 'task') world.endTask();
    else {
      const [first] = cancels.entries();
      if (first !== undefined) {
        canceled.add(first[0]);
        first[1]();
      }
    }
    await settled();
  }
  return { world, begun, canceled, open, end, started: () => started };
}

describe('what one task sends', () => {
  it('is never more than the budget, or one thing alone; and all goes out, in its order', async () => {
    await fc.assert(
      fc.asyncProperty(acts, async (list) => {
        const { world, begun, canceled, open, end, started } = await play(list);
        // In the end the service answers everything.
        for (let round = 0; round < 3 * list.length; round += 1) {
          while (open.length > 0) end();
          await settled();
          world.fire();
          await settled();
        }
        expect(begun).toEqual([...begun].sort((left, right) => left - right));
        expect(begun.length + canceled.size).toBe(started());
        expect(world.largest()).toBeLessThanOrEqual(TASK_BYTES);
        // Nothing waits, so there is no timer.
        expect(world.fire()).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it('starts no timer for what fits, however the tasks fall', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 100_000 }), { maxLength: 30 }),
        async (sizes) => {
          const world = taskWorld();
          for (const bytes of sizes) expect(world.bytes.take({ bytes })).toBeNull();
          await settled();
          expect(world.timers()).toBe(0);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('begins anew with a reply, for what was issued before its call alone', () => {
    const { bytes } = taskWorld();
    expect(bytes.take({ bytes: 2_900_000 })).toBeNull();
    const onReply = bytes.mark();
    expect(bytes.take({ bytes: 90_000 })).toBeNull();
    onReply();
    expect(bytes.take({ bytes: 2_900_000 })).toBeNull();
    expect(bytes.take({ bytes: 20_000 })).not.toBeNull();
  });

  it('waits for open local activities before its timer, since they leave their results later', async () => {
    const world = taskWorld();
    expect(world.bytes.take({ bytes: 2_000_000, isLocal: true })).toBeNull();
    const room = world.bytes.take({ bytes: 2_000_000 });
    await settled();
    expect([room === null, world.timers()]).toEqual([false, 0]);
    world.bytes.endLocal();
    expect(world.timers()).toBe(1);
  });

  it('cancels the timer when nothing waits any more, so that no task begins for nothing', async () => {
    const world = taskWorld();
    expect(world.bytes.take({ bytes: TASK_BYTES })).toBeNull();
    let cancel = (): void => undefined;
    const canceled = new Promise<never>((_resolve, reject) => (cancel = () => reject(new Error())));
    const room = world.bytes.take({ bytes: 1, canceled });
    cancel();
    await room;
    expect([world.timers(), world.fire()]).toEqual([1, false]);
    // What it had is still counted as not sent.
    expect(world.bytes.take({ bytes: 1 })).not.toBeNull();
    expect(world.timers()).toBe(2);
  });
});
