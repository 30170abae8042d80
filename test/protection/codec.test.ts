import { createHash } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { decode } from '@temporalio/common/lib/encoding.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { askKeys } from '../../src/protection/asked-keys.ts';
import { createCodec, keyIdOf } from '../../src/protection/codec.ts';
import { keyRing } from '../../src/protection/key-ring.ts';

const k1 = keyOf('k1');
const k2 = keyOf('k2');
const both = askKeys(keyRing({ current: 'k2', keys: { k2, k1 } }));
const codec = createCodec(both);
const compressing = createCodec(both, { compress: true });

describe('an encrypted payload', () => {
  it('shows its encoding, cipher and key, and nothing else', async () => {
    const payload = defaultPayloadConverter.toPayload({ secret: 'tea' });

    const encrypted = await encoded(payload);
    const { metadata, data } = encrypted;

    expect(textsOf(metadata)).toEqual({
      encoding: 'binary/encrypted',
      'encryption-cipher': 'aes-256-gcm',
      'encryption-key-id': 'k2',
    });
    expect(Buffer.from(data ?? []).toString('latin1')).not.toContain('tea');
    expect(keyIdOf(encrypted)).toBe('k2');
  });

  it('survives, whatever it is', async () => {
    await fc.assert(
      fc.asyncProperty(payloads(), fc.boolean(), async (payload, isCompressed) => {
        const used = isCompressed ? compressing : codec;
        const [back] = await used.decode(await used.encode([payload]));

        expect(plainOf(back as Payload)).toEqual(plainOf(payload));
      }),
    );
  });

  it.each([0, 1, 1_023, 1_024, 2_000_000, 8_000_000])('survives with %i bytes', async (bytes) => {
    const payload = { metadata: { encoding: Buffer.from('binary/plain') }, data: patternOf(bytes) };

    for (const used of [codec, compressing]) {
      const [back] = await used.decode(await used.encode([payload]));
      expect(digestOf((back as Payload).data)).toBe(digestOf(payload.data));
    }
  });

  it('is refused with any bit flipped', async () => {
    const { data, ...rest } = await encoded(defaultPayloadConverter.toPayload('a secret text'));
    const original = data ?? new Uint8Array();
    for (let bit = 0; bit < original.length * 8; bit += 1) {
      const changed = Uint8Array.from(original);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      await expect(codec.decode([{ ...rest, data: changed }])).rejects.toMatchObject({
        name: 'payload_damaged',
      });
    }
  });

  it.each([0, 12, 27])('is refused when only %i bytes of it are left', async (bytes) => {
    const { data, ...rest } = await encoded(defaultPayloadConverter.toPayload('x'));

    await expect(
      codec.decode([{ ...rest, data: (data ?? new Uint8Array()).subarray(0, bytes) }]),
    ).rejects.toMatchObject({ name: 'payload_damaged' });
  });

  it('is refused under the id of another key, and by another key of its id', async () => {
    const payload = await encoded(defaultPayloadConverter.toPayload('x'));
    const renamed = {
      ...payload,
      metadata: { ...payload.metadata, 'encryption-key-id': Buffer.from('k1') },
    };
    const impostor = createCodec(askKeys(keyRing({ current: 'k2', keys: { k2: k1 } })));

    for (const attempt of [codec.decode([renamed]), impostor.decode([payload])]) {
      await expect(attempt).rejects.toMatchObject({ name: 'payload_damaged' });
    }
  });

  it('names the key that is missing, and those that are there', async () => {
    const payload = await encoded(defaultPayloadConverter.toPayload('x'));
    const without = createCodec(askKeys(keyRing({ current: 'k1', keys: { k1 } })));

    await expect(without.decode([payload])).rejects.toMatchObject({
      name: 'keys_missing',
      keyId: 'k2',
      message: 'Expected key `k2`, got keys (k1). Set EVERLOOP_KEYS.',
    });
  });

  it('has an IV of its own, 100,000 times', async () => {
    const payload = defaultPayloadConverter.toPayload(null) as Payload;
    const all = await codec.encode(Array.from({ length: 100_000 }, () => payload));
    const ivs = new Set(all.map(({ data }) => Buffer.from(data ?? []).toString('hex', 0, 12)));

    expect(ivs.size).toBe(100_000);
  });

  it('is only compressed when asked, and not below 1 KB', async () => {
    const long = defaultPayloadConverter.toPayload('a'.repeat(10_000));
    const short = defaultPayloadConverter.toPayload('a'.repeat(100));
    const sizes = await Promise.all(
      [codec, compressing].map(async (used) =>
        (await used.encode([long, short])).map(({ data }) => data?.length ?? 0),
      ),
    );

    expect(sizes[0]?.[0]).toBeGreaterThan(10_000);
    expect(sizes[1]?.[0]).toBeLessThan(200);
    expect(sizes[1]?.[1]).toBe(sizes[0]?.[1]);
  });
});

