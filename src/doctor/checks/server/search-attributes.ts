import { SEARCH_ATTRIBUTES } from '../../../core/base/search-attributes.ts';
import type { DoctorCheck } from '../check.ts';

/** What runs write when the namespace has it; all are keywords. */
const ATTRIBUTES: readonly string[] = Object.values(SEARCH_ATTRIBUTES);

/** The namespace has the search attributes of runs. */
export const searchAttributes: DoctorCheck = {
  code: 'missing-search-attributes',
  area: 'server',
  find: async ({ service }) => {
    const known = (await service?.searchAttributes()) ?? null;
    if (known === null) return [];
    const lacking = ATTRIBUTES.filter((name) => known.get(name) !== 'Keyword').map((name) => {
      const type = known.get(name);
      return type === undefined ? `\`${name}\`` : `\`${name}\`, which is of type ${type}`;
    });
    if (lacking.length === 0) return [];
    return [
      {
        severity: 'information',
        message: `Expected the namespace \`${service?.namespace}\` to have the search attributes ${ATTRIBUTES.join(', ')} of type Keyword, got none for ${lacking.join(', ')}. Runs go on without them.`,
        advice: 'Run `everloop setup` to find runs by agent, state and tenant.',
      },
    ];
  },
};
