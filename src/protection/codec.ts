/**
 * Encrypts payloads: AES-256-GCM over the whole payload, as its protobuf message, so that every
 * encoding survives.
 *
 * I1  `data` is 12 random bytes of IV, the cipher text, and 16 bytes of tag.
 * I2  The additional data is `everloop:v1:{key id}` and nothing else: schedules, the codec server
 *     and replays decrypt without the id of the workflow.
 * I3  Only the id in the metadata chooses the key that decrypts.
 * I4  What is not ours, by its encoding and its cipher, stays as it is.
 *
 * Node's synchronous functions are used on purpose: WebCrypto costs a promise for each payload.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import { decode as textOf, encode as bytesOf } from '@temporalio/common/lib/encoding.js';
// It is CommonJS, and Node finds no names in it.
import proto from '@temporalio/proto';
import { DECRYPTED_FIELD, ENCRYPTED, KEY_ID_FIELD } from '../workflows/converters.ts';
import type { AskedKeys, FoundKey } from './asked-keys.ts';
import {
  isUnreadError,
  KeyMissingError,
  PayloadDamagedError,
  type UnreadError,
} from './key-errors.ts';
import type { KeyScope } from './key-ring.ts';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The encoding of a payload that was compressed before it was encrypted. */
const COMPRESSED = 'everloop/gzip';

/** Smaller payloads gain nothing. */
const MIN_COMPRESSED_BYTES = 1_024;

/** More than any payload may have; who has a key may still not fill the memory. */
const MAX_PLAIN_BYTES = 67_108_864;

const message = proto.temporal.api.common.v1.Payload;

/** Options of {@link createCodec}. */
export interface CodecOptions {
  /** Compresses payloads from 1 KB up before they are encrypted. Sizes then tell of contents. */
  readonly compress?: boolean;
  /** Called with the id of the key that has encrypted so many payloads. */
  readonly onEncrypted?: (keyId: string, payloads: number) => void;
  /**
   * Called with why a payload cannot be decrypted; it then stays encrypted, and what was decrypted
   * says so in {@link DECRYPTED_FIELD}. Absent: `decode` throws.
   */
  readonly onUnread?: (error: UnreadError) => void;
  /** Decompresses what was compressed; what it throws goes on. Default: at once, to at most 64 MB. */
  readonly unpack?: Unpack;
}

/** Decompresses bytes of gzip. */
export type Unpack = (packed: Uint8Array) => Promise<Uint8Array>;

/**
 * The codec of these keys; without any it encrypts nothing. `decode` throws a KeyMissingError or a
 * PayloadDamagedError; `encode` throws a KeyMissingError, and never takes another key instead.
 */
export function createCodec(
  keys: AskedKeys | undefined,
  { compress = false, onUnread, onEncrypted, unpack = unpackAtOnce }: CodecOptions = {},
): PayloadCodec {
  const decrypted = async (payload: Payload, id: string): Promise<Payload> => {
    if (keys === undefined) throw new KeyMissingError(id, []);
    return unpacked(decrypt(payload, await keys.decrypting(id)), id, unpack);
  };
  const decryptedOrNot = async (payload: Payload, id: string): Promise<Payload> => {
    try {
      const { metadata, ...rest } = await decrypted(payload, id);
      return { ...rest, metadata: { ...metadata, [DECRYPTED_FIELD]: YES } };
    } catch (error) {
      if (!isUnreadError(error)) throw error;
      onUnread?.(error);
      return payload;
    }
  };
  const decodeOne = onUnread === undefined ? decrypted : decryptedOrNot;
  return {
    encode: async (payloads, context) => {
      if (keys === undefined) return payloads;
      const key = await keys.encrypting(scopeOf(context));
      onEncrypted?.(key.id, payloads.length);
      return payloads.map((payload) => encrypt(payload, key, compress));
    },
    decode: async (payloads) => {
      const decoded: Payload[] = [];
      for (const payload of payloads) {
        const id = keyIdOf(payload);
        decoded.push(id === undefined ? payload : await decodeOne(payload, id));
      }
      return decoded;
    },
  };
}