describe('a codec', () => {
  it('leaves what it did not encrypt', async () => {
    const plain = defaultPayloadConverter.toPayload('x');
    const others = {
      metadata: {
        encoding: Buffer.from('binary/encrypted'),
        'encryption-key-id': Buffer.from('k2'),
      },
      data: Buffer.from('of another codec'),
    };

    expect(await codec.decode([plain, others, {}])).toEqual([plain, others, {}]);
  });

  it('chooses the key by the run, and never takes another one instead', async () => {
    const ring = keyRing({ current: 'k1', keys: { k1, acme: k2 } });
    const used = createCodec(
      askKeys(ring, ({ workflowId }) =>
        workflowId.includes(':') ? workflowId.split(':')[0] : undefined,
      ),
    );
    const keyFor = async (workflowId?: string): Promise<string | undefined> => {
      const scope = { type: 'workflow', namespace: 'default' } as const;
      const context = workflowId === undefined ? undefined : { ...scope, workflowId };
      const [payload] = await used.encode([defaultPayloadConverter.toPayload('x')], context);
      return keyIdOf(payload as Payload);
    };

    expect(await keyFor('acme:run-1')).toBe('acme');
    expect(await keyFor('acme:run-1/child')).toBe('acme');
    expect(await keyFor('run-2')).toBe('k1');
    expect(await keyFor()).toBe('k1');
    await expect(keyFor('globex:run-3')).rejects.toMatchObject({ name: 'keys_missing' });
  });
});

async function encoded(payload: Payload): Promise<Payload> {
  const [encrypted] = await codec.encode([payload]);
  return encrypted as Payload;
}

function payloads(): fc.Arbitrary<Payload> {
  const bytes = fc.uint8Array({ maxLength: 5_000 });
  const encoding = fc.constantFrom(
    'json/plain',
    'binary/plain',
    'binary/null',
    'json/protobuf',
    'binary/protobuf',
    'binary/encrypted',
    'everloop/none',
  );
  return fc.record(
    {
      metadata: fc.record(
        { encoding: encoding.map((text) => Buffer.from(text)), messageType: bytes, other: bytes },
        { requiredKeys: [] },
      ),
      data: bytes,
    },
    { requiredKeys: [] },
  );
}

/** As plain values: an absent part of a message equals an empty one. */
function plainOf({ metadata, data }: Payload): unknown {
  const entries = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, hexOf(bytes)]);
  return { metadata: Object.fromEntries(entries), data: hexOf(data) };
}

function hexOf(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString('hex');
}

function textsOf(metadata: Payload['metadata']): unknown {
  return Object.fromEntries(
    Object.entries(metadata ?? {}).map(([name, bytes]) => [name, decode(bytes)]),
  );
}

function keyOf(name: string): Uint8Array {
  return createHash('sha256').update(name).digest();
}

function patternOf(bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_unused, index) => (index * 31) >> 3);
}

function digestOf(data: Uint8Array | null | undefined): string {
  return createHash('sha256')
    .update(data ?? '')
    .digest('hex');
}
