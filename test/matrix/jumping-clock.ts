/** A clock that jumps: the `Date` of this process is hours off, each time by another amount. */

const HOUR_MS = 3_600_000;
const OFFSETS: readonly number[] = [0, 6 * HOUR_MS, -3 * HOUR_MS, 26 * HOUR_MS, -48 * HOUR_MS];
const JUMP_EVERY_MS = 40;

/** From now on `Date` jumps several times a second. Timers and the clocks of other processes do not. */
export function letClockJump(): void {
  const RealDate = Date;
  let jumps = 0;
  const now = (): number => RealDate.now() + (OFFSETS[jumps % OFFSETS.length] ?? 0);
  setInterval(() => (jumps += 1), JUMP_EVERY_MS).unref();
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
    get: (target, name, receiver) =>
      name === 'now' ? now : (Reflect.get(target, name, receiver) as unknown),
  });
}
