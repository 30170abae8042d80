/** The states that runs are listed by. Imports nothing, so that help can name them at no cost. */
export const LISTED_STATES = [
  'running',
  'waiting',
  'completed',
  'failed',
  'canceled',
  'terminated',
  'timed_out',
] as const;

/** One of {@link LISTED_STATES}. */
export type ListedState = (typeof LISTED_STATES)[number];
