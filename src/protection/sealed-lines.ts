/**
 * Lines of text files, encrypted one by one by the codec: `{"k":"KEY ID","d":"BASE64"}`. Lines that
 * were written before there were keys are read as they are, so a file may have both.
 */
import type { Payload } from '@temporalio/common';
import { decode as textOf, encode as bytesOf } from '@temporalio/common/lib/encoding.js';
import { isPlainObject } from '../core/base/json.ts';
import { encryptedPayload, keyIdOf } from './codec.ts';
import type { KeyScope } from './key-ring.ts';
import type { Protection } from './protection.ts';

/** Writes and reads lines of JSON. */
export interface SealedLines {
  /** `lines` as they are written; `scope` is the run that they belong to, if it is known. */
  seal(lines: readonly string[], scope?: KeyScope): Promise<readonly string[]>;
  /**
   * Lines as they were before they were sealed.
   *
   * Rejects with a KeyMissingError or a PayloadDamagedError.
   */
  open(lines: readonly string[]): Promise<readonly string[]>;
}

/** The lines of a process with this protection. */
export function sealedLines({ keys, codec }: Pick<Protection, 'keys' | 'codec'>): SealedLines {
  return {
    seal: async (lines, scope) => {
      if (keys === undefined) return lines;
      const context = scope === undefined ? undefined : { type: 'workflow' as const, ...scope };
      const payloads = await codec.encode(
        lines.map((line) => ({ metadata: TEXT, data: bytesOf(line) })),
        context,
      );
      return payloads.map((payload) => {
        const d = Buffer.from(payload.data ?? []).toString('base64');
        return JSON.stringify({ k: keyIdOf(payload), d });
      });
    },
    open: async (lines) => {
      const opened: string[] = [];
      for (const line of lines) {
        const sealed = sealedPayload(line);
        const [payload] = sealed === undefined ? [] : await codec.decode([sealed]);
        opened.push(payload === undefined ? line : textOf(payload.data ?? new Uint8Array()));
      }
      return opened;
    },
  };
}

const TEXT = { encoding: bytesOf('json/plain') };

/** The id of the key that sealed `line`; undefined for a plain line. */
export function keyIdOfLine(line: string): string | undefined {
  const sealed = sealedPayload(line);
  return sealed === undefined ? undefined : keyIdOf(sealed);
}

/** Undefined for a line that was cut off. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** A sealed line begins so, and no item of an archive does. */
const SEALED = '{"k":';

function sealedPayload(line: string): Payload | undefined {
  if (!line.startsWith(SEALED)) return undefined;
  const value = parsed(line);
  if (!isPlainObject(value)) return undefined;
  const { k, d } = value;
  return typeof k === 'string' && typeof d === 'string' && Object.keys(value).length === 2
    ? encryptedPayload(k, Buffer.from(d, 'base64'))
    : undefined;
}
