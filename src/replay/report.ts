/**
 * Replays the chosen links, with Everloop's workflows or with loops of your own, and says what does
 * not fit. Saves them on request.
 *
 * I1  A link of a loop that this replay does not have is skipped and counted, since no code can fit
 *     it: any loop of yours when none is named, else that of a file with another name and text.
 * I2  Links are replayed in batches: a worker costs a fifth of a second, and a batch bounds memory.
 */
import { defined } from '../core/base/defined.ts';
import type { Protection } from '../protection/protection.ts';
import type { LoadedBundle } from '../worker/bundle/bundle.ts';
import { replayLinks, type Misfit } from './replay.ts';
import { workflowsOf, type RunHistory } from './run-history.ts';
import { saveLinks, type SaveOptions } from './save.ts';

/** What {@link replayAll} replays with. */
export interface ReplayParts {
  readonly bundle: LoadedBundle;
  readonly own?: OwnLoops;
  readonly save?: SaveOptions;
  /** Keys that read the histories; default: none. */
  readonly protection?: Protection;
}

/** A file with loops of your own. */
export interface OwnLoops {
  readonly bundle: LoadedBundle;
  /** As runs record it: `loops@4f2a9c01`. */
  readonly mark: string;
}

/** A link that does not fit this code. */
export interface ReplayFailure extends Omit<Misfit, 'kind'> {
  /** The id of the run. */
  readonly workflowId: string;
  /** The service's id of the execution that is the link. */
  readonly executionId: string;
  readonly agent: string;
  /** The version of the worker that served it last, if it had one. */
  readonly build: string | null;
}

/** What came of a replay; the document of `everloop replay --json`. */
export interface ReplayReport {
  readonly v: 1;
  /** Links that were replayed, and their events. */
  readonly links: number;
  readonly events: number;
  readonly ms: number;
  readonly failures: readonly ReplayFailure[];
  /** Links of loops of your own that this replay does not have, by the mark of the loop. */
  readonly skipped: readonly { readonly workflows: string; readonly links: number }[];
  /** Links that were saved, and those that do not replay without their texts; null: none asked. */
  readonly saved: { readonly links: number; readonly left: readonly string[] } | null;
}

const BATCH_LINKS = 50;
const BATCH_EVENTS = 20_000;

/** Replays all `links`. */
export async function replayAll(
  links: AsyncIterable<RunHistory>,
  parts: ReplayParts,
): Promise<ReplayReport> {
  const startedAt = Date.now();
  const failures: ReplayFailure[] = [];
  const skipped = new Map<string, number>();
  const saved = { links: 0, left: [] as string[] };
  const counts = { links: 0, events: 0 };
  for await (const batch of batchesOf(links)) {
    for (const [bundle, group] of groupsOf(batch, parts, skipped)) {
      const misfits = await misfitsOf(group, bundle, parts.protection);
      for (const link of group) {
        counts.links += 1;
        counts.events += link.history.events.length;
        const found = misfits.get(link);
        if (found !== undefined) failures.push(failureOf(link, found));
      }
      if (parts.save === undefined) continue;
      const { links: count, left } = await saveLinks(group, { ...parts.save, bundle, misfits });
      saved.links += count;
      saved.left.push(...left);
    }
  }
  return {
    v: 1,
    ...counts,
    ms: Date.now() - startedAt,
    failures,
    skipped: [...skipped].map(([workflows, count]) => ({ workflows, links: count })),
    saved: parts.save === undefined ? null : saved,
  };
}

async function* batchesOf(links: AsyncIterable<RunHistory>): AsyncGenerator<readonly RunHistory[]> {
  let batch: RunHistory[] = [];
  let events = 0;
  for await (const link of links) {
    batch.push(link);
    events += link.history.events.length;
    if (batch.length < BATCH_LINKS && events < BATCH_EVENTS) continue;
    yield batch;
    batch = [];
    events = 0;
  }
  if (batch.length > 0) yield batch;
}

/** The links of a batch by the bundle that they need; counts those that need an unknown one. */
function groupsOf(
  batch: readonly RunHistory[],
  { bundle, own }: ReplayParts,
  skipped: Map<string, number>,
): readonly (readonly [LoadedBundle, readonly RunHistory[]])[] {
  const everloops: RunHistory[] = [];
  const users: RunHistory[] = [];
  for (const link of batch) {
    const mark = workflowsOf(link);
    if (mark === undefined) everloops.push(link);
    else if (own !== undefined && isOf(own, mark)) users.push(link);
    else skipped.set(mark, (skipped.get(mark) ?? 0) + 1);
  }
  const groups: (readonly [LoadedBundle, readonly RunHistory[]])[] = [[bundle, everloops]];
  if (own !== undefined) groups.push([own.bundle, users]);
  return groups.filter(([, group]) => group.length > 0);
}

/** Whether a link with this mark ran the file, perhaps before a change of its text or of its name. */
function isOf({ mark: own }: OwnLoops, mark: string): boolean {
  const [name, digits] = mark.split('@');
  const [ownName, ownDigits] = own.split('@');
  return name === ownName || digits === ownDigits;
}

/** The links that do not fit a bundle, and why. */
async function misfitsOf(
  links: readonly RunHistory[],
  bundle: LoadedBundle,
  protection: Protection | undefined,
): Promise<ReadonlyMap<RunHistory, Misfit>> {
  const misfits = new Map<RunHistory, Misfit>();
  for await (const { link, result } of replayLinks(links, bundle, protection)) {
    if (result.kind === 'misfit') misfits.set(link, result);
  }
  return misfits;
}

function failureOf(link: RunHistory, { kind: _kind, ...rest }: Misfit): ReplayFailure {
  const { workflowId, runId: executionId, agent, build } = link;
  return defined({ workflowId, executionId, agent, build, ...rest });
}
