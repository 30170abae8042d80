/** The report of a replay as text. */
import type { ReplayFailure, ReplayReport } from '../../replay/report.ts';
import { durationText } from '../terminal/text.ts';

/** What was replayed, what did not fit, what was skipped and saved. */
export function replayText({ links, events, ms, failures, skipped, saved }: ReplayReport): string {
  const fit = links - failures.length;
  const lines = [
    `${fit} of ${counted(links, 'link')} fit this code: ${counted(events, 'event')} in ${durationText(ms)}.`,
    ...skipped.map(
      ({ workflows, links: count }) =>
        `skipped: needs workflows ${workflows} (${counted(count, 'link')}). Name the file with --workflows.`,
    ),
  ];
  if (saved !== null) lines.push(`Saved ${counted(saved.links, 'link')}.`);
  if (saved !== null && saved.left.length > 0) {
    lines.push(
      `Not saved, since they replay differently without their texts: ${saved.left.join(', ')}. Use --raw to save them with all texts.`,
    );
  }
  return [...lines, ...failures.map(failureText)].join('\n');
}

function failureText(failure: ReplayFailure): string {
  const { workflowId, executionId, agent, build, message, event, after, unknownPatches } = failure;
  const worker = build === null ? '' : `, build ${build}`;
  const lines = [
    '',
    `${workflowId} does not fit (agent ${agent}, link ${executionId}${worker})`,
    `  ${message}`,
    event === null ? null : `  at event ${event.id} of its history, ${event.type}`,
    after === null ? null : `  after event ${after.seq} of the run, ${after.type}`,
    unknownPatches.length === 0
      ? null
      : `  the history has patches that this code lacks: ${unknownPatches.join(', ')}`,
  ];
  return lines.filter((line) => line !== null).join('\n');
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
