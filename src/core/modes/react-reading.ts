/** Reading the reply of a react agent: which of its sections decides. */
import { truncatedProblem, type Block } from '../format/format.ts';
import type { Reply } from '../contract/model.ts';
import { programIn } from '../program-text/find-program.ts';
import type { ReplyProblem } from '../base/problem.ts';
import { candidatesOf } from '../termination/candidates.ts';
import type { Candidate } from '../contract/judgement.ts';
import {
  actionAndProgram,
  errorSection,
  explainCalls,
  explainReply,
  severalPrograms,
} from '../termination/feedback.ts';
import type { CallsReading } from '../toolchain/toolchain.ts';
import type { AgentSpec, ReactSpec } from '../contract/spec.ts';
import type { EarlierReplies } from './mode.ts';
import {
  emptyTurn,
  malformedTurn,
  plainTurn,
  replyText,
  wasCut,
  type Attached,
  type MalformedTurn,
  type SectionError,
  type SectionValue,
  type Turn,
  type TurnBase,
} from '../contract/turn.ts';
import { reactAgentOf, type ReactAgent } from './react-sections.ts';

/** The turn that a reply is. `iteration` gives the ids of calls. */
export function readReactTurn(
  spec: AgentSpec,
  reply: Reply,
  iteration: number,
  earlier?: EarlierReplies,
): Turn {
  const agent = reactAgentOf(spec);
  const text = replyText(reply);
  const reading = agent.format.parse(text, agent.names.sections, {
    wasCut: wasCut(reply),
    mayStayOpen: agent.names.answer,
  });
  if (reading.kind === 'problem') {
    const problem = isEmpty(reply, text, reading.problem) ? emptyTurn : reading.problem;
    const isAnswer =
      problem.code === 'no_sections' &&
      judgesWhole(agent.options, earlier) &&
      !isUnsectionedCall(spec, agent, text, iteration);
    return unparsedTurn(spec, agent, text, { problem, isAnswer });
  }
  const { blocks } = reading;
  const base = baseOf(agent, blocks);
  const candidates = candidatesOf(spec.answer, contentsOf(blocks, agent.names.answer));
  const calls = readCalls(spec, agent, blocks, iteration);
  const program = readProgram(agent, blocks, calls.kind !== 'none');
  if (program.kind === 'problem') {
    const problems = [program.problem];
    const feedback = [errorSection(explainCalls(problems))];
    return malformedTurn(base, 'toolchain', problems, { feedback });
  }
  if (agent.options.precedence === 'answer' && candidates.length > 0) {
    return {
      ...base,
      kind: 'answer',
      candidates,
      attached: attachedOf(calls) ?? (program.kind === 'program' ? program : null),
    };
  }
  if (calls.kind === 'problems') {
    const feedback = [errorSection(explainCalls(calls.problems))];
    return malformedTurn(base, 'toolchain', calls.problems, { feedback });
  }
  const discarded = candidates.length > 0 ? ({ discardedAnswer: true } as const) : {};
  if (calls.kind === 'calls') return { ...base, ...calls, ...discarded };
  if (program.kind === 'program') return { ...base, ...program, ...discarded };
  if (candidates.length > 0) return { ...base, kind: 'answer', candidates, attached: null };
  return nothingToDo(agent, base, wasCut(reply) ? truncatedProblem() : emptyTurn);
}

/** Whether a reply was cut off within its answer: the rest of it is missing, and nothing else. */
export function isCutInAnswer(spec: AgentSpec, reply: Reply): boolean {
  const { format, names, program } = reactAgentOf(spec);
  const text = replyText(reply);
  const cut = format.parse(text, names.sections, { wasCut: true });
  if (cut.kind !== 'problem' || cut.problem.path !== names.answer) return false;
  const open = { wasCut: false, mayStayOpen: names.answer };
  const whole = format.parse(text, names.sections, open);
  const acts = (name: string): boolean => name === names.action || name === program;
  return whole.kind === 'read' && !whole.blocks.some(({ name }) => acts(name));
}

/** Whether nothing was written or a filter removed it, which is not a fault of the format. */
function isEmpty(reply: Reply, text: string, problem: ReplyProblem): boolean {
  if (problem.code !== 'no_sections') return false;
  return text.trim() === '' || reply.finishReason === 'content_filter';
}

/** Whether a reply without sections is judged as the answer. */
function judgesWhole({ onUnparsed }: ReactSpec, earlier?: EarlierReplies): boolean {
  switch (onUnparsed) {
    case 'answer':
    case 'answer-or-fail':
      return true;
    case 'answer-after-two':
      return earlier?.hadNoSection === true;
    case 'retry':
    case 'fail':
      return false;
  }
}

