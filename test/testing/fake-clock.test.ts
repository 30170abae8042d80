import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../src/testing/fake-clock.ts';

describe('a fake clock', () => {
  it('stands until it is moved', async () => {
    const clock = createFakeClock('2026-01-01T00:00:00Z');
    const start = clock.now();

    clock.advance(5);
    await clock.sleep(10);

    expect([start, clock.now() - start]).toEqual([Date.UTC(2026, 0, 1), 15]);
  });

  it('begins on a Tuesday morning unless told otherwise', () => {
    expect(createFakeClock().now()).toBe(Date.UTC(2026, 2, 10, 9));
    expect(createFakeClock(7).now()).toBe(7);
  });

  it('runs what falls due in order of time, at its time, once', () => {
    const clock = createFakeClock(0);
    const seen: string[] = [];
    const note = (name: string) => (): void => void seen.push(`${name} at ${clock.now()}`);
    clock.schedule(20, note('b'));
    clock.schedule(10, note('a'));
    clock.schedule(30, note('c'));

    clock.advance(20);
    clock.advance(5);

    expect(seen).toEqual(['a at 10', 'b at 20']);
  });

  it('runs what an alarm arms within the same move', () => {
    const clock = createFakeClock(0);
    const seen: number[] = [];
    clock.schedule(10, () => {
      seen.push(clock.now());
      clock.schedule(15, () => void seen.push(clock.now()));
    });

    clock.advance(100);

    expect(seen).toEqual([10, 15]);
  });

  it('forgets an alarm that was taken back', () => {
    const clock = createFakeClock(0);
    let runs = 0;
    const disarm = clock.schedule(10, () => {
      runs += 1;
    });

    disarm();
    clock.advance(100);

    expect(runs).toBe(0);
  });
});
