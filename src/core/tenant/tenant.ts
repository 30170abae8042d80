/**
 * Tenants: the customers that share a fleet. The tenant of a run is the first part of its id, as in
 * `acme:order-7`, so that keys, lists and schedules can go by it. No other id begins so.
 */
import { shown } from '../text/shown.ts';

/** Characters of a tenant's name: it is a fairness key, which the service keeps in 64 bytes. */
const MAX_TENANT = 63;

/** A name is a part of ids, of lists and of the names of keys. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Kinds of Everloop's own workflows: in a list, a run of such a tenant would look like one. */
const RESERVED: readonly string[] = ['tenant', 'rate'];

/** Why `value` cannot be the name of a tenant, in one sentence; undefined if it can. */
export function tenantProblem(value: unknown): string | undefined {
  const isText = typeof value === 'string' && value.length <= MAX_TENANT && NAME.test(value);
  if (!isText) {
    return `Expected a tenant of 1 to ${MAX_TENANT} letters, digits, \`.\`, \`_\` and \`-\`, the first a letter or a digit, got ${shown(value)}. Choose another.`;
  }
  return RESERVED.includes(value)
    ? `Expected a tenant other than ${RESERVED.map((name) => `\`${name}\``).join(' and ')}, got \`${value}\`. Choose another.`
    : undefined;
}

/** The id of a run of a schedule without a tenant: its first `:` is one of a time. */
const SCHEDULED = /^[^:]*-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/;

/** What the id of `id` has before its first `:`; undefined if that names no tenant. */
export function tenantOfId(id: string): string | undefined {
  const end = id.indexOf(':');
  if (end < 1 || SCHEDULED.test(id)) return undefined;
  const name = id.slice(0, end);
  return tenantProblem(name) === undefined ? name : undefined;
}

/** The id of a run of `tenant`: `id`, with the tenant before it. Null if `id` is another tenant's. */
export function idOfTenant(tenant: string, id: string): string | null {
  if (id.startsWith(`${tenant}:`)) return id;
  return id.includes(':') ? null : `${tenant}:${id}`;
}

/** Why a run with this id cannot be of `tenant`, or of none; undefined if it can. */
export function foreignIdProblem(tenant: unknown, id: string): string | undefined {
  if (tenant === undefined) return tenantlessIdProblem(id);
  const problem = tenantProblem(tenant);
  const name = typeof tenant === 'string' ? tenant : '';
  if (problem !== undefined || id.startsWith(`${name}:`)) return problem;
  return `Expected the id of a run of tenant \`${name}\` to begin with \`${name}:\`, got ${shown(id)}. Choose another id.`;
}

/** Keys, lists and the turns of a tenant go by ids, so only runs of the tenant have its ids. */
function tenantlessIdProblem(id: string): string | undefined {
  const reserved = RESERVED.find((name) => id.startsWith(`${name}:`));
  if (reserved !== undefined) {
    return `Expected an id that begins otherwise than \`${reserved}:\`, got ${shown(id)}. Choose another.`;
  }
  const named = tenantOfId(id);
  return named === undefined
    ? undefined
    : `Expected tenant \`${named}\` for the id ${shown(id)}, got none. Name the tenant, or choose an id that begins with none.`;
}
