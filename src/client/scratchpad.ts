/** What the next model call of a run sees, written by the code that writes it for the call. */
import type { Client } from '@temporalio/client';
import { requestOfOrder } from '../core/ask/order-request.ts';
import { EMPTY_DIGEST } from '../core/base/digest.ts';
import type { Json } from '../core/base/json.ts';
import type { Message } from '../core/base/message.ts';
import { UsageError } from '../core/base/usage-error.ts';
import type { LinkPage } from '../core/contract/messages.ts';
import type { ModelRequest } from '../core/contract/model.ts';
import { createPageReader, type PagePosition } from '../core/contract/page.ts';
import type { TranscriptHead } from '../core/contract/transcript.ts';
import { transcriptQuery } from '../workflows/messages.ts';
import { queryAny } from './reading/run-reader.ts';
import { readStatus } from './reading/run-status.ts';

/** The next request of a run. */
export interface ScratchpadView {
  /** To the first model of the agent, as of now: inputs that wait are not in it. */
  readonly request: ModelRequest;
  /** True: functions of the agent write parts of the prompt, which only a worker can call. */
  readonly isPartial: boolean;
}

/** How many times a compaction may come between two pages. */
const TRIES = 4;

/**
 * The next request of run `id`. Asks a worker, also after the end.
 *
 * @throws UsageError as `querying`; `no_model` for a pipeline, a fan-out and a run whose agent is not
 * loaded.
 */
export async function readScratchpad(client: Client, id: string): Promise<ScratchpadView> {
  const [head, ...messages] = await readMessages(client, id);
  const { runId, iteration } = await readStatus(client, id);
  const { spec } = (head ?? {}) as unknown as Partial<TranscriptHead>;
  const [first] = spec?.models ?? [];
  if (spec === undefined || first === undefined) {
    const message = `Expected a run that asks a model, got \`${id}\`, which asks none. Read its transcript.`;
    throw new UsageError('no_model', message);
  }
  const view = {
    head: head as unknown as TranscriptHead,
    messages: messages as unknown as readonly Message[],
  };
  const order = {
    agent: spec.name,
    runId,
    agentPath: spec.name,
    model: first.id,
    purpose: 'reply',
    iteration: iteration + 1,
    triesBefore: 0,
    lastTurn: false,
    time: Date.now(),
    transcript: { epoch: 1, length: messages.length, digest: EMPTY_DIGEST },
  } as const;
  const isWritten = [spec.instructions, spec.rules].some((source) => source?.kind === 'function');
  return {
    request: requestOfOrder(order, view, { attempt: 1 }),
    isPartial: isWritten || spec.react?.prompt === true,
  };
}

/** The head and the messages; read again if a compaction comes between two pages. */
async function readMessages(client: Client, id: string): Promise<readonly Json[]> {
  for (let read = 0; ; read++) {
    const reader = createPageReader();
    const items: Json[] = [];
    let from: PagePosition | null = { index: 0, offset: 0 };
    let previous: string | null | undefined;
    let isOne = true;
    while (from !== null && isOne) {
      const at: PagePosition = from;
      const page: LinkPage = await queryAny(client, id, (run) =>
        run.query(transcriptQuery, { view: 'scratchpad', from: at }),
      );
      isOne = previous === undefined || page.previous === previous;
      ({ previous } = page);
      items.push(...reader.read(page));
      from = page.next;
    }
    if (isOne || read === TRIES) return items;
  }
}
