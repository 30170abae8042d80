/** What is encrypted, and with which keys: the settings of every client and worker of a namespace. */
import type { PayloadCodec } from '@temporalio/common';
import { UsageError } from '../core/base/usage-error.ts';
import { defined } from '../core/base/defined.ts';
import { askKeys, type KeyFor } from './asked-keys.ts';
import { createCodec } from './codec.ts';
import type { KeyRing } from './key-ring.ts';

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
   * The id of the key for the payloads of a run, such as that of its tenant; undefined: the current
   * key. Children have their parent's, because their ids begin with the parent's.
   *
   * @example keyFor: ({ workflowId }) => workflowId.split(':')[0]
   */
  readonly keyFor?: KeyFor;
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
}

/** The settings of a process, ready for use. */
export interface Protection {
  /** Encrypts if there are keys, and refuses what it cannot decrypt. */
  readonly codec: PayloadCodec;
  /** The same for a worker, which leaves what it cannot decrypt to its converters. */
  readonly workerCodec: (onMissing: (keyId: string) => void) => PayloadCodec;
  /** The keys that the codec asks; absent: nothing is encrypted. */
  readonly keys?: KeyRing;
  /** Whether a worker without keys serves a namespace whose newest runs are encrypted. */
  readonly allowUnencrypted: boolean;
}

/**
 * The settings that `options` give, with the keys of the environment where they name none.
 *
 * @throws UsageError `protection` if an option is not valid.
 */
export function protectionOf(
  options: ProtectionOptions | undefined,
  environmentKeys: KeyRing | undefined,
): Protection {
  checkOptions(options);
  const { keyFor, compress = false, keys = environmentKeys } = options ?? {};
  const asked = keys === undefined ? undefined : askKeys(keys, keyFor);
  return {
    codec: createCodec(asked, { compress }),
    workerCodec: (onMissing) => createCodec(asked, { compress, onMissing }),
    allowUnencrypted: options?.allowUnencrypted ?? false,
    ...defined({ keys }),
  };
}

/** Nothing is encrypted. */
export const NO_PROTECTION: Protection = {
  codec: createCodec(undefined),
  workerCodec: (onMissing) => createCodec(undefined, { onMissing }),
  allowUnencrypted: false,
};

const OPTION_NAMES = ['keys', 'keyFor', 'compress', 'allowUnencrypted'];

function checkOptions(options: ProtectionOptions | undefined): void {
  if (options === undefined) return;
  const strange = Object.keys(defined({ ...options })).find((name) => !OPTION_NAMES.includes(name));
  if (strange !== undefined) {
    const names = OPTION_NAMES.map((name) => `\`${name}\``).join(', ');
    throw invalid(`options of \`protection\` to be ${names}`, `\`${strange}\``);
  }
  const { keys, keyFor } = options;
  if (keys !== undefined && !isKeyRing(keys)) {
    throw invalid('`keys` of `protection` to be a key ring', 'another value');
  }
  if (keyFor !== undefined && typeof keyFor !== 'function') {
    throw invalid('`keyFor` of `protection` to be a function', 'another value');
  }
  for (const name of ['compress', 'allowUnencrypted'] as const) {
    if (options[name] === undefined || typeof options[name] === 'boolean') continue;
    throw invalid(`\`${name}\` of \`protection\` to be true or false`, 'another value');
  }
}

function isKeyRing(keys: KeyRing): boolean {
  return typeof keys?.current === 'function' && typeof keys.find === 'function';
}

function invalid(expected: string, got: string): UsageError {
  return new UsageError('protection', `Expected ${expected}, got ${got}. Correct it.`);
}
