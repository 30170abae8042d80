/**
 * Chooses keys by tenants: the part of a run's id before the first `:`, as in `acme:order-7`. The
 * ledger of a tenant, `~tenant:acme`, is the tenant's too; the counter of a rate is nobody's.
 */
import { ownName } from '../core/base/ids.ts';
import { tenantOfId } from '../core/tenant/tenant.ts';
import type { KeyFor } from './asked-keys.ts';
import type { KeyRing } from './key-ring.ts';

/** The rule that gives each tenant keys of its own. */
export type TenantRule = 'tenant';

/**
 * The first key of `keys` with the name of the tenant, as `acme` or `acme/2026-11`. A tenant without
 * one has no other key in its place: what one key too many has encrypted, deleting the tenant's own
 * would not destroy.
 */
export function keyForTenants(keys: KeyRing): KeyFor {
  return ({ workflowId }) => {
    const tenant = ownName('ledger', workflowId) ?? tenantOfId(workflowId);
    if (tenant === undefined) return undefined;
    return keys.ids?.find((id) => id === tenant || id.startsWith(`${tenant}/`)) ?? tenant;
  };
}

/** The rule of `EVERLOOP_KEY_FOR`; undefined if it is not set. A problem goes to `report`. */
export function ruleOfEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  report: (problem: string) => void,
): TenantRule | undefined {
  const text = env['EVERLOOP_KEY_FOR']?.trim() ?? '';
  if (text === '' || text === 'tenant') return text === '' ? undefined : text;
  report(
    `Expected \`EVERLOOP_KEY_FOR\` to be \`tenant\`, got \`${text.slice(0, 200)}\`. Correct or unset it.`,
  );
  return undefined;
}
