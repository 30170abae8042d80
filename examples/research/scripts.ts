/** The scripted replies of the research team: reply n in iteration n. */
import { textOf, type ModelReply } from '../../src/index.ts';
import type { ExampleScript } from '../example-model.ts';

/** A question for the team. */
export const RESEARCH_QUESTION = 'Should our bakery deliver by cargo bike?';

const USAGE = { inputTokens: 100, outputTokens: 10 };

const FIRST_DRAFT =
  'Yes: a bike costs 480 EUR a year to keep, the van 7,900 EUR, and most customers live near.';

/** The team's result. */
export const RESEARCH_ADVICE: string =
  'Yes, buy one bike: it costs 6,200 EUR once and 480 EUR a year, the van 7,900 EUR a year (N1, N2). ' +
  '71 of 90 customers live within 4 km (N3), bikes may use bus lanes (N5), and vans will pay 12 EUR a ' +
  'day in the centre (N6). Keep the van for the other 19.';

function searchFor(query: string): ModelReply {
  return { toolCalls: [{ name: 'search', args: { query } }] };
}

function showToReviewer(draft: string): ModelReply {
  return { toolCalls: [{ name: 'reviewer', args: { draft } }] };
}

/** By member of the team. The reviewer is asked in a run of its own for each draft. */
export const RESEARCH_SCRIPTS: {
  readonly [
    member in 'planner' | 'costs' | 'customers' | 'rules' | 'writer' | 'reviewer'
  ]: ExampleScript;
} = {
  planner: [
    {
      content: JSON.stringify({
        costs: 'What does a cargo bike cost in a year, and what the van?',
        customers: 'How far away do customers live, and when do they want their bread?',
        rules: 'What may cargo bikes do that vans may not?',
      }),
    },
  ],
  costs: [
    searchFor('cost of bike and van'),
    { content: 'A bike costs 6,200 EUR and 480 EUR a year (N1), the van 7,900 EUR a year (N2).' },
  ],
  customers: [
    searchFor('customers'),
    { content: '71 of 90 live within 4 km (N3); cafes want bread before 6:30 (N4).' },
  ],
  rules: [
    searchFor('rules'),
    { content: 'Bikes may use bus lanes (N5); vans will pay 12 EUR a day in the centre (N6).' },
  ],
  writer: [
    showToReviewer(FIRST_DRAFT),
    showToReviewer(RESEARCH_ADVICE),
    { content: RESEARCH_ADVICE },
  ],
  // Each draft is judged in a run of its own, so the reply depends only on the draft.
  reviewer: ({ messages }) => {
    const accepted = messages.map(textOf).join('\n').includes('N6');
    const remarks = accepted ? [] : ['Name the notes.', 'What of the rules?'];
    return Promise.resolve({ content: JSON.stringify({ accepted, remarks }), usage: USAGE });
  },
};
