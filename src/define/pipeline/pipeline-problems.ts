/** The checks of `pipeline`. */
import { isPlainObject } from '../../core/base/json.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { inputProblems } from '../../core/limits/compile-limits.ts';
import { shown } from '../../core/text/shown.ts';
import { expected, fieldProblems, type Rules } from '../checks/fields.ts';
import { hasKind, isText, oneOf, repeated, TEXT } from '../checks/kinds.ts';
import { nameProblems } from '../checks/names.ts';
import { isHumanStep } from './human-step.ts';

const OPTION_FIELDS: Rules = {
  memory: { ...oneOf('none', 'carry'), advice: 'Change it.', code: 'pipeline_memory' },
  map: mapProblems,
  description: TEXT,
  limits: inputProblems,
};

/** All problems of a pipeline, without its name in front. */
export function pipelineProblems(
  name: unknown,
  stages: unknown,
  options: unknown,
): readonly UsageProblem[] {
  return [
    ...nameProblems(name, 'pipeline'),
    ...stagesProblems(name, stages),
    ...optionsProblems(options),
  ];
}

function optionsProblems(options: unknown): readonly UsageProblem[] {
  if (!isPlainObject(options)) {
    const what = 'the options of a pipeline to be an object';
    return [expected('unknown_option', what, shown(options), "Write them as { memory: 'carry' }.")];
  }
  return fieldProblems(options, OPTION_FIELDS, { code: 'pipeline_text', owner: 'a pipeline' });
}

function stagesProblems(pipeline: unknown, stages: unknown): readonly UsageProblem[] {
  if (!Array.isArray(stages) || stages.length === 0) {
    const got = Array.isArray(stages) ? 'an empty list' : shown(stages);
    const advice = "Write it as pipeline('name', [first, second]).";
    return [expected('pipeline_stage', 'a list of stages', got, advice)];
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
    const what = `agents in the parallel ${place}`;
    return [expected('pipeline_stage', what, 'an empty list', 'Name them or remove it.')];
  }
  const what = `the agents of the parallel ${place} to have different names, since their values are joined under them`;
  return [
    ...agents.flatMap((agent, index) =>
      agentProblems(pipeline, `${place}[${index}]`, agent, 'an agent'),
    ),
    ...repeated(agents.flatMap((agent) => nameIn(agent) ?? [])).map((name) =>
      expected('duplicate_stage', what, `\`${name}\` twice`, 'Rename one.'),
    ),
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
    return [expected('pipeline_stage', `${place} to be ${wanted}`, shown(agent))];
  }
  if (name !== pipeline) return [];
  const got = `\`${name}\`, the pipeline itself`;
  return [expected('pipeline_stage', `${place} to be another agent`, got, 'It would never end.')];
}

/** The name of an agent, given as a definition or by its name. */
function nameIn(agent: unknown): string | undefined {
  if (typeof agent === 'string') return agent === '' ? undefined : agent;
  if (!isPlainObject(agent) || !hasKind(agent, 'agent')) return undefined;
  return typeof agent['name'] === 'string' ? agent['name'] : undefined;
}

function mapProblems(map: unknown): readonly UsageProblem[] {
  if (map === undefined) return [];
  const entries = isPlainObject(map) ? Object.entries(map) : [];
  if (!isPlainObject(map) || !entries.every((entry) => entry.every(isText))) {
    const what = "`map` to be new names by old ones, such as { review: 'text' }";
    return [expected('pipeline_map', what, shown(map))];
  }
  return repeated(entries.map(([, to]) => to)).map((name) =>
    expected(
      'pipeline_map',
      '`map` to give each field a name of its own',
      `\`${String(name)}\` twice`,
      'Rename one.',
    ),
  );
}
