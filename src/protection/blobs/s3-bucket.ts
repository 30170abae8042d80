/** The requests to a bucket. Each of them ends, and says what went wrong. */
import type { S3Client } from '@aws-sdk/client-s3';
import { errorText } from '../../core/base/error-text.ts';
import { defined } from '../../core/base/defined.ts';
import { loadS3, type S3Package } from './s3-packages.ts';

/** How a bucket is reached. Default: what the variables, profiles and roles of AWS say. */
export interface S3Options {
  /** Default `AWS_REGION`; with an endpoint of another service, `us-east-1`. */
  readonly region?: string;
  /** The address of a service that speaks the protocol of S3; default `AWS_ENDPOINT_URL`. */
  readonly endpoint?: string;
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

/** An object of a listing. */
export interface StoredObject {
  /** Without the prefix of the bucket. */
  readonly key: string;
  readonly bytes: number;
}

/** The content of an object. */
export interface FoundObject {
  readonly bytes: Uint8Array;
  /** Names this content. */
  readonly etag: string | undefined;
  /** When it was written, in ms since 1970. */
  readonly storedAt: number;
}

/** A bucket, whose keys all begin with one prefix. */
export interface Bucket {
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Writes `key` if it still has `etag`; undefined: if it does not exist. Returns whether it did. */
  replace(key: string, bytes: Uint8Array, etag: string | undefined): Promise<boolean>;
  /** The first bytes of an object, `maxBytes` and one at most; undefined if there is none. */
  get(key: string, maxBytes: number): Promise<FoundObject | undefined>;
  /** The objects whose keys begin with `start`, sorted. */
  list(start: string): AsyncIterable<StoredObject>;
  remove(keys: readonly string[]): Promise<void>;
}

/** How long one request may take, with all of its attempts, in ms. */
const REQUEST_MS = 20_000;

/** S3 takes no more in one request. */
const MAX_REMOVED = 1_000;

/** Conditions that do not hold: another process was faster. */
const LOST_RACES: readonly unknown[] = [404, 409, 412];

/** A client, and where its keys are. */
interface Opened {
  readonly s3: S3Package;
  readonly client: S3Client;
  readonly Bucket: string;
  readonly prefix: string;
}

/** Opens bucket `Bucket`; each key stands after `prefix`. */
export async function openBucket(
  Bucket: string,
  prefix: string,
  options: S3Options,
): Promise<Bucket> {
  const s3 = await loadS3();
  const client = new s3.S3Client(settingsOf(options));
  const opened: Opened = { s3, client, Bucket, prefix };
  const write = async (key: string, Body: Uint8Array, condition: object = {}): Promise<void> => {
    const place = { Bucket, Key: `${prefix}${key}` };
    await client.send(new s3.PutObjectCommand({ ...place, Body, ...condition }), inTime());
  };
  return {
    put: (key, bytes) => asked(write(key, bytes)),
    replace: (key, bytes, etag) => {
      const condition = etag === undefined ? { IfNoneMatch: '*' } : { IfMatch: etag };
      const written = write(key, bytes, condition).then(() => true);
      return asked(written.catch((error: unknown) => orFalse(error)));
    },
    get: (key, maxBytes) =>
      asked(read(opened, key, maxBytes).catch((error: unknown) => orNothing(error))),
    list: (start) => list(opened, start),
    remove: (keys) => remove(opened, keys),
  };
}

function inTime(): { readonly abortSignal: AbortSignal } {
  return { abortSignal: AbortSignal.timeout(REQUEST_MS) };
}

async function read(
  { s3, client, Bucket, prefix }: Opened,
  key: string,
  maxBytes: number,
): Promise<FoundObject> {
  const place = { Bucket, Key: `${prefix}${key}` };
  const command = new s3.GetObjectCommand({ ...place, Range: `bytes=0-${maxBytes}` });
  const { Body, ETag, LastModified } = await client.send(command, inTime());
  const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array();
  return { bytes, etag: ETag, storedAt: LastModified?.getTime() ?? 0 };
}

async function* list(
  { s3, client, Bucket, prefix }: Opened,
  start: string,
): AsyncGenerator<StoredObject> {
  let next: string | undefined;
  do {
    const from = { Prefix: `${prefix}${start}`, ...defined({ ContinuationToken: next }) };
    const page = await asked(
      client.send(new s3.ListObjectsV2Command({ Bucket, ...from }), inTime()),
    );
    for (const { Key = '', Size = 0 } of page.Contents ?? []) {
      yield { key: Key.slice(prefix.length), bytes: Size };
    }
    next = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (next !== undefined);
}

async function remove(
  { s3, client, Bucket, prefix }: Opened,
  keys: readonly string[],
): Promise<void> {
  for (let from = 0; from < keys.length; from += MAX_REMOVED) {
    const some = keys.slice(from, from + MAX_REMOVED);
    const Delete = { Objects: some.map((key) => ({ Key: `${prefix}${key}` })), Quiet: true };
    const { Errors = [] } = await asked(
      client.send(new s3.DeleteObjectsCommand({ Bucket, Delete }), inTime()),
    );
    const [first] = Errors;
    if (first !== undefined) throw new Error(`${first.Code}: ${first.Message}`);
  }
}

/** Other services know buckets by paths, not by names of hosts. */
function settingsOf({ region, endpoint, credentials }: S3Options): object {
  const { AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3, AWS_REGION, AWS_DEFAULT_REGION } = process.env;
  const other = endpoint ?? (AWS_ENDPOINT_URL_S3 || AWS_ENDPOINT_URL || undefined);
  const named = region ?? (AWS_REGION || AWS_DEFAULT_REGION || undefined);
  return defined({
    region: named ?? (other === undefined ? undefined : 'us-east-1'),
    endpoint: other,
    forcePathStyle: other !== undefined,
    credentials,
  });
}

/** What the SDK throws holds the request with its headers, which no log may have: its text is kept. */
async function asked<Value>(request: Promise<Value>): Promise<Value> {
  return request.catch((error: unknown) => {
    throw new Error(textOf(error));
  });
}

/** What the SDK throws has its code as a name; what Node throws may have no message at all. */
function textOf(error: unknown): string {
  const { name, message, code } = error as Partial<Error> & { readonly code?: unknown };
  if (typeof message === 'string' && message !== '') {
    return name === undefined || name === 'Error' ? message : `${name}: ${message}`;
  }
  return typeof code === 'string' ? code : errorText(error);
}

function orFalse(error: unknown): false {
  if (LOST_RACES.includes(statusOf(error)) && nameOf(error) !== 'NoSuchBucket') return false;
  throw error;
}

function orNothing(error: unknown): undefined {
  if (statusOf(error) === 404 && nameOf(error) !== 'NoSuchBucket') return undefined;
  throw error;
}

function statusOf(error: unknown): unknown {
  const { $metadata } = error as { readonly $metadata?: { readonly httpStatusCode?: unknown } };
  return $metadata?.httpStatusCode;
}

function nameOf(error: unknown): unknown {
  return (error as Partial<Error>).name;
}
