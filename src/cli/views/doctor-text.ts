/** The findings of the doctor as text. */
import type { DoctorReport, DoctorFinding } from '../../doctor/run-doctor.ts';

/** All findings by area, and how many there are. */
export function doctorText({ checks, findings }: DoctorReport): string {
  if (findings.length === 0) return `${checks} checks found nothing.`;
  const lines = findings.map(findingText);
  return [...lines, `${checks} checks, ${findings.length} found.`].join('\n\n');
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
