/** Whether a conversation waits for a message. */

/** What a conversation waits for between two turns. */
const MESSAGE = 'message';

/** Whether a run is a conversation that waits for a message: nobody has to decide anything. */
export function isBetweenTurns({
  state,
  waitsFor,
}: {
  readonly state: string;
  readonly waitsFor: readonly string[];
}): boolean {
  return state === 'waiting' && waitsFor.length === 1 && waitsFor[0] === MESSAGE;
}
