import { expect, test } from 'vitest';
import { errorText } from '../../../src/core/base/error-text.ts';

test.each([
  { thrown: new Error('no room'), text: 'no room' },
  { thrown: 'a text', text: 'a text' },
  { thrown: new RangeError(), text: 'RangeError' },
  {
    thrown: new AggregateError([new Error('connect ::1'), 7, new Error('connect 127.0.0.1')]),
    text: 'AggregateError: connect ::1; connect 127.0.0.1',
  },
])('errorText of $thrown says what was thrown', ({ thrown, text }) => {
  expect(errorText(thrown)).toBe(text);
});
