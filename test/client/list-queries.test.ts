import { expect, it } from 'vitest';
import { quoted } from '../../src/client/connection/list-queries.ts';

it('quotes a text so that nothing in it ends the text, or fails the service', () => {
  expect(quoted("a' OR '1'='1")).toBe(String.raw`'a\' OR \'1\'=\'1'`);
  expect(quoted('a\\')).toBe(String.raw`'a\\'`);
  expect(quoted('a\0b\uD800')).toBe("'a\uFFFDb\uFFFD'");
});
