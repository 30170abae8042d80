/** What clients, workers and lists make of payloads that they cannot decrypt. */
import { createRequire } from 'node:module';
import {
  ApplicationFailure,
  defaultPayloadConverter,
  type Payload,
  type PayloadConverter,
} from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { defined } from '../../src/core/base/defined.ts';
import { clientConverter, tolerantConverter } from '../../src/protection/data-converter.ts';
import { workerConverter } from '../../src/protection/worker-converter.ts';
import { keyIdOf } from '../../src/protection/codec.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { NO_PROTECTION, protectionOf } from '../../src/protection/protection.ts';
import { sealedLines, keyIdOfLine } from '../../src/protection/sealed-lines.ts';

const k1 = new Uint8Array(32).fill(1);
const KEYED = protectionOf({ keys: keyRing({ current: 'k1', keys: { k1 } }) }, undefined);
const OTHER = protectionOf({ keys: keyRing({ current: 'k2', keys: { k2: k1 } }) }, undefined);
const require = createRequire(import.meta.url);

async function encrypted(value: unknown): Promise<Payload> {
  const [payload] = await KEYED.codec.encode([defaultPayloadConverter.toPayload(value)]);
  return payload as Payload;
}

describe('a client', () => {
  it.each([
    ['no keys', NO_PROTECTION],
    ['another key', OTHER],
  ])('refuses with %s what is encrypted', async (_name, protection) => {
    const [codec] = clientConverter(protection).payloadCodecs;

    await expect(codec?.decode([await encrypted('x')])).rejects.toMatchObject({
      name: 'keys_missing',
    });
  });

  it('hides the text of failures if there are keys, and only then', () => {
    const error = ApplicationFailure.create({ type: 'model_error', message: 'a secret' });
    const messages = [KEYED, NO_PROTECTION].map((protection) => {
      const { failureConverter, payloadConverter } = clientConverter(protection);
      const failure = failureConverter.errorToFailure(error, payloadConverter);
      return [failure.message, failure.applicationFailureInfo?.type];
    });

    expect(messages).toEqual([
      ['Encoded failure', 'model_error'],
      ['a secret', 'model_error'],
    ]);
  });
});

describe('a list', () => {
  it('has a text in place of what it cannot read, and reads the rest', async () => {
    const { payloadCodecs, payloadConverter } = tolerantConverter(clientConverter(OTHER));
    const plain = defaultPayloadConverter.toPayload('clerk');
    const unknown = { metadata: { encoding: Buffer.from('of/others') }, data: Buffer.from('x') };
    const decoded = await payloadCodecs[0]?.decode([await encrypted('secret'), plain, unknown]);

    expect(decoded?.map((payload) => payloadConverter.fromPayload(payload))).toEqual([
      '(encrypted)',
      'clerk',
      '(encrypted)',
    ]);
  });
});

describe('a worker', () => {
  it('leaves what it cannot decrypt to its converters, and says which key is missing', async () => {
    const missing: string[] = [];
    const { payloadCodecs = [], payloadConverterPath = '' } = workerConverter(OTHER, ({ keyId }) =>
      missing.push(keyId),
    );
    const payload = await encrypted('x');
    const [kept] = (await payloadCodecs[0]?.decode([payload])) ?? [];
    const { payloadConverter } = require(payloadConverterPath) as {
      readonly payloadConverter: PayloadConverter;
    };

    expect(kept).toEqual(payload);
    expect(missing).toEqual(['k1']);
    expect(() => payloadConverter.fromPayload(payload)).toThrow(
      expect.objectContaining({ name: 'keys_missing' }) as Error,
    );
  });

  it('leaves what is damaged, so that no message can hold a run without keys', async () => {
    const unread: string[] = [];
    const { payloadCodecs = [] } = workerConverter(KEYED, ({ name, keyId }) =>
      unread.push(`${name} ${keyId}`),
    );
    const { metadata, data } = await encrypted('x');
    const damaged = {
      ...defined({ metadata }),
      data: (data ?? new Uint8Array()).map((byte) => byte ^ 1),
    };

    expect(
      await payloadCodecs[0]?.decode([damaged, { ...damaged, data: new Uint8Array(3) }]),
    ).toEqual([damaged, { ...damaged, data: new Uint8Array(3) }]);
    expect(unread).toEqual(['payload_damaged k1', 'payload_damaged k1']);
  });

  it('marks what it has decrypted', async () => {
    const { payloadCodecs = [] } = workerConverter(KEYED);
    const [payload] = (await payloadCodecs[0]?.decode([await encrypted('x')])) ?? [];

    expect(payload?.metadata?.['everloop-decrypted']).toBeDefined();
    expect(keyIdOf(payload as Payload)).toBeUndefined();
  });
});

describe('lines of a file', () => {
  it('are sealed with keys, and read beside plain ones', async () => {
    const lines = ['{"a":1}', '{"k":"not sealed"}'];
    const sealed = await sealedLines(KEYED).seal(lines);

    expect(sealed.map(keyIdOfLine)).toEqual(['k1', 'k1']);
    expect(sealed.join()).not.toContain('"a"');
    expect(await sealedLines(KEYED).open([...sealed, ...lines])).toEqual([...lines, ...lines]);
    await expect(sealedLines(OTHER).open(sealed)).rejects.toMatchObject({ name: 'keys_missing' });
    expect(await sealedLines(NO_PROTECTION).seal(lines)).toEqual(lines);
  });
});
