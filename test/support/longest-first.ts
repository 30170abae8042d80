/**
 * The order of test files: those that take longest first, so that no worker is left alone with a
 * long one at the end. A fresh checkout has no times of its own, so they are named here; the order of
 * the others is vitest's own.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of each tier, the longest first. Taken from the JSON report of a run. */
export const LONGEST: readonly string[] = [
  'test/lisp/process.property.test.ts',
  'test/core/hostile-replies.test.ts',
  'test/lisp/fuel.property.test.ts',
  'test/lisp/builtins.property.test.ts',
  'test/lisp/machine.property.test.ts',
  'test/core/section/yaml-reader.test.ts',
];

/** Vitest's order, but for {@link LONGEST}. Projects stay in theirs. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = LONGEST.indexOf(relative(root, moduleId).replaceAll('\\', '/'));
      return index < 0 ? LONGEST.length : index;
    };
    // Stable: files that are not named keep the order that they are given in.
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
