/** How much of an iteration has begun and not ended. */
export interface OpenCount {
  count: number;
  /** The model of each model call in flight: limits count these before they have ended. */
  readonly models: string[];
  /** Set when the loop has ended without waiting for what it began. */
  isOver?: true;
}

/** The count of an iteration in which nothing has begun. */
export function nothingOpen(): OpenCount {
  return { count: 0, models: [] };
}
