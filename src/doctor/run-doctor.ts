/** Runs all checks and, if asked, fixes what can be fixed. */
import { defined } from '../core/base/defined.ts';
import { errorText } from '../core/base/error-text.ts';
import type { DoctorCheck, CheckArea, DoctorWorld, DoctorProblem } from './checks/check.ts';
import type { RunsSeen } from './checks/doctor-service.ts';
import { CHECKS } from './checks.ts';

/** One finding of a check. */
export interface DoctorFinding {
  readonly code: string;
  readonly area: CheckArea;
  readonly severity: DoctorProblem['severity'];
  readonly message: string;
  readonly advice: string;
  /** `yes`: with `--fix`. Absent: there is no fix, or it was made. */
  readonly fixable?: true;
  /** The fix was made. */
  readonly fixed?: true;
}

/** What `everloop doctor` found; the document of `--json`. */
export interface DoctorReport {
  readonly v: 1;
  /** How many checks ran. */
  readonly checks: number;
  /** How many of the open runs they looked at; null: there is no server that says. */
  readonly runs: RunsSeen | null;
  readonly findings: readonly DoctorFinding[];
  /** Findings of severity `error` that were not fixed. */
  readonly errors: number;
}

/** Runs the checks, one after another, in their order. */
export async function runDoctor(
  world: DoctorWorld,
  {
    fix = false,
    checks = CHECKS,
  }: { readonly fix?: boolean; readonly checks?: readonly DoctorCheck[] } = {},
): Promise<DoctorReport> {
  const findings: DoctorFinding[] = [];
  for (const check of checks) {
    for (const problem of await problemsOf(check, world)) {
      findings.push(await findingOf(check, problem, fix));
    }
  }
  const errors = findings.filter(({ severity, fixed }) => severity === 'error' && fixed !== true);
  const runs = (await world.service?.seen().catch(() => null)) ?? null;
  return { v: 1, checks: checks.length, runs, findings, errors: errors.length };
}

async function problemsOf(
  check: DoctorCheck,
  world: DoctorWorld,
): Promise<readonly DoctorProblem[]> {
  try {
    return await check.find(world);
  } catch (error) {
    return [
      {
        severity: 'warning',
        message: `Expected the check to run, got: ${errorText(error)}`,
        advice: 'Run `everloop doctor` again; the other checks are not affected.',
      },
    ];
  }
}

async function findingOf(
  { code, area }: DoctorCheck,
  { severity, message, advice, fix }: DoctorProblem,
  fixes: boolean,
): Promise<DoctorFinding> {
  const isFixed = fixes && fix !== undefined;
  if (isFixed) await fix();
  return defined({
    code,
    area,
    severity,
    message,
    advice,
    fixable: fix !== undefined && !isFixed ? (true as const) : undefined,
    fixed: isFixed ? (true as const) : undefined,
  });
}