/** The turn of a reply that the format could not read: ask again, judge the whole reply, or end. */
function unparsedTurn(
  spec: AgentSpec,
  agent: ReactAgent,
  text: string,
  { problem, isAnswer }: { readonly problem: ReplyProblem; readonly isAnswer: boolean },
): Turn {
  const { onUnparsed } = agent.options;
  const candidates: readonly Candidate[] = isAnswer ? candidatesOf(spec.answer, [text]) : [];
  if (candidates.length === 0) return nothingToDo(agent, plainTurn, problem);
  const answer = { kind: 'answer', candidates, attached: null, unparsed: problem } as const;
  return {
    ...plainTurn,
    ...answer,
    ...(onUnparsed === 'answer-after-two' ? { warnings: [WRITTEN_PROSE] } : {}),
    ...(onUnparsed === 'answer-or-fail' ? { endsUnlessAccepted: true } : {}),
  };
}

const WRITTEN_PROSE = {
  code: 'unparsed_answer',
  message: 'two replies in a row had no section, so the text of the second is judged as the answer',
};

function nothingToDo(agent: ReactAgent, base: TurnBase, problem: ReplyProblem): MalformedTurn {
  const { onUnparsed } = agent.options;
  const feedback = [errorSection(explainReply(problem, agent.names))];
  const turn = malformedTurn(base, 'format', [problem], { feedback });
  return { ...turn, ends: onUnparsed === 'fail' || onUnparsed === 'answer-or-fail' };
}

/** Whether the whole text is calls of tools, whose section is missing: nobody wants it as an answer. */
function isUnsectionedCall(
  spec: AgentSpec,
  agent: ReactAgent,
  text: string,
  iteration: number,
): boolean {
  const { action } = agent.names;
  if (agent.options.onUnparsed !== 'answer-after-two' || action === null) return false;
  const reading = readCalls(spec, agent, [{ name: action, content: text }], iteration);
  return (
    reading.kind === 'calls' &&
    reading.calls.every(({ tool }) => spec.tools.some(({ name }) => name === tool))
  );
}

function readCalls(
  spec: AgentSpec,
  agent: ReactAgent,
  blocks: readonly Block[],
  iteration: number,
): CallsReading {
  const { action } = agent.names;
  if (action === null) return { kind: 'none' };
  const { tools, maxCallsPerTurn } = spec;
  const context = { iteration, tools, maxCallsPerTurn };
  return agent.toolchain.readCalls(contentsOf(blocks, action), context);
}

type ProgramReading =
  | { readonly kind: 'none' }
  | { readonly kind: 'program'; readonly source: string }
  | { readonly kind: 'problem'; readonly problem: ReplyProblem };

/** The one program of the reply; beside calls it is a problem, whatever it is. */
function readProgram(
  { program }: ReactAgent,
  blocks: readonly Block[],
  hasCalls: boolean,
): ProgramReading {
  const programs = (program === null ? [] : contentsOf(blocks, program))
    .map(programIn)
    .filter(({ kind }) => kind !== 'none');
  const [first] = programs;
  if (first === undefined) return { kind: 'none' };
  if (hasCalls) return { kind: 'problem', problem: actionAndProgram };
  if (first.kind === 'several' || programs.length > 1) {
    return { kind: 'problem', problem: severalPrograms };
  }
  return first.kind === 'program' ? { kind: 'program', source: first.source } : { kind: 'none' };
}

function attachedOf(calls: CallsReading): Attached | null {
  switch (calls.kind) {
    case 'none':
      return null;
    case 'calls':
      return calls;
    case 'problems':
      return { ...calls, feedback: [errorSection(explainCalls(calls.problems))] };
  }
}

/** Counts the blocks and reads the structured sections, which decide nothing. */
function baseOf(agent: ReactAgent, blocks: readonly Block[]): TurnBase {
  const counts = new Map<string, number>();
  const sections: SectionValue[] = [];
  const sectionErrors: SectionError[] = [];
  for (const { name, content } of blocks) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const section = agent.own.find((own) => own.name === name);
    if (section?.schema === undefined) continue;
    const reading = section.read(content);
    if (reading.kind === 'value') sections.push({ name, value: reading.value });
    if (reading.kind === 'problem') sectionErrors.push({ name, problems: reading.problems });
  }
  return { ...plainTurn, blocks: Object.fromEntries(counts), sections, sectionErrors };
}

function contentsOf(blocks: readonly Block[], name: string): readonly string[] {
  return blocks.flatMap((block) => (block.name === name ? [block.content] : []));
}
