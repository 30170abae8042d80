/** What is wrong with the stages and options of a pipeline: all of it, so that one run shows it. */
import { isPlainObject } from '../../core/base/json.ts';
import { inputProblems } from '../../core/limits/compile-limits.ts';
import { shown } from '../../core/text/shown.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { hasKind } from '../checks/has-kind.ts';
import { isHumanStep } from './human-step.ts';
import { nameProblems } from '../tool/tool-problems.ts';
import { unknownFields } from '../checks/unknown-fields.ts';

/** The names of the options of `pipeline`. */
const OPTIONS: readonly string[] = ['memory', 'map', 'description', 'limits'];

/** All problems of a pipeline, without its name in front. */
export function pipelineProblems(
  name: unknown,
  stages: unknown,
  options: unknown,
): readonly UsageProblem[] {
  return [
    ...nameProblems(name, 'pipeline'),
    ...stagesProblems(name, stages),
    ...(isPlainObject(options) ? optionProblems(options) : [noOptions(options)]),
  ];
}

function stagesProblems(pipeline: unknown, stages: unknown): readonly UsageProblem[] {
  if (!Array.isArray(stages) || stages.length === 0) {
    const got = Array.isArray(stages) ? 'an empty list' : shown(stages);
    return [
      stageProblem(
        `Expected a list of stages, got ${got}. Write it as pipeline('name', [first, second]).`,
      ),
    ];
  }
  return stages.flatMap((stage: unknown, index) => {
    const place = `stage ${index + 1}`;
    if (isHumanStep(stage)) {
      return stage.problems.map(({ code, message }) => ({ code, message: `${place}: ${message}` }));
    }
    return Array.isArray(stage)
      ? parallelProblems(pipeline, place, stage)
      : agentProblems(pipeline, place, stage, 'an agent, a list of agents or `humanStep(…)`');
  });
}

function parallelProblems(
  pipeline: unknown,
  place: string,
  agents: readonly unknown[],
): readonly UsageProblem[] {
  if (agents.length === 0) {
    return [
      stageProblem(
        `Expected agents in the parallel ${place}, got an empty list. Name them or remove it.`,
      ),
    ];
  }
  const names = agents.map(nameIn);
  const twice = names.filter((name, index) => name !== undefined && names.indexOf(name) !== index);
  return [
    ...agents.flatMap((agent, index) =>
      agentProblems(pipeline, `${place}[${index}]`, agent, 'an agent'),
    ),
    ...[...new Set(twice)].map((name): UsageProblem => ({
      code: 'duplicate_stage',
      message: `Expected the agents of the parallel ${place} to have different names, since their values are joined under them, got \`${name}\` twice. Rename one.`,
    })),
  ];
}

function agentProblems(
  pipeline: unknown,
  place: string,
  agent: unknown,
  wanted: string,
): readonly UsageProblem[] {
  const name = nameIn(agent);
  if (name === undefined) {
    return [stageProblem(`Expected ${place} to be ${wanted}, got ${shown(agent)}. Change it.`)];
  }
  if (name !== pipeline) return [];
  return [
    stageProblem(
      `Expected ${place} to be another agent, got \`${name}\`, the pipeline itself. It would never end.`,
    ),
  ];
}

/** The name of an agent, given as a definition or by it. */
function nameIn(agent: unknown): string | undefined {
  if (typeof agent === 'string') return agent === '' ? undefined : agent;
  if (!isPlainObject(agent) || !hasKind(agent, 'agent')) return undefined;
  return typeof agent['name'] === 'string' ? agent['name'] : undefined;
}

function optionProblems(options: { readonly [name: string]: unknown }): readonly UsageProblem[] {
  const { memory, map, description, limits } = options;
  return [
    ...(memory === undefined || memory === 'none' || memory === 'carry'
      ? []
      : [problem('pipeline_memory', 'memory', 'one of none, carry', memory)]),
    ...mapProblems(map),
    ...(description === undefined || isText(description)
      ? []
      : [problem('pipeline_text', 'description', 'a text', description)]),
    ...inputProblems(limits as Parameters<typeof inputProblems>[0]),
    ...unknownFields(options, OPTIONS, 'a pipeline'),
  ];
}

function mapProblems(map: unknown): readonly UsageProblem[] {
  if (map === undefined) return [];
  const entries = isPlainObject(map) ? Object.entries(map) : [];
  if (!isPlainObject(map) || !entries.every(([from, to]) => isText(from) && isText(to))) {
    const wanted = "new names by old ones, such as { review: 'text' }";
    return [problem('pipeline_map', 'map', wanted, map)];
  }
  const names = entries.map(([, to]) => to);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  return [...new Set(twice)].map((name) => ({
    code: 'pipeline_map',
    message: `Expected \`map\` to give each field a name of its own, got \`${String(name)}\` twice. Rename one.`,
  }));
}

function problem(
  code: UsageProblem['code'],
  field: string,
  wanted: string,
  got: unknown,
): UsageProblem {
  const message = `Expected \`${field}\` to be ${wanted}, got ${shown(got)}. Change it.`;
  return { code, message };
}

function stageProblem(message: string): UsageProblem {
  return { code: 'pipeline_stage', message };
}

function noOptions(got: unknown): UsageProblem {
  const message = `Expected the options of a pipeline to be an object, got ${shown(got)}. Write them as { memory: 'carry' }.`;
  return { code: 'unknown_option', message };
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}
