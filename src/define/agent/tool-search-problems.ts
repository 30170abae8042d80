/** The checks of the option `toolSearch` of an agent. */
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { shown } from '../../core/text/shown.ts';
import {
  adviceFor,
  expected,
  shownName,
  type Check,
  type Fields,
  type Kind,
  type FieldRules,
} from '../checks/fields.ts';
import { isString, isText, LIST, OBJECT, oneOf, range, TEXT } from '../checks/kinds.ts';
import { isName } from '../checks/names.ts';
import { BUILT_IN_GUIDANCE, type ToolSearchOptions } from '../definition/tool-search-options.ts';

/**
 * What `toolSearch` takes; `tools` are the names of the agent's tools, null if servers have more.
 */
export function toolSearchRule(tools: readonly string[] | null): Kind {
  const fields: FieldRules<keyof ToolSearchOptions> = {
    hint: { ...oneOf('domains', 'names'), wanted: "'domains' or 'names'", advice: 'Change it.' },
    pageSize: { ...range(1), code: 'search_option' },
    pins: [
      { ...LIST, wanted: 'to be a list of names of tools', code: 'search_pins' },
      pinProblems(tools),
    ],
    engines: [{ ...LIST, code: 'search_engine' }, engineProblems],
    noResults: TEXT,
  };
  return { ...OBJECT, wanted: 'to be an object such as {}', code: 'search_option', fields };
}

function pinProblems(tools: readonly string[] | null): Check {
  return (pins) =>
    listed(pins).flatMap((pin) => {
      if (isString(pin) && (tools === null || tools.includes(pin))) return [];
      const otherwise = 'Add the tool, or remove the pin.';
      const advice = isString(pin) ? adviceFor(pin, tools ?? [], otherwise) : otherwise;
      const what = '`toolSearch.pins` to name tools of the agent';
      return [expected('search_pins', what, shownName(pin), advice)];
    });
}

function engineProblems(given: unknown): readonly UsageProblem[] {
  const engines = listed(given);
  if (given !== undefined && engines.length === 0) {
    const advice = "Add 'bm25', or leave it out.";
    return [expected('search_engine', 'an engine in `toolSearch.engines`', 'none', advice)];
  }
  const ids = engines.map(engineId);
  return engines.flatMap((engine, index) => {
    const id = ids[index];
    if (id === undefined) {
      const what = `\`toolSearch.engines[${index}]\` to be 'bm25', 'regex' or an engine { id, guidance, search }`;
      return [expected('search_engine', what, shown(engine))];
    }
    if (ids.indexOf(id) === index) return [];
    const got = `two engines with the id \`${id}\``;
    return [expected('search_engine', 'ids of search engines to be unique', got, 'Rename one.')];
  });
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The id of an engine; undefined when `engine` is not one. */
function engineId(engine: unknown): string | undefined {
  if (typeof engine === 'string') {
    return Object.hasOwn(BUILT_IN_GUIDANCE, engine) ? engine : undefined;
  }
  const { id, guidance, search } = Object(engine ?? {}) as Fields;
  return isName(id) && isText(guidance) && typeof search === 'function' ? id : undefined;
}
