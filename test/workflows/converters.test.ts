import { ApplicationFailure, defaultPayloadConverter, type ProtoFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { failureConverter, wellFormedPayloads } from '../../src/workflows/converters.ts';

const HALF = 'x 😀'.slice(0, 3);
const MENDED = 'x \ufffd';

describe('the converters of workflow, worker and client [R9]', () => {
  it('make every text of a failure well-formed', () => {
    const error = ApplicationFailure.create({
      message: HALF,
      type: HALF,
      details: [{ [HALF]: HALF }],
      cause: Object.assign(new TypeError(HALF), { stack: `TypeError: ${HALF}` }),
      nextRetryDelay: 5_000,
    });

    const failure: ProtoFailure = failureConverter.errorToFailure(error, wellFormedPayloads);

    expect(failure).toMatchObject({
      message: MENDED,
      applicationFailureInfo: { type: MENDED },
      cause: { message: MENDED },
    });
    expect(JSON.stringify(failure)).not.toMatch(/\\ud[89a-f]/);
    const read = failureConverter.failureToError(failure, wellFormedPayloads);
    expect(read).toMatchObject({ message: MENDED, type: MENDED, details: [{ [MENDED]: MENDED }] });
  });

  it.each([
    { value: HALF, mended: MENDED },
    { value: { [HALF]: [HALF] }, mended: { [MENDED]: [MENDED] } },
    { value: 'a\\ud83d', mended: 'a\\ud83d' },
    { value: '😀', mended: '😀' },
    { value: undefined, mended: undefined },
  ])('make $value well-formed when it is sent and when it is read', ({ value, mended }) => {
    expect(wellFormedPayloads.fromPayload(defaultPayloadConverter.toPayload(value))).toEqual(
      mended,
    );
    expect(defaultPayloadConverter.fromPayload(wellFormedPayloads.toPayload(value))).toEqual(
      mended,
    );
  });

  it('leave bytes as they are', () => {
    const bytes = new TextEncoder().encode('\\ud83d');

    expect(wellFormedPayloads.toPayload(bytes)).toEqual(defaultPayloadConverter.toPayload(bytes));
  });
});
