/** The findings of the doctor as text. */
import type { DoctorReport, DoctorFinding } from '../../doctor/run-doctor.ts';

/** All findings by area, and how many there are. */
export function doctorText({ checks, runs, findings }: DoctorReport): string {
  const sum =
    findings.length === 0
      ? `${checks} checks found nothing.`
      : `${checks} checks, ${findings.length} found.`;
  return [...findings.map(findingText), [sum, ...runsText(runs)].join(' ')].join('\n\n');
}

/** What was not looked at must not pass for sound. */
function runsText(runs: DoctorReport['runs']): readonly string[] {
  if (runs === null) return [];
  const { open, described, asked } = runs;
  const all = open === null ? 'an unknown number of' : String(Math.max(open, described));
  return [`Looked at the newest ${described} of ${all} open runs, and asked ${asked} of them.`];
}

function findingText({
  code,
  area,
  severity,
  message,
  advice,
  fixable,
  fixed,
}: DoctorFinding): string {
  const end = fixed === true ? 'Fixed.' : fixable === true ? `${advice} --fix does it.` : advice;
  return `${severity} ${area}/${code}\n  ${message}\n  ${end}`;
}
