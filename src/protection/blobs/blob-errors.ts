/**
 * Errors of blob stores. A worker's SDK makes the name of an error's class the type of the failure, so
 * the names are failure types, by getters: some minifiers assign static fields, and this one cannot be
 * assigned. None of them ends a run: a worker tries again.
 */

/** A reference leads to nothing. */
export class BlobMissingError extends Error {
  static override get name(): string {
    return 'blob_missing';
  }

  override readonly name = 'blob_missing';

  constructor(place: string, key: string) {
    super(
      `Expected blob \`${key}\` in \`${place}\`, got none. Bring it back from a backup, or give this process the store that it was written to; until then the run waits.`,
    );
  }
}

/** A blob is not what was stored. */
export class BlobDamagedError extends Error {
  static override get name(): string {
    return 'blob_damaged';
  }

  override readonly name = 'blob_damaged';

  constructor(place: string, key: string, got: string) {
    super(
      `Expected blob \`${key}\` in \`${place}\` as it was stored, got ${got}. Bring it back from a backup; until then the run waits.`,
    );
  }
}

/** A payload is larger than a store takes. */
export class BlobTooLargeError extends Error {
  static override get name(): string {
    return 'blob_too_large';
  }

  override readonly name = 'blob_too_large';

  constructor(bytes: number, maxBytes: number) {
    super(
      `Expected a payload of at most ${maxBytes} bytes, got ${bytes}. Let a tool keep the data, and pass on where it is.`,
    );
  }
}

/** The store did not take a blob: it is full, read-only, slow or gone. */
export class BlobStoreError extends Error {
  static override get name(): string {
    return 'blob_store_failed';
  }

  override readonly name = 'blob_store_failed';

  constructor(place: string, got: string) {
    super(`Expected \`${place}\` to take a blob, got: ${got} Repair the store; this is repeated.`);
  }
}

/** The store did not give a blob: it is slow or gone, or another user's. */
export class BlobUnreadableError extends Error {
  static override get name(): string {
    return 'blob_unreadable';
  }

  override readonly name = 'blob_unreadable';

  constructor(place: string, got: string) {
    super(
      `Expected \`${place}\` to give a blob, got: ${got} Repair the store; until then the run waits.`,
    );
  }
}
