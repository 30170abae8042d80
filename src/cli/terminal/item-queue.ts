/** A queue of items from several sources, with one reader. */
export interface ItemQueue<Item> {
  put(item: Item): void;
  /** Takes the oldest item, or waits for the next. Only one call may wait. */
  take(): Promise<Item>;
}

/** An empty queue. */
export function createItemQueue<Item>(): ItemQueue<Item> {
  const items: Item[] = [];
  let wake: ((item: Item) => void) | undefined;
  return {
    put: (item) => {
      const taker = wake;
      wake = undefined;
      if (taker === undefined) items.push(item);
      else taker(item);
    },
    take: () => {
      const [item] = items.splice(0, 1);
      if (item !== undefined) return Promise.resolve(item);
      return new Promise((resolve) => {
        wake = resolve;
      });
    },
  };
}
