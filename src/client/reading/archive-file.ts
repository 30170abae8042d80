/**
 * A file of the archive: one for each execution, with all of its lists, line by line.
 *
 *     {"run":{"namespace":"default","workflowId":"…"}}
 *     {"list":"entries"}
 *     …
 *     {"list":"events"}
 *     …
 *
 * I1  The lines that say whose it is, and where a list begins, are never encrypted. No item begins as
 *     they do.
 * I2  The name says which link it is, and which entry and event of the chain are its first: so a reader
 *     opens no file that it does not need.
 * I3  Whoever reads holds a chunk of the file and the items that are asked for, not the file.
 */
import { createReadStream } from 'node:fs';
import { isPlainObject } from '../../core/base/json.ts';

/** A list of the archive. */
export type FolderList = 'entries' | 'events' | 'states' | 'histories';

/** Whose folder and files it is. */
export interface RunNote {
  readonly namespace: string;
  readonly workflowId: string;
}

/** What is kept of an execution: its pages, written when it ends; its history, if somebody saves it. */
export interface ArchiveFileId {
  readonly kind: 'pages' | 'history';
  /** From 1. */
  readonly link: number;
  /** Indexes in the chain. */
  readonly firstEntry: number;
  readonly firstEvent: number;
}

const END = '.jsonl';
const HISTORY = '.history';

/** The name of a file; by their names, files are in the order of links. */
export function archiveFileName({ kind, link, firstEntry, firstEvent }: ArchiveFileId): string {
  const number = String(link).padStart(6, '0');
  return kind === 'history'
    ? `${number}${HISTORY}${END}`
    : `${number}-${firstEntry}-${firstEvent}${END}`;
}

/** Whether `name` is that of a file of the archive, and no note or draft. */
export function isArchiveFile(name: string): boolean {
  return name.endsWith(END);
}

/** The index in the chain of the first item of `list` in the file `name`; undefined: it has none. */
export function firstIn(name: string, list: FolderList): number | undefined {
  const isHistory = name.endsWith(`${HISTORY}${END}`);
  if (!isArchiveFile(name) || isHistory !== (list === 'histories')) return undefined;
  const [link, entry, event] = name.slice(0, -END.length).split('-').map(Number.parseFloat);
  if (list === 'entries') return entry;
  if (list === 'events') return event;
  return link === undefined ? undefined : link - 1;
}

const RUN_MARK = '{"run":';
const LIST_MARK = '{"list":';

/** The line that says whose file it is. */
export function runLine({ namespace, workflowId }: RunNote): string {
  return JSON.stringify({ run: { namespace, workflowId } });
}

/** The line with which the items of `list` begin. */
export function listLine(list: FolderList): string {
  return JSON.stringify({ list });
}

/** Whether a line is no item (I1). */
export function isMarkLine(line: string): boolean {
  return line.startsWith(RUN_MARK) || line.startsWith(LIST_MARK);
}

/** Whose file it is by its first line; undefined for any other line. */
export function runOfLine(line: string): RunNote | undefined {
  try {
    const { run } = JSON.parse(line) as { readonly run?: unknown };
    return noteIn(run);
  } catch {
    return undefined;
  }
}

/** `value` as a note; undefined if it is none. */
export function noteIn(value: unknown): RunNote | undefined {
  if (!isPlainObject(value)) return undefined;
  const { namespace, workflowId } = value;
  if (typeof namespace !== 'string' || typeof workflowId !== 'string') return undefined;
  return { namespace, workflowId };
}

/**
 * The lines of a file, each with its end. Only the last may lack it, in a file that was cut off. Not
 * by `readline`, which ends a line within texts too, at U+2028.
 */
export async function* linesOfFile(path: string): AsyncGenerator<string> {
  const parts: string[] = [];
  for await (const chunk of createReadStream(path, 'utf8') as AsyncIterable<string>) {
    let from = 0;
    for (let at = chunk.indexOf('\n'); at >= 0; at = chunk.indexOf('\n', from)) {
      parts.push(chunk.slice(from, at + 1));
      yield parts.splice(0).join('');
      from = at + 1;
    }
    if (from < chunk.length) parts.push(chunk.slice(from));
  }
  if (parts.length > 0) yield parts.join('');
}

/** The whole lines of `list` in a file, from number `from` to `until` - 1, without their ends. */
export async function readLines(
  path: string,
  list: FolderList,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<readonly string[]> {
  const begin = listLine(list);
  const lines: string[] = [];
  let at = -1;
  for await (const line of linesOfFile(path)) {
    if (!line.endsWith('\n')) break;
    const text = line.slice(0, -1);
    if (isMarkLine(text)) {
      // The lists of a file stand one after another.
      if (at >= 0) break;
      if (text === begin) at = 0;
    } else if (at >= 0) {
      if (at >= until) break;
      if (at >= from) lines.push(text);
      at += 1;
    }
  }
  return lines;
}
