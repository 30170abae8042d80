import { describe, expect, test } from 'vitest';
import { hostileReply, largeReplyCount, randomOf } from '../support/hostile-replies.ts';
import { limitMs, replyReaders, timedRead } from '../support/reply-readers.ts';

describe('Readers of hostile replies [row 10]', () => {
  test.each(replyReaders.map((reader) => ({ name: reader.name, reader })))(
    '$name: no throw, no hang',
    ({ reader }) => {
      const random = randomOf(20_260_310);
      for (let index = 0; index < largeReplyCount + 300; index++) {
        const text = hostileReply(index, random);

        const took = timedRead(reader, text);

        // Ten times what `npm run fuzz` allows: other tests run beside this one.
        const limit = 10 * limitMs(reader, text);
        expect(took, `${reader.name}: ${text.slice(0, 60)}`).toBeLessThan(limit);
      }
    },
  );
});
