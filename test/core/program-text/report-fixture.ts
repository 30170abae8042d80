/** Reports of programs, for tests that look at one part of them. */
import type { ProgramReport } from '../../../src/core/contract/report.ts';

/** A program whose value was nil, with other fields where given. */
export function reportOf(fields: Partial<ProgramReport> = {}): ProgramReport {
  return {
    programId: '1.p',
    outcome: 'value',
    value: null,
    preview: '',
    isEmpty: true,
    notes: [],
    warnings: [],
    changed: [],
    stored: [],
    done: [],
    plan: {},
    hidden: [],
    fuel: 1,
    calls: 0,
    ...fields,
  };
}
