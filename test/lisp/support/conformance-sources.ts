/** The expressions of the conformance suite, without what they are expected to give. */
import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../conformance/', import.meta.url);

/** Every expression that has an answer, in the order of the files. */
export function conformanceSources(): readonly string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.clj'))
    .toSorted()
    .flatMap((name) => readFileSync(new URL(name, FOLDER), 'utf8').split('\n'))
    .flatMap((line) => {
      const at = Math.max(line.lastIndexOf(' ;=> '), line.lastIndexOf(' ;=! '));
      return at < 0 ? [] : [line.slice(0, at)];
    });
}
