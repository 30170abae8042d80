/**
 * Hedged requests: a question whose answer may get lost is asked again beside the first, up to three
 * times in all.
 *
 * I1  The first answer counts, or the first final error.
 * I2  Earlier tries stay open when it is asked again: a slow answer is not given up.
 * I3  After the answer, no try begins.
 */

/** Milliseconds to wait before the second and before the third try. */
const HEDGE_AFTER_MS: readonly number[] = [1_000, 3_000];

/**
 * What an error of a try says: it is lost, and another one may succeed at once; or it is refused for
 * now, while an earlier one may still be answered; or no other try would fare better.
 */
export type TryEnd = 'lost' | 'refused' | 'final';

/** How a question is asked. */
export interface HedgeOptions {
  readonly endOf: (error: unknown) => TryEnd;
  /** False: the next try begins only when one is lost. */
  readonly asksBeside: boolean;
}

/** What `ask` gives; rejects with a final error, or with that of the last try. */
export async function hedged<Answer>(
  ask: () => Promise<Answer>,
  { endOf, asksBeside }: HedgeOptions,
): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  try {
    return await new Promise<Answer>((resolve, reject) => {
      let begun = 0;
      let open = 0;
      const tryOnce = async (): Promise<void> => {
        clearTimeout(timer);
        const waitMs = HEDGE_AFTER_MS[begun];
        if (asksBeside && waitMs !== undefined) timer = setTimeout(() => void tryOnce(), waitMs);
        begun += 1;
        open += 1;
        try {
          resolve(await ask());
        } catch (error) {
          open -= 1;
          if (isOver) return;
          const end = endOf(error);
          if (end === 'lost' && begun <= HEDGE_AFTER_MS.length) void tryOnce();
          else if (end === 'final' || open === 0) reject(error as Error);
        }
      };
      void tryOnce();
    });
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}
