import { expect, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { NO_EXTENSIONS, type Extensions } from '../../src/core/extension/store.ts';
import { missingPartWarnings } from '../../src/registry/missing-parts.ts';
import { createRegistry } from '../../src/registry/registry.ts';

const model = (): Promise<string> => Promise.resolve('');
const agents = [
  defineAgent({ name: 'plain', mode: 'react', model }),
  defineAgent({ name: 'speaker', mode: 'react', model, format: 'own:brakets' }),
];
const some: Extensions = {
  find: (kind, name) => (kind === 'formats' && name === 'brackets' ? {} : undefined),
  names: (kind) => (kind === 'formats' ? ['brackets'] : []),
};

it('a worker warns of agents whose own parts its module lacks', () => {
  const registry = createRegistry({ agents });

  expect(missingPartWarnings({ ...registry, extensions: some })).toEqual([
    'Expected format `own:brakets` of agent `speaker` to be added by `extend` in the module of `workflowsPath`, which has own:brackets. Did you mean `own:brackets`? Its runs wait for another worker.',
  ]);
  expect(missingPartWarnings({ ...registry, extensions: NO_EXTENSIONS }).join()).toContain(
    'which has none.',
  );
  expect(missingPartWarnings({ ...registry, extensions: { ...some, find: () => ({}) } })).toEqual(
    [],
  );
});
