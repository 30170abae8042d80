/**
 * A history with its payloads as they were before they were encrypted or put into a store of blobs. It
 * replays without keys and without the store, so it is kept where lines are encrypted.
 */
import {
  ExternalStorageNotConfiguredError,
  type LoadedDataConverter,
  type Payload,
} from '@temporalio/common';
import {
  decode,
  ExternalStorageRunner,
  isReferencePayload,
} from '@temporalio/common/lib/internal-non-workflow/index.js';

/**
 * A copy of `history`, which is what the service gives for `fetchHistory`, with plain payloads.
 *
 * @throws ExternalStorageNotConfiguredError if a payload lies in a store and `converter` has none.
 */
export async function plainHistory<History>(
  converter: LoadedDataConverter,
  history: History,
): Promise<History> {
  return (await plain(converter, history)) as History;
}

async function plain(converter: LoadedDataConverter, value: unknown): Promise<unknown> {
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) items.push(await plain(converter, item));
    return items;
  }
  if (!isStructure(value)) return value;
  if (isPayload(value)) return plainPayload(converter, value);
  const fields: [string, unknown][] = [];
  for (const [name, field] of Object.entries(value)) {
    fields.push([name, await plain(converter, field)]);
  }
  return Object.fromEntries(fields);
}

/** A message of the service; bytes and large numbers are values. */
function isStructure(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !(value instanceof Uint8Array) &&
    // The class of 64-bit integers.
    !('unsigned' in value && 'low' in value)
  );
}

/** Only a payload has an encoding among its metadata. */
function isPayload(value: Readonly<Record<string, unknown>>): boolean {
  const { metadata } = value;
  return (
    isStructure(metadata) &&
    Object.values(metadata).some((part) => part instanceof Uint8Array) &&
    ('data' in value || 'externalPayloads' in value)
  );
}

async function plainPayload(converter: LoadedDataConverter, payload: Payload): Promise<Payload> {
  const { externalStorage, payloadCodecs } = converter;
  if (externalStorage === undefined && isReferencePayload(payload)) {
    throw new ExternalStorageNotConfiguredError();
  }
  const whole =
    externalStorage === undefined
      ? [payload]
      : await new ExternalStorageRunner(externalStorage).retrieve([payload]);
  const [decoded = payload] = await decode([...payloadCodecs], whole);
  return decoded;
}
