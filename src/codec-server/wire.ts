/**
 * What a codec server receives and sends: `{ payloads: [{ metadata, data }] }`, in which each byte
 * string is base64. It is the JSON of the message `temporal.api.common.v1.Payloads`.
 */
import type { Payload } from '@temporalio/common';
import { isPlainObject } from '../core/base/json.ts';

/** The largest body of a request, in bytes: 16 MiB. */
export const MAX_BODY_BYTES = 16_777_216;

/** The most payloads of a request. */
const MAX_PAYLOADS = 4_096;

/** A payload as it came. What a server leaves alone goes back like this, unknown fields too. */
export interface ReceivedPayload {
  readonly given: object;
  readonly payload: Payload;
}

/** A request that is refused: an HTTP status, and a sentence that shows nothing of the content. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest';
  readonly status: 400 | 413 | 422 | 502 | 503;

  constructor(status: RefusedRequest['status'], message: string) {
    super(message);
    this.status = status;
  }
}

/** The payloads of a body. Throws a {@link RefusedRequest} if it is not one of a codec server. */
export function readPayloads(body: string): readonly ReceivedPayload[] {
  const value = parsed(body);
  const payloads = isPlainObject(value) ? (value['payloads'] ?? []) : undefined;
  if (!Array.isArray(payloads)) throw unparsable();
  if (payloads.length > MAX_PAYLOADS) {
    throw new RefusedRequest(
      413,
      `Expected at most ${MAX_PAYLOADS} payloads, got ${payloads.length}. Send them in several requests.`,
    );
  }
  return payloads.map(readPayload);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw unparsable();
  }
}

function readPayload(given: unknown): ReceivedPayload {
  if (!isPlainObject(given)) throw unparsable();
  const { metadata, data } = given;
  if (metadata != null && !isPlainObject(metadata)) throw unparsable();
  // Not by assignment: a name such as `__proto__` must stay a name.
  const fields = Object.entries(metadata ?? {}).map(([name, text]) => [name, bytesOf(text)]);
  return { given, payload: { metadata: Object.fromEntries(fields), data: bytesOf(data ?? '') } };
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

function bytesOf(text: unknown): Uint8Array {
  if (typeof text !== 'string' || !BASE64.test(text)) throw unparsable();
  return Buffer.from(text, 'base64');
}

/** A payload as it is sent. */
export function toWire({ metadata, data }: Payload): object {
  const fields = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, base64Of(bytes)]);
  return { metadata: Object.fromEntries(fields) as object, data: base64Of(data ?? NO_BYTES) };
}

const NO_BYTES = new Uint8Array();

function base64Of({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

function unparsable(): RefusedRequest {
  return new RefusedRequest(
    400,
    'Expected `{ "payloads": [{ "metadata": { "encoding": "BASE64" }, "data": "BASE64" }] }`.',
  );
}
