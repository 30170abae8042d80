/** What is encrypted, with which keys, and where large payloads lie: the same in a whole namespace. */
import type { PayloadCodec } from '@temporalio/common';
import { UsageError } from '../core/base/usage-error.ts';
import { defined } from '../core/base/defined.ts';
import { askKeys, type KeyFor } from './asked-keys.ts';
import type { BlobStore } from './blobs/blob-store.ts';
import { blobsOfEnvironment } from './blobs/blobs-of-environment.ts';
import { createCodec, type Unpack } from './codec.ts';
import { countEncrypted, type EncryptedPayloads } from './encrypted-payloads.ts';
import type { UnreadError } from './key-errors.ts';
import type { KeyRing } from './key-ring.ts';
import { keysOfEnvironment, type KeyEnvironment } from './keys-of-environment.ts';
import { keyForTenants, ruleOfEnvironment, type TenantRule } from './tenant-keys.ts';

/**
 * What the service may not read. All clients, workers and commands of a namespace need the same
 * settings.
 */
export interface ProtectionOptions {
  /**
   * The keys. Default: those of `EVERLOOP_KEYS` or `EVERLOOP_KEYS_FILE`; without any, nothing is
   * encrypted.
   */
  readonly keys?: KeyRing;
  /**
   * Chooses the key for the payloads of a run. `tenant`: runs whose ids begin with a tenant, as in
   * `acme:order-7`, take the first key named `acme` or `acme/…`, and never another; all other runs
   * take the current key. A function returns the id of the key; undefined: the current key. Children
   * have their parent's, because their ids begin with the parent's. Default: what `EVERLOOP_KEY_FOR`
   * says, else the current key.
   *
   * @example keyFor: 'tenant'
   */
  readonly keyFor?: KeyFor | 'tenant';
  /**
   * Compresses payloads from 1 KB up before they are encrypted; default false. Sizes then tell
   * something of the contents.
   */
  readonly compress?: boolean;
  /**
   * A worker without keys does not start where the newest runs are encrypted, as it could serve none
   * of them; true: it starts. Default false.
   */
  readonly allowUnencrypted?: boolean;
  /**
   * Where large payloads lie, so that runs may hold more than the service takes: see `directoryBlobs`
   * and `s3Blobs`. Default: the store of `EVERLOOP_BLOBS`, else none.
   */
  readonly blobs?: BlobStore;
}

/** What the environment says of keys and blobs. */
export interface EnvironmentProtection {
  readonly keys?: KeyRing;
  readonly keyFor?: KeyFor | TenantRule;
  readonly blobs?: BlobStore;
}

/** The settings of a process, ready for use. */
export interface Protection {
  /** Encrypts if there are keys, and refuses what it cannot decrypt. */
  readonly codec: PayloadCodec;
  /** The same for a worker, which leaves what it cannot decrypt to its converters. */
  readonly workerCodec: (onUnread: (error: UnreadError) => void) => PayloadCodec;
  /** The same for a server that opens payloads of others, and bounds what is decompressed. */
  readonly readerCodec: (unpack: Unpack) => PayloadCodec;
  /** Counts what the codecs have encrypted since the process began. */
  readonly encrypted: EncryptedPayloads;
  /** The keys that the codec asks; absent: nothing is encrypted. */
  readonly keys?: KeyRing;
  /** What chooses a key for a run. Absent: the current key is for all. */
  readonly keyFor?: KeyFor | TenantRule;
  /** Whether a worker without keys serves a namespace whose newest runs are encrypted. */
  readonly allowUnencrypted: boolean;
  /** Where large payloads lie. Absent: in the history. */
  readonly blobs?: BlobStore;
}

/** The keys, their rule and the blob store that the environment names. Problems go to `report` as sentences. */
export function environmentProtection(
  env: KeyEnvironment,
  report: (problem: string) => void,
): EnvironmentProtection {
  return defined({
    keys: keysOfEnvironment(env, report),
    keyFor: ruleOfEnvironment(env, report),
    blobs: blobsOfEnvironment(env, report),
  });
}

/**
 * The settings that `options` give, with those of the environment where they name none.
 *
 * @throws UsageError `protection` if an option is not valid.
 */
export function protectionOf(
  options: ProtectionOptions | undefined,
  environment: EnvironmentProtection = {},
): Protection {
  checkOptions(options);
  const { compress = false, allowUnencrypted = false } = options ?? {};
  const { keys, keyFor, blobs } = { ...environment, ...defined({ ...options }) };
  const asked =
    keys === undefined
      ? undefined
      : askKeys(keys, keyFor === 'tenant' ? keyForTenants(keys) : keyFor);
  const encrypted = countEncrypted();
  const shared = { compress, onEncrypted: encrypted.add };
  return {
    codec: createCodec(asked, shared),
    workerCodec: (onUnread) => createCodec(asked, { ...shared, onUnread }),
    readerCodec: (unpack) => createCodec(asked, { ...shared, unpack }),
    allowUnencrypted,
    encrypted,
    ...defined({ keys, keyFor, blobs }),
  };
}

/** Nothing is encrypted, and everything lies in the history. */
export const NO_PROTECTION: Protection = {
  codec: createCodec(undefined),
  workerCodec: (onUnread) => createCodec(undefined, { onUnread }),
  readerCodec: (unpack) => createCodec(undefined, { unpack }),
  allowUnencrypted: false,
  encrypted: countEncrypted(),
};

const OPTION_NAMES = ['keys', 'keyFor', 'compress', 'blobs', 'allowUnencrypted'];

function checkOptions(options: ProtectionOptions | undefined): void {
  if (options === undefined) return;
  const strange = Object.keys(defined({ ...options })).find((name) => !OPTION_NAMES.includes(name));
  if (strange !== undefined) {
    const names = OPTION_NAMES.map((name) => `\`${name}\``).join(', ');
    throw invalid(`options of \`protection\` to be ${names}`, `\`${strange}\``);
  }
  const { keys, keyFor, blobs } = options;
  if (keys !== undefined && !isKeyRing(keys)) {
    throw invalid('`keys` of `protection` to be a key ring', 'another value');
  }
  if (keyFor !== undefined && keyFor !== 'tenant' && typeof keyFor !== 'function') {
    throw invalid('`keyFor` of `protection` to be `tenant` or a function', 'another value');
  }
  for (const name of ['compress', 'allowUnencrypted'] as const) {
    if (options[name] === undefined || typeof options[name] === 'boolean') continue;
    throw invalid(`\`${name}\` of \`protection\` to be true or false`, 'another value');
  }
  if (blobs !== undefined && typeof blobs?.driver?.store !== 'function') {
    throw invalid(
      '`blobs` of `protection` to be a store such as `directoryBlobs` makes',
      'another value',
    );
  }
}

function isKeyRing(keys: KeyRing): boolean {
  return typeof keys?.current === 'function' && typeof keys.find === 'function';
}

function invalid(expected: string, got: string): UsageError {
  return new UsageError('protection', `Expected ${expected}, got ${got}. Correct it.`);
}
