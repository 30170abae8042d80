/**
 * Asks the same thing up to three times, for answers that may get lost on their way.
 *
 * I1  The first answer counts, or the first refusal that asking again would not change.
 * I2  What was asked before goes on when it is asked again: a slow answer is not given up.
 */

/**
 * How long a question without an answer stays alone, in ms, the first time and the second: then it
 * is asked once more beside.
 */
const ASKED_AGAIN_MS: readonly number[] = [1_000, 3_000];

/**
 * What `ask` gives. While `mayAskAgain` says so of an error, it is asked once more at once; the last
 * such error is thrown when no try is left.
 */
export async function firstAnswer<Answer>(
  ask: () => Promise<Answer>,
  mayAskAgain: (error: unknown) => boolean,
): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Answer>((resolve, reject) => {
      let begun = 0;
      let open = 0;
      const begin = (): void => {
        clearTimeout(timer);
        const aloneMs = ASKED_AGAIN_MS[begun];
        if (aloneMs !== undefined) timer = setTimeout(begin, aloneMs);
        begun += 1;
        open += 1;
        ask().then(resolve, (error: unknown) => {
          open -= 1;
          if (!mayAskAgain(error)) reject(error as Error);
          else if (begun <= ASKED_AGAIN_MS.length) begin();
          else if (open === 0) reject(error as Error);
        });
      };
      begin();
    });
  } finally {
    clearTimeout(timer);
  }
}
