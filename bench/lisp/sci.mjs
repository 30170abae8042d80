// Runs programs in SCI, the interpreter inside nbb, in this process.
import { loadString } from 'nbb';

await loadString("(require '[clojure.string :as str] '[clojure.set :as set])");

/** The value of `source`. Its forms are evaluated one by one, in the user namespace. */
export async function runInSci(source) {
  return await loadString(source);
}
