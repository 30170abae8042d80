/**
 * The reply of a model activity in its heartbeat, from the moment when it is whole and only reads
 * beside it are open. If the worker is lost then, the workflow takes the reply from there, and nobody
 * pays for it twice.
 */
import { byteSize, type Json } from '../core/base/json.ts';
import type { Reply } from '../core/contract/model.ts';
import type { BesideRead } from '../core/contract/outcome.ts';
import type { ReadsBeside, SettledReads } from '../tools/reads-beside.ts';
import type { ModelActivityResult } from './activity-types.ts';
import type { BeatMoment } from './heartbeat.ts';

/** Bytes of JSON of a reply that a heartbeat carries: a larger one is asked for again. */
const MAX_KEPT_BYTES = 262_144;

/** What the heartbeats of a model activity say. */
export interface KeptReply {
  readonly more: (moment: BeatMoment) => object;
  /** From now on, heartbeats have the whole reply: later ones repeat it, since the last one counts. */
  readonly keep: (result: ModelActivityResult, ended: () => readonly BesideRead[]) => void;
}

/** No reply yet; `used` is what the attempt has used so far. */
export function keepReply(used: (moment: BeatMoment) => object): KeptReply {
  let kept: (() => object) | null = null;
  return {
    more: (moment) => ({ ...used(moment), ...kept?.() }),
    keep: (result, ended) => {
      if (byteSize(result as unknown as Json) > MAX_KEPT_BYTES) return;
      kept = () => {
        const reads = ended();
        return { kept: reads.length === 0 ? result : { ...result, reads } };
      };
    },
  };
}

/**
 * How long reads may be open after their reply before a heartbeat is sent that has it. Most reads end
 * before, and each heartbeat is a request and an action on a bill.
 */
const KEPT_BEAT_MS = 300;

/** Waits for the reads of a whole reply, which the heartbeats have meanwhile. */
export async function settleKept(
  beside: ReadsBeside,
  { shown, reply }: { readonly shown: ModelActivityResult; readonly reply: Reply },
  { keep, beat }: Pick<KeptReply, 'keep'> & { readonly beat: () => void },
): Promise<SettledReads> {
  if (!beside.isOpen()) return beside.settle(reply);
  keep(shown, beside.ended);
  const timer = setTimeout(beat, KEPT_BEAT_MS);
  try {
    return await beside.settle(reply);
  } finally {
    clearTimeout(timer);
  }
}
