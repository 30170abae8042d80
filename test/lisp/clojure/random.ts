/** A source of random choices that gives the same ones for the same seed, on every machine. */
export interface Random {
  /** A whole number from 0 to `below` − 1. */
  below(below: number): number;
  /** One of the items, each as likely as the others. */
  pick<Item>(items: readonly Item[]): Item;
  /** True once in `times`. */
  oneIn(times: number): boolean;
}

/** Mulberry32 (Tommy Ettinger, public domain). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    pick: (items) => items[below(items.length)]!,
    oneIn: (times) => below(times) === 0,
  };
}
