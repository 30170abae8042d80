/**
 * How large the parts of a run may be. A run whose workers keep large payloads in a blob store may
 * hold more. Which limits hold is recorded when the run starts: if a workflow went by the settings
 * of its worker, its replay on another worker would differ.
 */

/** Limits in UTF-8 bytes of JSON. */
export interface SizeLimits {
  /** The input of a start, also of a child. */
  readonly start: number;
  /** A specification. */
  readonly spec: number;
  /** A reply of a model. */
  readonly reply: number;
  /** A tool result, and an answer of a person or of outside work. */
  readonly result: number;
  /** Base64 of all media of one result. */
  readonly media: number;
  /** What a link hands to the next. */
  readonly handover: number;
  /** A Step without its memory and its trace. */
  readonly step: number;
  /** One page of a query; a page never lies in a blob store, so that every client can read it. */
  readonly page: number;
  /** What counts of a payload from this size on is only a reference; absent: all of it does. */
  readonly stored?: number;
}

/** Without a blob store: the service takes payloads of at most 2 MiB (measured). */
export const INLINE_SIZES: SizeLimits = {
  start: 1_500_000,
  spec: 1_048_576,
  reply: 1_048_576,
  result: 262_144,
  media: 1_048_576,
  handover: 1_500_000,
  step: 262_144,
  // A query result logs a warning on both sides from 512 KB (measured).
  page: 458_752,
};

/** With a blob store, which takes blobs of at most 32 MiB, from 256 KiB up. */
export const BLOB_SIZES: SizeLimits = {
  start: 16_000_000,
  spec: 4_194_304,
  reply: 4_194_304,
  result: 4_194_304,
  media: 16_777_216,
  handover: 32_000_000,
  step: 4_194_304,
  page: 245_760,
  stored: 262_144,
};

/** The limits of a run whose record says whether it has blobs. */
export function sizesOf(record: { readonly blobs?: boolean }): SizeLimits {
  return record.blobs === true ? BLOB_SIZES : INLINE_SIZES;
}
