/** Saves links as files, by default without what people and models wrote. */
import { join } from 'node:path';
import { makeFolder, writeWhole } from '../worker/files/write-whole.ts';
import type { LoadedBundle } from '../worker/bundle/bundle.ts';
import { replayLinks, type Misfit } from './replay.ts';
import type { RunHistory } from './run-history.ts';
import { sanitised } from './sanitise.ts';

/** Where and how links are saved. */
export interface SaveOptions {
  /** Made if it is not there. */
  readonly folder: string;
  /** True: with all texts. */
  readonly raw: boolean;
}

interface SaveParts extends SaveOptions {
  readonly bundle: LoadedBundle;
  /** Those of the links that do not fit. */
  readonly misfits: ReadonlyMap<RunHistory, Misfit>;
}

/**
 * Saves links, one file each; says how many, and the run ids of those that are left out because they
 * replay differently without their texts.
 */
export async function saveLinks(
  links: readonly RunHistory[],
  parts: SaveParts,
): Promise<{ readonly links: number; readonly left: readonly string[] }> {
  await makeFolder(parts.folder);
  if (parts.raw) {
    for (const link of links) await write(parts.folder, link);
    return { links: links.length, left: [] };
  }
  let left = links;
  // A program may depend on the digits of a text.
  for (const digits of [true, false]) left = await saveSanitised(left, parts, digits);
  return { links: links.length - left.length, left: left.map(({ runId }) => runId) };
}

/** Saves what replays as before without its texts; returns the others. */
async function saveSanitised(
  links: readonly RunHistory[],
  { folder, bundle, misfits }: SaveParts,
  digits: boolean,
): Promise<readonly RunHistory[]> {
  if (links.length === 0) return [];
  const originals = new Map(
    links.map((link) => [sanitised(link, { code: bundle.code, digits }), link]),
  );
  const left: RunHistory[] = [];
  for await (const { link, result } of replayLinks(originals.keys(), bundle)) {
    const original = originals.get(link) as RunHistory;
    const before = misfits.get(original)?.message;
    const after = result.kind === 'misfit' ? result.message : undefined;
    if (before === after) await write(folder, link);
    else left.push(original);
  }
  return left;
}

async function write(folder: string, link: RunHistory): Promise<void> {
  const name = link.workflowId.replaceAll(/[^\w.-]+/g, '_').slice(0, 100);
  await writeWhole(join(folder, `${name}-${link.runId}.json`), `${JSON.stringify(link)}\n`);
}
