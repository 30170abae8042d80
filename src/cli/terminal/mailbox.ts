/** Keeps what comes from several sides until it is taken. */
export interface Mailbox<Item> {
  put(item: Item): void;
  /** The oldest; one takes at a time. */
  take(): Promise<Item>;
}

/** An empty mailbox. */
export function createMailbox<Item>(): Mailbox<Item> {
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
