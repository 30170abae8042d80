/**
 * The programs of a run. The workflow has the current one or the newest; all others, and those of an
 * ended run, are read from events and transcript.
 *
 * I1  Pages are read from the end, and no more than the wanted program needs.
 * I2  For an ended run with an archive, no worker is asked.
 */
import type { Client } from '@temporalio/client';
import { UsageError } from '../core/base/usage-error.ts';
import type { Entry } from '../core/contract/entry.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import type { ProgramView } from '../core/contract/report.ts';
import {
  cutSource,
  endedProgram,
  wholeSource,
  type ProgramEvents,
} from '../core/program-text/ended-program.ts';
import { shown } from '../core/text/shown.ts';
import { programQuery } from '../workflows/messages.ts';
import { queryOpen } from './reading/ended-run.ts';
import { readStatus } from './reading/run-status.ts';

/** Which program to read. */
export interface ProgramOptions {
  /** Its `programId`, such as `3.p`; default: the current one, or else the newest. */
  readonly id?: string;
}

/** A program of a run, without its source. */
export interface ProgramSummary {
  readonly programId: string;
  readonly iteration: number;
  /** When it began and ended, in milliseconds since 1970; null: it has not ended. */
  readonly since: number;
  readonly endedAt: number | null;
  /** Absent until it has ended. */
  readonly outcome?: NonNullable<ProgramView['outcome']>;
  /** Fuel, and calls and questions; 0 until it has ended. */
  readonly fuel: number;
  readonly calls: number;
}

/** A page of a list of the run. */
type ReadPage<Item> = (range: {
  readonly from: number;
  readonly limit: number;
}) => Promise<readonly Item[]>;

/** A run, and how its lists are read. */
export interface ProgramSource {
  readonly client: Client;
  readonly id: string;
  readonly events: ReadPage<AgentEvent>;
  readonly entries: ReadPage<Entry>;
}

/** Items of a page: entries hold whole replies. */
const PAGE_EVENTS = 512;
const PAGE_ENTRIES = 32;

/**
 * A program with its whole source; null if the run has had none, or none of this id.
 *
 * @throws UsageError `invalid_input` for an id that no program can have.
 */
export async function readProgramView(
  source: ProgramSource,
  { id }: ProgramOptions = {},
): Promise<ProgramView | null> {
  const iteration = id === undefined ? undefined : iterationOf(id);
  const open = await queryOpen(source.client, source.id, (handle) => handle.query(programQuery));
  const newest = open?.answer ?? null;
  if (newest !== null && (id === undefined || newest.programId === id)) {
    return withWholeSource(source, newest);
  }
  if (open !== null && newest === null) return null;
  const found = await eventsOfProgram(source, { id, iteration });
  if (found === null) return null;
  const { before } = found;
  return endedProgram(found, await wholeSourceOf(source, before.source, before.iteration));
}

/** All programs of a run that began, oldest first. */
export async function listPrograms(
  source: Pick<ProgramSource, 'events'>,
): Promise<readonly ProgramSummary[]> {
  const programs = new Map<string, ProgramSummary>();
  for (let from = 0; ; from += PAGE_EVENTS) {
    const events = await source.events({ from, limit: PAGE_EVENTS });
    for (const event of events) addProgram(programs, event);
    if (events.length < PAGE_EVENTS) return [...programs.values()];
  }
}

function addProgram(programs: Map<string, ProgramSummary>, event: AgentEvent): void {
  if (event.type === 'agent:program:before') {
    const { programId, iteration, at: since } = event;
    const begun = { programId, iteration, since, endedAt: null, fuel: 0, calls: 0 };
    programs.set(programId, begun);
  }
  if (event.type !== 'agent:program:after' || event.outcome === 'refused') return;
  const begun = programs.get(event.programId);
  if (begun === undefined) return;
  const { outcome, steps: fuel, calls, at: endedAt } = event;
  programs.set(event.programId, { ...begun, endedAt, outcome, fuel, calls });
}

function iterationOf(id: string): number {
  const iteration = /^(\d{1,9})\.p$/.exec(id)?.[1];
  if (iteration !== undefined) return Number(iteration);
  const message = `Expected the id of a program, such as \`3.p\`, got ${shown(id)}. \`run.programs()\` lists them.`;
  throw new UsageError('invalid_input', message);
}

interface WantedProgram {
  readonly id: string | undefined;
  readonly iteration: number | undefined;
}

/** The events of program `id`, or else of the newest one. */
async function eventsOfProgram(
  source: ProgramSource,
  { id, iteration = 0 }: WantedProgram,
): Promise<ProgramEvents | null> {
  const { events: count } = await readStatus(source.client, source.id);
  let after: ProgramEvents['after'];
  for (let until = count; until > 0; until -= PAGE_EVENTS) {
    const from = Math.max(0, until - PAGE_EVENTS);
    const events = await source.events({ from, limit: until - from });
    for (const event of events.toReversed()) {
      if (!('programId' in event) || (id !== undefined && event.programId !== id)) continue;
      if (event.type === 'agent:program:before') {
        return { before: event, after: after?.programId === event.programId ? after : undefined };
      }
      if (event.type === 'agent:program:after' && event.outcome !== 'refused') after ??= event;
    }
    if ((events[0]?.iteration ?? 0) < iteration) return null;
  }
  return null;
}

async function withWholeSource(source: ProgramSource, view: ProgramView): Promise<ProgramView> {
  if (view.outcome === undefined || cutSource(view.source) === null) return view;
  const whole = await wholeSourceOf(source, view.source, iterationOf(view.programId));
  return { ...view, ...(whole === undefined ? { isCut: true } : { source: whole }) };
}

/** The whole of `text`, from the entries of its iteration; undefined if these do not have it. */
async function wholeSourceOf(
  { client, id, entries }: ProgramSource,
  text: string,
  iteration: number,
): Promise<string | undefined> {
  if (cutSource(text) === null) return text;
  const { entries: count } = await readStatus(client, id);
  for (let until = count; until > 0; until -= PAGE_ENTRIES) {
    const from = Math.max(0, until - PAGE_ENTRIES);
    const page = await entries({ from, limit: until - from });
    const whole = wholeSource(
      text,
      page.filter((entry) => entry.iteration === iteration),
    );
    if (whole !== undefined) return whole;
    if ((page[0]?.iteration ?? 0) < iteration) return undefined;
  }
  return undefined;
}
