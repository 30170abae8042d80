/** Calls of tools that would end or block their worker, and what the model reads of each. */
export const ISOLATED_CALLS: readonly {
  readonly tool: 'thread' | 'process' | 'scatter';
  readonly args: { readonly what?: string; readonly ms?: number };
  readonly outcome: 'ok' | 'error';
  readonly text: string;
}[] = [
  { tool: 'scatter', args: {}, outcome: 'ok', text: 'scattered' },
  ...(['thread', 'process'] as const).flatMap((tool) => [
    { tool, args: { what: 'report' }, outcome: 'ok', text: 'reported' } as const,
    {
      tool,
      args: { what: 'exit' },
      outcome: 'error',
      text: `Error: the ${tool} of ${tool} ended with exit code 3`,
    } as const,
    { tool, args: { what: 'heap' }, outcome: 'error', text: 'its heap of 64 MB' } as const,
    { tool, args: { what: 'block', ms: 6_000 }, outcome: 'ok', text: 'slept' } as const,
    { tool, args: { what: 'throw' }, outcome: 'error', text: 'Error: no stock' } as const,
    {
      tool,
      args: { what: 'loop' },
      outcome: 'error',
      text: `Error: ${tool} did not finish within 10 s.`,
    } as const,
  ]),
];
