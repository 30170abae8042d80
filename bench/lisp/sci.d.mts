/** The value of `source` in SCI. */
export function runInSci(source: string): Promise<unknown>;
