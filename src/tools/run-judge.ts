/**
 * Judges the answers of one reply. Knows nothing of Temporal: the activity and the memory host use
 * it.
 */
import { defined } from '../core/base/defined.ts';
import type { Json } from '../core/base/json.ts';
import type { GuardVerdict } from '../core/contract/judgement.ts';
import { infoOf } from '../core/calls/run-info.ts';
import type { JudgeOrder, JudgeResult, Reports, Verdict } from '../core/contract/outcome.ts';
import { toJsonResult } from '../core/base/json-result.ts';
import { asCaller } from './caller.ts';
import { attempt } from './attempt.ts';
import type { JudgeOptions, JudgeRun } from './judge-run.ts';
import type {
  RegisteredAgent,
  ReportContext,
  ValidatorDefinition,
} from '../define/definition/definitions.ts';
import { runGuards } from './run-guards.ts';
import { fitValue } from './fit-value.ts';
import { hideIn, HIDE_NOTHING, type HideText } from '../core/text/hide.ts';
import { redactedErrorText } from '../core/text/redact.ts';
import { reporter } from './reporter.ts';
import { readVerdict, type ReadVerdict } from './read-verdict.ts';
import type { ValueSchema } from '../define/schema/value-schema.ts';

/** One attempt; never rejects. Candidates after the first that fits its schema are not read. */
export async function runJudge(
  agent: RegisteredAgent,
  order: JudgeOrder,
  options: JudgeOptions,
): Promise<JudgeRun> {
  const { hide } = options;
  const { reports, read: _read, ...reporting } = reporter({ prices: agent.prices, hide });
  const judge: Judge = {
    agent,
    order,
    options,
    ran: [],
    context: (signal) => ({
      ...reporting,
      ...infoOf(order, { run: options.run }),
      signal,
      attempt: options.attempt,
    }),
  };
  if (order.guarded !== undefined) {
    const { text, guards: names } = order.guarded;
    const { guards = [] } = agent.definition;
    const guarded = await runGuards({ text, names, guards, context: judge.context }, options);
    return isStop(guarded) ? guarded : judged(judge, [], [], { ...reports(), guarded });
  }
  const sections = await judgeSections(judge);
  if (!Array.isArray(sections)) return sections as Stop;
  const verdicts: Verdict[] = [];
  for (const answer of order.answers) {
    const verdict = await judgeCandidate(judge, answer);
    if (isStop(verdict)) return verdict;
    verdicts.push(verdict);
    if (verdict.kind !== 'unfit') break;
  }
  return judged(judge, verdicts, sections, reports());
}

type Stop = Exclude<JudgeRun, { readonly kind: 'judged' }>;
type SectionVerdict = JudgeResult['sections'][number];

interface Judge {
  readonly agent: RegisteredAgent;
  readonly order: JudgeOrder;
  readonly options: JudgeOptions;
  /** Grows while candidates are judged. */
  readonly ran: { readonly validator: string; readonly accepted: boolean }[];
  readonly context: (signal: AbortSignal) => ReportContext;
}

function judged(
  { ran, options }: Judge,
  verdicts: readonly Verdict[],
  sections: readonly SectionVerdict[],
  reports: Pick<JudgeResult, keyof Reports | 'guarded'>,
): JudgeRun {
  const { attempt: attempts } = options;
  return { kind: 'judged', result: { verdicts, sections, validators: ran, attempts, ...reports } };
}

function isStop(value: Verdict | GuardVerdict | Stop): value is Stop {
  return value.kind === 'threw' || value.kind === 'stopped' || value.kind === 'not_here';
}

async function judgeSections(judge: Judge): Promise<readonly SectionVerdict[] | Stop> {
  const { spec, standards } = judge.agent.definition;
  const specs = [
    ...(spec.react?.sections ?? []),
    ...(spec.react?.thinking ? [spec.react.thinking] : []),
  ];
  const verdicts: SectionVerdict[] = [];
  for (const { name, value } of judge.order.sections) {
    const schema = specs.find((section) => section.name === name)?.schema;
    const fit = await fitJson(
      schema === undefined
        ? null
        : { json: schema, standard: standards.sections.get(name) ?? null },
      value,
    );
    if (fit.kind === 'threw')
      return threw(`the schema of section ${name}`, fit.error, judge.options.hide);
    verdicts.push(
      fit.kind === 'unfit'
        ? { problems: fit.lines }
        : { problems: [], ...defined({ value: fit.value }) },
    );
  }
  return verdicts;
}

