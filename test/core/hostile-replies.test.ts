import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { extent } from '../support/extent.ts';
import { hostileReply, largeReplyCount, randomOf } from '../support/hostile-replies.ts';
import { limitMs, replyReaders, timedRead } from '../support/reply-readers.ts';

describe('Readers of hostile replies [row 10]', () => {
  test.each(replyReaders.map((reader) => ({ name: reader.name, reader })))(
    '$name: no throw, no hang',
    ({ reader }) => {
      const random = randomOf(20_260_310);
      for (let index = 0; index < largeReplyCount + extent(300, 30); index++) {
        const text = hostileReply(index, random);

        const took = timedRead(reader, text);

        // Ten times what `npm run fuzz` allows: other tests run beside this one.
        const limit = 10 * limitMs(reader, text);
        expect(took, `${reader.name}: ${text.slice(0, 60)}`).toBeLessThan(limit);
      }
    },
  );
});

/**
 * Digests of what readers make of 500 hostile replies. The same on Node 20 and 22: nothing of the
 * engine's own words is in it. A reader that is changed on purpose gets a new one.
 */
describe('What readers say of hostile replies, on every engine [row 13] [row 14]', () => {
  test.each([
    { name: 'JSON', digest: 'b2c4abfbd88de395' },
    { name: 'YAML', digest: '8d2585a1c4cf3153' },
    { name: 'turn of react, xml, yaml', digest: '2c988fa92a84cde3' },
    { name: 'turn of react, markdown, json', digest: '7935ed6030ca964a' },
    { name: 'turn of chat', digest: 'c811cb06207fe007' },
  ])('$name', ({ name, digest }) => {
    const reader = replyReaders.find((one) => one.name === name);
    const random = randomOf(20_260_310);
    const hash = createHash('sha256');

    for (let index = 0; index < 500; index++) {
      const text = hostileReply(largeReplyCount + index, random);
      hash.update(JSON.stringify(reader?.read(text)));
    }

    expect(hash.digest('hex').slice(0, 16)).toBe(digest);
  });
});
