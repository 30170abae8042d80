/** What is wrong with the option `toolSearch` of an agent. */
import { nearestName } from '../../core/text/nearest.ts';
import { shown } from '../../core/text/shown.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { BUILT_IN_GUIDANCE, type ToolSearchOptions } from '../definition/tool-search-options.ts';
import { unknownFields } from '../checks/unknown-fields.ts';

const FIELDS: readonly (keyof ToolSearchOptions)[] = [
  'hint',
  'pageSize',
  'pins',
  'engines',
  'noResults',
];

/** All problems of `toolSearch`; `tools` are the names of the agent's tools. */
export function toolSearchProblems(
  options: unknown,
  tools: readonly string[],
): readonly UsageProblem[] {
  if (options === undefined) return [];
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    const message = `Expected \`toolSearch\` to be an object such as {}, got ${shown(options)}. Change it.`;
    return [{ code: 'search_option', message }];
  }
  const { hint, pageSize, pins, engines, noResults } = options as ToolSearchOptions;
  return [
    ...optionProblem(
      'hint',
      hint,
      "'domains' or 'names'",
      ['domains', 'names'].includes(hint ?? ''),
    ),
    ...optionProblem('pageSize', pageSize, 'from 1 up', isCount(pageSize)),
    ...pinProblems(pins, tools),
    ...engineProblems(engines),
    ...optionProblem('noResults', noResults, 'to be a text', isText(noResults)),
    ...unknownFields(options, FIELDS, '`toolSearch`'),
  ];
}

function optionProblem(
  field: string,
  value: unknown,
  wanted: string,
  isFine: boolean,
): readonly UsageProblem[] {
  if (value === undefined || isFine) return [];
  const message = `Expected \`toolSearch.${field}\` ${wanted}, got ${shown(value)}. Change it.`;
  return [{ code: 'search_option', message }];
}

function pinProblems(pins: unknown, tools: readonly string[]): readonly UsageProblem[] {
  if (pins === undefined) return [];
  if (!Array.isArray(pins)) {
    const message = `Expected \`toolSearch.pins\` to be a list of names of tools, got ${shown(pins)}. Write it as a list.`;
    return [{ code: 'search_pins', message }];
  }
  return pins.flatMap((pin: unknown) => {
    if (typeof pin === 'string' && tools.includes(pin)) return [];
    const near = typeof pin === 'string' ? nearestName(pin, tools) : undefined;
    const advice =
      near === undefined ? 'Add the tool, or remove the pin.' : `Did you mean \`${near}\`?`;
    const got = typeof pin === 'string' ? `\`${pin.slice(0, 200)}\`` : shown(pin);
    const message = `Expected \`toolSearch.pins\` to name tools of the agent, got ${got}. ${advice}`;
    return [{ code: 'search_pins', message }];
  });
}

function engineProblems(engines: unknown): readonly UsageProblem[] {
  const problem = (message: string): UsageProblem => ({ code: 'search_engine', message });
  if (engines === undefined) return [];
  if (!Array.isArray(engines)) {
    return [
      problem(
        `Expected \`toolSearch.engines\` to be a list, got ${shown(engines)}. Write it as a list.`,
      ),
    ];
  }
  if (engines.length === 0) {
    return [
      problem("Expected an engine in `toolSearch.engines`, got none. Add 'bm25', or leave it out."),
    ];
  }
  const ids = new Set<string>();
  return engines.flatMap((engine: unknown, index) => {
    const id = engineId(engine);
    if (id === undefined) {
      return [
        problem(
          `Expected \`toolSearch.engines[${index}]\` to be 'bm25', 'regex' or an engine { id, guidance, search }, got ${shown(engine)}. Change it.`,
        ),
      ];
    }
    const isNew = !ids.has(id);
    ids.add(id);
    if (isNew) return [];
    return [
      problem(
        `Expected ids of search engines to be unique, got two engines with the id \`${id}\`. Rename one.`,
      ),
    ];
  });
}

/** The id of what is an engine; undefined for anything else. */
function engineId(engine: unknown): string | undefined {
  if (typeof engine === 'string')
    return Object.hasOwn(BUILT_IN_GUIDANCE, engine) ? engine : undefined;
  if (typeof engine !== 'object' || engine === null) return undefined;
  const { id, guidance, search } = engine as { readonly [field: string]: unknown };
  const isEngine =
    typeof id === 'string' &&
    /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(id) &&
    isText(guidance) &&
    typeof search === 'function';
  return isEngine ? id : undefined;
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}
