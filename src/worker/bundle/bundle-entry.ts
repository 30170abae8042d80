/** The process that makes a bundle; see `bundle-process.ts`. It ends when its parent does. */
import { errorText } from '../../core/base/error-text.ts';
import { isUsageError } from '../../core/base/usage-error.ts';
import type { BundleAnswer, BundleJob } from './bundle-process.ts';
import { keepBundle } from './kept-bundle.ts';
import { makeBundle } from './make-bundle.ts';

async function answerTo({ order, cacheFile }: BundleJob): Promise<BundleAnswer> {
  const startedAtMs = Date.now();
  try {
    const made = await makeBundle(order);
    await keepBundle(cacheFile, made, startedAtMs);
    return { code: made.code };
  } catch (error) {
    return { problem: errorText(error), isUsage: isUsageError(error) };
  }
}

process.once('disconnect', () => process.exit(0));
process.once('message', (job) => {
  // A parent that is gone needs no answer.
  void answerTo(job as BundleJob).then((answer) => process.send?.(answer, () => undefined));
});
