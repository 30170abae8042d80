/** What the server of fixtures says of the console, its workers and its agents. */
import type { AgentCard } from '../../../src/console/api.ts';
import { FIXTURE_NOW } from './fixture-data.ts';

/** The answer to GET /meta. */
export const META: object = {
  version: '0.1.0',
  address: '127.0.0.1:7233',
  namespace: 'default',
  temporalUi: 'http://127.0.0.1:8233',
  role: 'operate',
  user: null,
  abilities: { events: 'pushed', agents: true, workers: true },
  at: FIXTURE_NOW,
};

/** The answer to GET /workers. */
export const WORKERS: readonly object[] = [
  {
    identity: '15466@machine',
    taskQueue: 'everloop',
    lastContact: FIXTURE_NOW - 800,
    agents: ['airline', 'clerk'],
  },
  {
    identity: '15401@machine',
    taskQueue: 'everloop',
    lastContact: FIXTURE_NOW - 140_000,
    agents: ['airline'],
  },
];

/** The links of every run. */
export const LINKS: readonly object[] = [
  {
    number: 1,
    executionId: '0198-aaaa-4c9d',
    startedAt: FIXTURE_NOW - 120_000,
    closedAt: null,
    events: 101,
    bytes: 34_611,
  },
];

const SCHEMA = {
  type: 'object',
  properties: { order: { type: 'string' }, amount: { type: 'number' } },
};

const PARAMETERS = {
  type: 'object',
  required: ['month'],
  properties: {
    month: { type: 'string', enum: ['april', 'may'], description: 'The month of the orders.' },
    most: { type: 'number', description: 'Refunds at most so much, in EUR.' },
    except: { type: 'array' },
  },
};

/** The answer to GET /agents. */
export const AGENTS: readonly AgentCard[] = ['airline', 'clerk', 'research'].map((name) => ({
  name,
  description:
    name === 'clerk'
      ? 'Refunds orders that came late, with a program; each refund waits for a person.'
      : 'Answers with its tools, and says what it looked up.',
  mode: name === 'clerk' ? 'lisp' : name === 'research' ? 'chat' : 'react',
  models: ['demo/scripted'],
  servers: [],
  hasPreview: true,
  signature: '(task: string) -> (answer: string)',
  parameters: name === 'clerk' ? PARAMETERS : null,
  tools: [
    { name: 'orders', description: 'Lists the orders of a month.', effect: 'read', schema: SCHEMA },
    {
      name: 'refund',
      description: 'Refunds an order.',
      effect: 'once',
      approval: true,
      schema: SCHEMA,
    },
  ],
  limits: [
    { kind: 'exact', key: 'agent:total_tokens', max: 50_000 },
    { kind: 'exact', key: 'agent:cost_microusd', max: 500_000, byDefault: true },
  ],
}));

/** The agent of this name. */
export function agentNamed(name: string): AgentCard | undefined {
  return AGENTS.find((agent) => agent.name === name);
}
