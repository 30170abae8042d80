/** Ids of what belongs to a tenant, as a client makes or refuses them. */
import { UsageError } from '../../core/base/usage-error.ts';
import { idOfTenant } from '../../core/tenant/tenant.ts';
import { shown } from '../../core/text/shown.ts';

/**
 * The id of a run, a fork or a schedule of `tenant`: `id`, with the tenant before it.
 *
 * @throws UsageError `invalid_input` if `id` begins with another tenant.
 */
export function idInTenant(what: 'run' | 'fork' | 'schedule', tenant: string, id: string): string {
  const whole = idOfTenant(tenant, id);
  if (whole !== null) return whole;
  throw new UsageError(
    'invalid_input',
    `Expected the id of a ${what} of tenant \`${tenant}\` to have no \`:\`, or to begin with \`${tenant}:\`, got ${shown(id)}. Choose another id.`,
  );
}
