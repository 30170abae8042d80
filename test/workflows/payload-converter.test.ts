import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import {
  EncryptedPayload,
  isUnreadable,
  payloadConverter,
  UNREADABLE_PAYLOAD,
} from '../../src/workflows/payload-converter.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function payloadOf(encoding: string, data?: string): Payload {
  return {
    metadata: { encoding: bytes(encoding) },
    ...(data === undefined ? {} : { data: bytes(data) }),
  };
}

describe('the payload converter of the workflow', () => {
  it.each([null, 5, 'text', [1, { a: null }], { a: { b: [true] } }])(
    'reads and writes %j as the default one does',
    (value) => {
      const payload = payloadConverter.toPayload(value);

      expect(payload).toEqual(defaultPayloadConverter.toPayload(value));
      expect(payloadConverter.fromPayload(payload)).toEqual(value);
    },
  );

  it('reads nothing as nothing', () => {
    expect(payloadConverter.fromPayload(payloadConverter.toPayload(undefined))).toBeUndefined();
  });

  it.each<[name: string, payload: Payload]>([
    ['broken JSON', payloadOf('json/plain', '{bad')],
    ['no JSON at all', payloadOf('json/plain', '')],
    ['no data', payloadOf('json/plain')],
    ['protobuf', payloadOf('json/protobuf', '{}')],
    ['an unknown encoding', payloadOf('binary/strange', 'abc')],
    ['no metadata', { data: bytes('{}') }],
  ])('reads %s as a text that fits no message', (_name, payload) => {
    expect(payloadConverter.fromPayload(payload)).toBe(UNREADABLE_PAYLOAD);
  });

  it('[R11] reads what is encrypted as a value that fits no message and names its key', () => {
    const payload = payloadOf('binary/encrypted', 'abc');
    Object.assign(payload.metadata ?? {}, { 'encryption-key-id': bytes('k-1') });
    const value: unknown = payloadConverter.fromPayload(payload);

    expect(value).toEqual(new EncryptedPayload('k-1'));
    expect(JSON.stringify(value)).toBe(JSON.stringify(UNREADABLE_PAYLOAD));
    expect([value, UNREADABLE_PAYLOAD, 'text', {}].map(isUnreadable)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
