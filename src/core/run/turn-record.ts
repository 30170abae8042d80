/** The events of a turn: how it was read, and how its sections and answers were judged. */
import { defined } from '../base/defined.ts';
import { utf8Length, type Json } from '../base/json.ts';
import type { FormattedSection } from '../base/message.ts';
import type { Reply } from '../contract/model.ts';
import type { ReplyProblem, ProblemFamily } from '../base/problem.ts';
import type { Judgement } from '../contract/judgement.ts';
import { cut } from '../text/cut.ts';
import type { JudgeResult, ReportedEvent, ReportedStats, Reports } from '../contract/outcome.ts';
import type { EventBody, OwnEventBody, OwnEventType } from '../contract/events.ts';
import type { SettledSections } from '../modes/section-values.ts';
import { replyText, type Turn } from '../contract/turn.ts';

/** UTF-8 bytes of raw text that an event may carry; the transcript has all of it. */
const MAX_RAW_BYTES = 2 * 1024;

/** How a reply was read: the turn or why it could not be read, and what is unusual about it. */
export function readingEvents(turn: Turn, reply: Reply): readonly EventBody[] {
  const warnings = (turn.warnings ?? []).map((warning): EventBody => ({
    type: 'agent:warning',
    ...warning,
  }));
  return [...turnEvents(turn, reply), ...warnings];
}

function turnEvents(turn: Turn, reply: Reply): readonly EventBody[] {
  const family = turn.kind === 'malformed' ? turn.family : unparsedFamily(turn);
  const reasoning = turn.kind === 'program' ? turn.reasoning : undefined;
  const read: EventBody = {
    type: 'agent:turn:read',
    kind: turn.kind,
    ...defined({
      family,
      blocks: turn.blocks,
      discardedAnswer: turn.discardedAnswer,
      reasoning: reasoning === undefined ? undefined : cut(reasoning, MAX_RAW_BYTES),
    }),
  };
  if (turn.kind === 'malformed')
    return [read, parseError(turn.family, turn.problems, replyText(reply))];
  if (turn.kind === 'answer') {
    return [
      read,
      ...(turn.attached?.kind === 'problems'
        ? [parseError('toolchain', turn.attached.problems, replyText(reply))]
        : []),
    ];
  }
  return [read];
}

/**
 * A reply that is judged as a whole has no section, so it does not end a streak of format errors.
 */
function unparsedFamily(turn: Turn): ProblemFamily | undefined {
  return turn.kind === 'answer' && turn.unparsed !== undefined ? 'format' : undefined;
}

/** Records that a reply had no section, unless it was accepted as a whole. */
export function unparsedEvents(
  turn: Turn,
  judgement: Judgement,
  reply: Reply,
): readonly EventBody[] {
  if (turn.kind !== 'answer' || turn.unparsed === undefined) return [];
  return judgement.kind === 'accepted'
    ? []
    : [parseError('format', [turn.unparsed], replyText(reply))];
}

/** Which structured sections have a value, and which could not be used. */
export function sectionEvents(sections: SettledSections, reply: Reply): readonly EventBody[] {
  return [
    ...Object.entries(sections.values).flatMap(([name, values]) =>
      values.map((): EventBody => ({ type: 'agent:section:read', name })),
    ),
    ...sections.errors.map(({ problems }) => parseError('section', problems, replyText(reply))),
  ];
}

/** What validators said, and how the answers were judged. */
export function judgementEvents(
  judgement: Judgement,
  checked: JudgeResult | null,
  text: string,
): readonly (EventBody | OwnEventBody)[] {
  if (judgement.kind === 'continue') return [];
  // Validators see the candidate that decides; without one they saw nothing.
  const answer = judgement.kind === 'unfit' ? null : cutInEvent(judgement.value);
  return [
    ...modelCallEvents('judge', checked ?? {}),
    ...(checked?.validators ?? []).flatMap(({ validator, accepted }): readonly EventBody[] => [
      { type: 'agent:validator:called', validator, answer },
      {
        type: 'agent:validator:result',
        validator,
        accepted,
        ...(accepted || judgement.kind !== 'rejected'
          ? {}
          : { feedback: sectionsText(judgement.feedback) }),
      },
    ]),
    ...(judgement.kind === 'unfit' ? [parseError('termination', judgement.problems, text)] : []),
    {
      type: 'agent:answer:judged',
      outcome: judgement.kind,
      ...defined({
        durationMs: checked?.durationMs,
        counts: checked?.counts,
        gauges: checked?.gauges,
        raised: checked?.raised,
      }),
    },
    ...(checked?.events ?? []).map((event) => ownEvent(event)),
  ];
}

/** Model calls that a tool or a validator made itself, in order. */
export function modelCallEvents(
  purpose: 'judge' | 'tool',
  { modelCalls = [] }: Pick<Reports, 'modelCalls'>,
): readonly EventBody[] {
  return modelCalls.flatMap(({ model, usage, usageKnown, usageProblem }): readonly EventBody[] => [
    {
      type: 'agent:model_call:after',
      model,
      purpose,
      usage,
      usageKnown,
      attempts: 1,
      durationMs: 0,
    },
    ...usageWarning(model, usageProblem),
  ]);
}

/** The warning of a report of usage that cannot be; none without a problem. */
export function usageWarning(model: string, problem: string | undefined): readonly EventBody[] {
  if (problem === undefined) return [];
  const message = `Expected the usage of a call of model \`${model}\` to have counts from 0 up, got ${problem}. What is wrong is not counted.`;
  return [{ type: 'agent:warning', code: 'impossible_usage', message }];
}

/** A custom event from a tool, a validator or a loop. */
export function ownEvent(
  { type, data, id, keep }: ReportedEvent,
  moved: ReportedStats & Pick<OwnEventBody, 'callId'> = {},
): OwnEventBody {
  // Its name was checked when it was reported, by `checkOwnEvent`.
  return { type: type as unknown as OwnEventType, data, ...defined({ id, keep }), ...moved };
}

/** `value` as an event carries it: text, or JSON as text, is cut to 2 KB if it is longer. */
export function cutInEvent(value: Json): Json {
  if (typeof value === 'string') return cut(value, MAX_RAW_BYTES);
  const json = JSON.stringify(value);
  return utf8Length(json) <= MAX_RAW_BYTES ? value : cut(json, MAX_RAW_BYTES);
}

function parseError(
  family: ProblemFamily,
  problems: readonly ReplyProblem[],
  text: string,
): EventBody {
  return { type: 'agent:parse_error', family, problems, raw: cut(text, MAX_RAW_BYTES) };
}

function sectionsText(sections: readonly FormattedSection[]): string {
  const texts = sections.map(({ name, content = '' }) => `${name}: ${content}`);
  return cut(texts.join('\n'), MAX_RAW_BYTES);
}
