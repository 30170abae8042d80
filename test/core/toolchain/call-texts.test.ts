import { describe, expect, test } from 'vitest';
import {
  canceledCallText,
  deniedText,
  notJsonText,
  refusedText,
  toolErrorText,
  toolTimeoutText,
  unfitArgumentsText,
  unknownOutcomeText,
  unknownToolText,
} from '../../../src/core/toolchain/call-texts.ts';
import { toolSpec } from '../runs/spec-fixture.ts';

const many = Array.from({ length: 25 }, (_, i) => toolSpec({ name: `tool_${i + 10}0` }));

describe('Texts of calls that fail [row 20]', () => {
  test.each([
    {
      title: 'an unknown tool with a near one',
      text: unknownToolText('serach', [toolSpec(), toolSpec({ name: 'book' })]),
      expected: 'Error: unknown tool "serach". Did you mean search? Tools: search, book.',
    },
    {
      title: 'an unknown tool far from all, with more than 20 tools and a long name',
      text: unknownToolText('x'.repeat(100), many),
      expected: `Error: unknown tool "${'x'.repeat(80)}". Tools: ${many
        .slice(0, 20)
        .map((tool) => tool.name)
        .join(', ')}.`,
    },
    {
      title: 'an unknown tool with tool search',
      text: unknownToolText('boook', [toolSpec({ name: 'book' })], 'search'),
      expected:
        'Error: unknown tool "boook". Did you mean book? Find tools with tool_registry_search.',
    },
    {
      title: 'denied with a reason',
      text: deniedText({ reason: 'too dear' }),
      expected: 'Denied by a person: too dear.',
    },
    {
      title: 'denied without a reason',
      text: deniedText({ reason: ' ' }),
      expected: 'Denied by a person: no reason given.',
    },
    {
      title: 'nobody decided',
      text: deniedText({ timedOutAfterMs: 86_400_000 }),
      expected: 'Denied by a person: nobody decided within 24 h.',
    },
    {
      title: 'nobody decided in a short while',
      text: deniedText({ timedOutAfterMs: 1_800_000 }),
      expected: 'Denied by a person: nobody decided within 0.5 h.',
    },
    {
      title: 'refused',
      text: refusedText('agent:tool_calls:search', 3),
      expected: 'Error: not run, the limit of 3 for agent:tool_calls:search is reached.',
    },
    {
      title: 'unfit arguments',
      text: unfitArgumentsText(toolSpec(), ['query: missing', 'and 3 more']),
      expected:
        'Error: the arguments do not fit search.\n- query: missing\n- and 3 more\nParameters:\n- query (string, required)',
    },
    {
      title: 'unfit arguments of a tool that takes none',
      text: unfitArgumentsText(toolSpec({ parameters: null }), ['x: unknown property']),
      expected: 'Error: the arguments do not fit search.\n- x: unknown property\nParameters: none',
    },
    { title: 'an error', text: toolErrorText('no such city'), expected: 'Error: no such city' },
    {
      title: 'a long error',
      text: toolErrorText('x'.repeat(3000)),
      expected: `Error: ${'x'.repeat(2000)}`,
    },
    {
      title: 'a timeout',
      text: toolTimeoutText('search', 2500),
      expected: 'Error: search did not finish within 2.5 s.',
    },
    {
      title: 'an unknown outcome',
      text: unknownOutcomeText('book'),
      expected: 'Error: it is unknown whether book took effect. Find out before you call it again.',
    },
    {
      title: 'no JSON',
      text: notJsonText('search', 'rows[0]', 'Map'),
      expected: 'Error: the result of search is not JSON: rows[0] is Map.',
    },
    {
      title: 'canceled',
      text: canceledCallText,
      expected: 'Error: canceled before it finished.',
    },
  ])('$title', ({ text, expected }) => {
    expect(text).toBe(expected);
  });
});
