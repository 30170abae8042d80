import { describe, expect, it } from 'vitest';
import { createPace } from '../../src/client/events/follow-pace.ts';

const NEVER = new AbortController().signal;

describe('the pace of a follower', () => {
  it('asks at once when somebody has acted, however long it was quiet', async () => {
    const pace = createPace();
    for (let turn = 0; turn < 4; turn++) await pace.pause(AbortSignal.abort());
    let isOver = false;
    const pause = pace.pause(NEVER).then(() => (isOver = true));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isOver).toBe(false);

    pace.hurry();
    await pause;

    // One that comes while it is not waiting is remembered.
    pace.hurry();
    await pace.pause(NEVER);
  });

  it('waits when it has asked too often, whoever hurries it', async () => {
    const pace = createPace(() => 0);
    for (let call = 0; call < 8; call++) pace.count();
    pace.hurry();
    let isOver = false;
    const pause = pace.pause(NEVER).then(() => (isOver = true));
    await new Promise((resolve) => setTimeout(resolve, 50));

    expect(isOver).toBe(false);
    await pause;
  });
});
