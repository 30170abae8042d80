import { describe, expect, it } from 'vitest';
import {
  positionProblem,
  readEventsRequest,
  readTranscriptRequest,
} from '../../../src/core/start/page-request.ts';

const START = { from: { index: 0, offset: 0 } };

describe('a request for a page [R16]', () => {
  it.each([undefined, null, {}, { from: {} }, { from: { index: 0 } }])(
    'of %j begins at the start',
    (payload) => {
      expect(readEventsRequest(payload)).toEqual({ kind: 'request', request: START });
      expect(readTranscriptRequest(payload)).toEqual({
        kind: 'request',
        request: { ...START, view: 'history' },
      });
    },
  );

  it('keeps what it names', () => {
    const payload = { from: { index: 3, offset: 7 }, maxBytes: 100 };

    expect(readEventsRequest(payload)).toEqual({ kind: 'request', request: payload });
    expect(readTranscriptRequest({ ...payload, view: 'scratchpad', epoch: 2 })).toEqual({
      kind: 'request',
      request: { ...payload, view: 'scratchpad', epoch: 2 },
    });
  });

  it.each([
    ['5', 'Expected an object such as { "from": { "index": 0 } }, got "5".'],
    [{ from: 5 }, 'Expected `from` to be a position such as { "index": 0 }, got 5.'],
    [{ from: { index: -1 } }, 'Expected `from.index` to be a whole number from 0 up, got -1.'],
    [{ from: { index: '1' } }, 'Expected `from.index` to be a whole number from 0 up, got "1".'],
    [{ from: { offset: 0.5 } }, 'Expected `from.offset` to be a whole number from 0 up, got 0.5.'],
    [{ maxBytes: 0 }, 'Expected `maxBytes` to be a whole number from 1 up, got 0.'],
    [{ view: 'all' }, 'Expected `view` to be history, scratchpad or state, got "all".'],
    [{ epoch: -1 }, 'Expected `epoch` to be a whole number from 0 up, got -1.'],
  ])('of %j says what is wrong', (payload, message) => {
    expect(readTranscriptRequest(payload)).toEqual({
      kind: 'invalid',
      message: `${message} Leave it out to begin at the start.`,
    });
  });
});

describe('a position [R16]', () => {
  const ITEMS = ['a', 'long'];

  it.each([
    [0, 0],
    [9, 0],
    [11, 5],
    [12, 0],
  ])('of item %i and offset %i is in a list of the items 10 and 11, or before it', (...at) => {
    const [index, offset] = at;

    expect(positionProblem(ITEMS, 10, { index, offset })).toBeNull();
  });

  it('beyond the end, or outside of its item, says where the end is', () => {
    expect(positionProblem(ITEMS, 10, { index: 13, offset: 0 })).toBe(
      'Expected `from.index` from 0 to 12, the end so far, got 13. Begin at an earlier one.',
    );
    expect(positionProblem(ITEMS, 10, { index: 11, offset: 6 })).toBe(
      'Expected `from.offset` to be inside item 11, which has 6 characters, got 6. Begin at the `next` of a page.',
    );
    expect(positionProblem(ITEMS, 10, { index: 12, offset: 1 })).toContain(
      'which has 0 characters',
    );
  });
});
