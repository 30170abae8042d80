/**
 * Notes of forks in the archived folder of their source: a fork shows what its source said before the
 * moment, so those pages are needed for as long as the service has the fork.
 *
 * I1  A worker writes a note when it has made the fork from the source's own history. What a client
 *     claims, in a memo or in a start that is refused, leaves none.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { noteIn, type RunNote } from '../../client/reading/archive-file.ts';
import { archiveFolderOf } from '../../client/reading/archive-reader.ts';
import { namesIn } from '../../protection/blobs/gone-files.ts';
import { writeWhole } from './write-whole.ts';

/** A fork, by its ids. */
export interface NotedFork {
  readonly workflowId: string;
  /** The run id of its first link, which names its own folder too. */
  readonly runId: string;
}

const PREFIX = 'fork-';

/** Whether a file of an archived folder is such a note, and no page. */
export function isForkNote(name: string): boolean {
  return name.startsWith(PREFIX) && name.endsWith('.json');
}

/** Notes in the folder of the run `source` that `fork` was made from it. */
export async function noteFork(folder: string, source: RunNote, fork: NotedFork): Promise<void> {
  const { workflowId, runId } = fork;
  const name = `${PREFIX}${archiveFolderOf(runId)}.json`;
  // The source is in it, too: it may have no page of its own yet.
  await writeWhole(join(folder, name), JSON.stringify({ workflowId, runId, source }));
}

/** The run whose folder has the note `name`; undefined if that is broken. */
export async function sourceOf(folder: string, name: string): Promise<RunNote | undefined> {
  try {
    const text = await readFile(join(folder, name), 'utf8');
    return noteIn((JSON.parse(text) as { readonly source?: unknown }).source);
  } catch {
    return undefined;
  }
}

/** The forks that are noted in the folder of a source; none if there is no such folder. */
export async function notedForks(folder: string): Promise<readonly NotedFork[]> {
  const forks: NotedFork[] = [];
  for (const name of (await namesIn(folder)).filter(isForkNote)) {
    const fork = await readFork(join(folder, name));
    if (fork !== undefined) forks.push(fork);
  }
  return forks;
}

async function readFork(path: string): Promise<NotedFork | undefined> {
  try {
    const { workflowId, runId } = JSON.parse(await readFile(path, 'utf8')) as Partial<NotedFork>;
    if (typeof workflowId !== 'string' || typeof runId !== 'string') return undefined;
    return { workflowId, runId };
  } catch {
    return undefined;
  }
}