async function judgeCandidate(judge: Judge, answer: Json): Promise<Verdict | Stop> {
  const { hide = HIDE_NOTHING } = judge.options;
  const fit = await fitJson(answerSchema(judge), answer);
  if (fit.kind === 'threw') return threw('the schema of the answer', fit.error, hide);
  if (fit.kind === 'unfit') return { kind: 'unfit', problems: fit.lines };
  const value = fit.value ?? answer;
  const lacking = judge.order.validators.find((name) => !judge.agent.validators.has(name));
  if (lacking !== undefined) return notHere(lacking);
  for (const name of judge.order.validators) {
    const validator = judge.agent.validators.get(name);
    if (validator === undefined) return notHere(name);
    const verdict = await ask(judge, validator, value);
    if (verdict.kind !== 'accepted' && verdict.kind !== 'rejected') return verdict;
    judge.ran.push({ validator: validator.name, accepted: verdict.kind === 'accepted' });
    if (verdict.kind === 'rejected') {
      return {
        kind: 'rejected',
        validator: validator.name,
        feedback: hideIn(verdict.feedback, hide),
        ...defined({ value: fit.value }),
      };
    }
  }
  return { kind: 'accepted', ...defined({ value: fit.value }) };
}

/** The schema of the agent's answer, or of the LLM tool that answers. */
function answerSchema({ agent, order }: Judge): ValueSchema | null {
  if (order.output !== undefined) {
    const { tool, schema: json } = order.output;
    return { json, standard: agent.tools.get(tool)?.answer ?? null };
  }
  const { spec, standards } = agent.definition;
  const { schema } = spec.answer;
  return schema === undefined ? null : { json: schema, standard: standards.answer };
}

async function ask(
  { context, options }: Judge,
  validator: ValidatorDefinition,
  answer: Json,
): Promise<ReadVerdict | Stop> {
  const name = `validator ${validator.name}`;
  const { run, readContext } = options;
  const reads = validator.readsContext === true ? readContext : undefined;
  const outcome = await attempt(async (signal) => {
    const own = defined({ context: await reads?.() });
    const given = { ...context(signal), ...own };
    return asCaller({ name, run }, () => validator.validate(answer, given));
  }, options);
  switch (outcome.kind) {
    case 'returned': {
      const verdict = readVerdict(outcome.value);
      return verdict ?? threw(name, new Error('it returned no verdict, expected { accepted }'));
    }
    case 'threw':
      return threw(name, outcome.error, options.hide);
    default:
      return { kind: 'stopped' };
  }
}

/** A run keeps its specification during an upgrade, while this worker may lack the validator. */
function notHere(name: string): Stop {
  const what = `validator ${name}`;
  return { kind: 'not_here', what, message: `${what}: this worker does not have it` };
}

function threw(who: string, error: unknown, hide?: HideText): Stop {
  return { kind: 'threw', message: `${who}: ${redactedErrorText(error, hide)}` };
}

type JsonFit =
  /** `value` is absent when the check left the value as it was. */
  | { readonly kind: 'fits'; readonly value?: Json }
  | { readonly kind: 'unfit'; readonly lines: readonly string[] }
  | { readonly kind: 'threw'; readonly error: unknown };

/** Checks a value that the run records, so the output of the schema library must be JSON. */
async function fitJson(schema: ValueSchema | null, value: Json): Promise<JsonFit> {
  if (schema === null) return { kind: 'fits' };
  try {
    const fit = await fitValue(schema, value);
    if (fit.kind === 'unfit') return fit;
    const read = toJsonResult(fit.value);
    if (read.kind === 'not_json') {
      return { kind: 'unfit', lines: [`${read.path}: ${read.type} is not JSON`] };
    }
    const json = read.value ?? null;
    // The comparison includes the order of keys, so that the model's order is kept.
    return JSON.stringify(json) === JSON.stringify(value)
      ? { kind: 'fits' }
      : { kind: 'fits', value: json };
  } catch (error) {
    return { kind: 'threw', error };
  }
}
