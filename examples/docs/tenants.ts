/** The examples of docs/tenants.md: many customers on one fleet. */
import {
  defineAgent,
  type AgentDefinition,
  type Everloop,
  type ModelFunction,
  type RunHandle,
  type RunSummary,
  type TenantView,
} from '../../src/index.ts';

/** Starts a run of a tenant, and lists the runs of the tenant. */
export async function startFor(
  everloop: Everloop,
): Promise<{ readonly run: RunHandle; readonly runs: readonly RunSummary[] }> {
  // #region start
  const run = await everloop.start('clerk', { tenant: 'acme', id: 'order-7', task: 'Ship it' });
  // run.id is 'acme:order-7'
  const runs = await everloop.list({ tenant: 'acme' });
  // #endregion
  return { run, runs };
}

/** Sets what a tenant may do. */
export async function bound(everloop: Everloop): Promise<TenantView | null> {
  // #region set
  await everloop.tenants.set('acme', {
    concurrency: 20,
    perDay: { costUsd: 50, totalTokens: 10_000_000 },
    timeZone: 'Europe/Vienna',
    weight: 2,
  });
  const view = await everloop.tenants.show('acme');
  // #endregion
  return view;
}

/** An agent whose provider takes so much in a minute. */
export function paced(model: ModelFunction): AgentDefinition {
  // #region rate
  const clerk = defineAgent({
    name: 'clerk',
    mode: 'text',
    model: {
      id: 'provider/model',
      model,
      rate: { requestsPerMinute: 500, tokensPerMinute: 200_000 },
    },
  });
  // #endregion
  return clerk;
}

/** An agent whose provider takes so many requests at once. */
export function limited(model: ModelFunction): AgentDefinition {
  // #region concurrency
  const clerk = defineAgent({
    name: 'clerk',
    mode: 'text',
    model: { id: 'local/model', model, rate: { concurrency: 8 } },
  });
  // #endregion
  return clerk;
}
