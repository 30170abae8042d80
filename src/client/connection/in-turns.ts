/** Work on many runs, a few at a time, because the service rejects a burst of queries. */

/** Concurrent queries: enough for a hundred runs within a second or two. */
const AT_ONCE = 8;

/** The results of `work` on each item, in order. */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  let next = 0;
  const turn = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at] as Item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, turn));
  return results;
}
