/** Turns the answer blocks of a turn into candidates, and verdicts into a judgement. */
import { defined } from '../base/defined.ts';
import type { Candidate, Judgement } from '../contract/judgement.ts';
import type { AnswerSpec } from '../contract/spec.ts';
import type { Json } from '../base/json.ts';
import type { ReplyProblem } from '../base/problem.ts';
import { isOwnName } from '../extension/own-parts.ts';
import { readJson } from '../section/json-reader.ts';
import { ownSection } from '../section/own-section.ts';
import { jsonGuidance } from '../section/section.ts';
import { payloadOf } from '../section/payload.ts';
import { answerFormat } from '../signature/answer-form.ts';
import { readOutput } from '../signature/read-output.ts';
import type { Verdict } from '../contract/outcome.ts';

/** A kind of answer: how it is asked for and how a candidate is read. */
interface AnswerKind {
  guidance(spec: AnswerSpec): string;
  read(text: string, spec: AnswerSpec): Candidate | undefined;
}

const defaultGuidance = 'Write the finished answer here.';

const textAnswer: AnswerKind = {
  guidance: (spec) => spec.guidance ?? defaultGuidance,
  read: (text) => (text.trim() === '' ? undefined : { kind: 'value', value: text.trim() }),
};

const jsonAnswer: AnswerKind = {
  guidance: (spec) =>
    spec.output === undefined
      ? jsonGuidance(
          defined({
            guidance: spec.guidance ?? defaultGuidance,
            schema: spec.schema ?? {},
            example: spec.example,
          }),
        )
      : answerFormat(spec),
  read: (text, spec) => {
    if (spec.output !== undefined) {
      return text.trim() === '' ? undefined : readOutput(spec, { text, isCut: false });
    }
    const payload = payloadOf(text);
    if (payload.kind === 'absent') return undefined;
    if (payload.kind === 'problem') return { kind: 'unreadable', problems: [payload.problem] };
    const reading = readJson(payload.text);
    return reading.kind === 'value' ? reading : { kind: 'unreadable', problems: [reading.problem] };
  },
};

const ownAnswer: AnswerKind = {
  guidance: (spec) => ownSection('answers', spec, { ...spec, name: spec.section }).guidance(),
  read: (text, spec) => {
    const reading = ownSection('answers', spec, { ...spec, name: spec.section }).read(text);
    if (reading.kind === 'absent') return undefined;
    return reading.kind === 'value' ? reading : { kind: 'unreadable', problems: reading.problems };
  },
};

function answerKindOf({ kind }: AnswerSpec): AnswerKind {
  if (isOwnName(kind)) return ownAnswer;
  return kind === 'text' ? textAnswer : jsonAnswer;
}

/** How to write the answer: the guidance of its section. */
export function answerGuidance(spec: AnswerSpec): string {
  return answerKindOf(spec).guidance(spec);
}

/** The candidates among the answer blocks of one reply, in order; empty ones are left out. */
export function candidatesOf(spec: AnswerSpec, contents: readonly string[]): readonly Candidate[] {
  return contents.flatMap((content) => answerKindOf(spec).read(content, spec) ?? []);
}

/** Whether an activity checks candidates; not needed without schema and validators. */
export function needsCheck(spec: AnswerSpec): boolean {
  const hasSchema = isOwnName(spec.kind) ? spec.schema !== undefined : spec.kind === 'json';
  return hasSchema || spec.validators.length > 0;
}

/** The values to check, in the order in which {@link judge} expects their verdicts. */
export function valuesToCheck(candidates: readonly Candidate[]): readonly Json[] {
  return candidates.flatMap((candidate) => (candidate.kind === 'value' ? [candidate.value] : []));
}

/**
 * The judgement of a turn. `verdicts` are those of {@link valuesToCheck} that were reached; null:
 * no check is needed, so the first readable candidate is accepted. The first candidate that is
 * accepted or rejected decides; unfit ones are skipped.
 */
export function judge(
  candidates: readonly Candidate[],
  verdicts: readonly Verdict[] | null,
): Judgement {
  const problems: ReplyProblem[] = [];
  const lines: string[] = [];
  let checked = 0;
  for (const candidate of candidates) {
    if (candidate.kind === 'unreadable') {
      problems.push(...candidate.problems);
      lines.push(...candidate.problems.map((problem) => problem.message));
      continue;
    }
    const verdict: Verdict | undefined =
      verdicts === null ? { kind: 'accepted' } : verdicts[checked];
    checked += 1;
    if (verdict === undefined) break;
    if (verdict.kind !== 'unfit') {
      const value = verdict.value === undefined ? candidate.value : verdict.value;
      return { ...verdict, value };
    }
    problems.push(...verdict.problems.map((message) => ({ code: 'schema', message })));
    lines.push(...verdict.problems);
  }
  return lines.length === 0 ? { kind: 'continue' } : { kind: 'unfit', problems, lines };
}
