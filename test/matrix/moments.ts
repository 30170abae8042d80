/**
 * The moments of a run at which something is killed. A moment is an event of the run, and one of three
 * points of it. An event that tells the end of an activity stands for the activity; every other one for
 * the workflow task that records it.
 */

/** What is killed. */
export type Victim = 'worker' | 'server';

/**
 * | point    | of an activity                              | of another event                           |
 * | -------- | ------------------------------------------- | ------------------------------------------ |
 * | `before` | begun, the code of tool or model has not    | the workflow knows it, nothing is sent     |
 * | `after`  | that code has returned, nothing is sent     | the completion of its task was taken       |
 * | `write`  | its result is being sent                    | the completion of its task is being sent   |
 */
export type Point = 'before' | 'after' | 'write';

/** All points, in the order of the page. */
export const POINTS: readonly Point[] = ['before', 'after', 'write'];

/** What a worker process notes of a run, in the order in which it happens. */
export type Note =
  | {
      readonly kind: 'event';
      readonly key: string;
      readonly type: string;
      /** Of the activity that it tells the end of, were there one. */
      readonly activity: string;
    }
  | { readonly kind: 'activity'; readonly key: string }
  | { readonly kind: 'kill'; readonly key: string };

/** A note, and when it was made: ms of a clock that all processes of a machine share. */
export type TimedNote = Note & { readonly at: number };

/** Ms of a clock that never jumps and that all processes of a machine share. */
export function sharedMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

/** What follows `prefix` in the id of a run, which may be that of a conversation. */
export function afterPrefix(workflowId: string, prefix: string): string {
  const at = workflowId.indexOf(prefix);
  return at === -1 ? workflowId : workflowId.slice(at + prefix.length);
}

/** The key of an event: `path` is the run below the one that was started. */
export function eventKey(path: string, seq: number): string {
  return `${path}#${seq}`;
}

/** The parts of orders and events by which an activity and the event of its end are matched. */
export interface ActivityParts {
  readonly callId?: string | undefined;
  readonly iteration?: number | undefined;
  readonly purpose?: string | undefined;
}

/** The key of an activity. */
export function activityKey(
  path: string,
  name: string,
  { callId, iteration, purpose }: ActivityParts,
): string {
  return [path, name, callId ?? iteration ?? '', purpose ?? ''].join(' ').trimEnd();
}

/** Activities without an event of their own at which a run is killed, too. */
const OTHER_ACTIVITIES = /^\S* (judgeAnswer|archiveTranscript)\b/;

/** The moments of a run that was not disturbed, by what it noted. Each name once. */
export function momentsOf(notes: readonly Note[]): readonly string[] {
  const begun = notes.flatMap(({ kind, key }) => (kind === 'activity' ? [key] : []));
  const told = notes.flatMap((note) => {
    if (note.kind !== 'event') return [];
    return [begun.includes(note.activity) ? note.activity : note.key];
  });
  const others = begun.filter((key) => OTHER_ACTIVITIES.test(key));
  return [...new Set([...told, ...others])];
}