const YES = bytesOf('1');

/** The id of the key that encrypted `payload`; undefined if this codec did not. */
export function keyIdOf({ metadata }: Payload): string | undefined {
  const { encoding, 'encryption-cipher': cipher, [KEY_ID_FIELD]: id } = metadata ?? {};
  if (encoding == null || cipher == null || id == null) return undefined;
  return textOf(encoding) === ENCRYPTED && textOf(cipher) === CIPHER ? textOf(id) : undefined;
}

function encrypt(payload: Payload, { id, key }: FoundKey, compress: boolean): Payload {
  const plain = message.encode(payload).finish();
  const packed =
    compress && plain.length >= MIN_COMPRESSED_BYTES
      ? message.encode({ metadata: COMPRESSED_METADATA, data: gzipSync(plain) }).finish()
      : plain;
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(additionalData(id));
  const data = Buffer.concat([iv, cipher.update(packed), cipher.final(), cipher.getAuthTag()]);
  return encryptedPayload(id, data);
}

/** A payload of `data` that key `id` has encrypted. */
export function encryptedPayload(id: string, data: Uint8Array): Payload {
  return { metadata: { ...ENCRYPTED_METADATA, [KEY_ID_FIELD]: bytesOf(id) }, data };
}

const ENCRYPTED_METADATA = { encoding: bytesOf(ENCRYPTED), 'encryption-cipher': bytesOf(CIPHER) };
const COMPRESSED_METADATA = { encoding: bytesOf(COMPRESSED) };

function decrypt({ data }: Payload, { id, key }: FoundKey): Payload {
  if (data == null || data.length < IV_BYTES + TAG_BYTES) throw new PayloadDamagedError(id);
  try {
    const decipher = createDecipheriv(CIPHER, key, data.subarray(0, IV_BYTES))
      .setAAD(additionalData(id))
      .setAuthTag(data.subarray(-TAG_BYTES));
    const cipherText = data.subarray(IV_BYTES, -TAG_BYTES);
    return read(Buffer.concat([decipher.update(cipherText), decipher.final()]));
  } catch (cause) {
    throw damaged(id, cause);
  }
}

function damaged(id: string, cause: unknown): PayloadDamagedError {
  return Object.assign(new PayloadDamagedError(id), { cause });
}

async function unpacked(payload: Payload, id: string, unpack: Unpack): Promise<Payload> {
  const { metadata, data } = payload;
  const encoding = metadata?.['encoding'];
  if (encoding == null || data == null || textOf(encoding) !== COMPRESSED) return payload;
  const bytes = await unpack(data).catch((error: unknown) => {
    throw isOfContent(error) ? damaged(id, error) : error;
  });
  try {
    return read(bytes);
  } catch (cause) {
    throw damaged(id, cause);
  }
}

async function unpackAtOnce(packed: Uint8Array): Promise<Uint8Array> {
  return gunzipSync(packed, { maxOutputLength: MAX_PLAIN_BYTES });
}

/** Whether the bytes are no gzip, or too many. */
function isOfContent(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('Z_') || code === 'ERR_BUFFER_TOO_LARGE';
}

function read(bytes: Uint8Array): Payload {
  const payload = message.decode(bytes);
  // What is absent in the message is read as a list, which is no value of bytes.
  if (!(payload.data instanceof Uint8Array)) payload.data = new Uint8Array();
  return payload;
}

function additionalData(keyId: string): Uint8Array {
  return bytesOf(`everloop:v1:${keyId}`);
}

function scopeOf(context: SerializationContext | undefined): KeyScope | undefined {
  const { namespace, workflowId } = context ?? {};
  return namespace === undefined || workflowId === undefined
    ? undefined
    : { namespace, workflowId };
}
