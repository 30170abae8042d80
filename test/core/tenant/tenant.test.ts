import { describe, expect, it } from 'vitest';
import {
  foreignIdProblem,
  idOfTenant,
  tenantOfId,
  tenantProblem,
} from '../../../src/core/tenant/tenant.ts';

describe('the name of a tenant', () => {
  it.each(['a', 'acme', 'Acme-2.eu_west', '9lives', 'x'.repeat(63)])('may be %s', (name) => {
    expect(tenantProblem(name)).toBeUndefined();
  });

  it.each([
    ['', '""'],
    ['x'.repeat(64), `"${'x'.repeat(64)}"`],
    ['a:b', '"a:b"'],
    ['-acme', '"-acme"'],
    ['größe', '"größe"'],
    ['a b', '"a b"'],
    ['a/b', '"a/b"'],
    ['acme\n', '"acme\\n"'],
    [7, '7'],
    [null, 'null'],
    [{ toString: () => 'acme' }, '{}'],
  ])('may not be %j', (name, got) => {
    expect(tenantProblem(name)).toBe(
      `Expected a tenant of 1 to 63 letters, digits, \`.\`, \`_\` and \`-\`, the first a letter or a digit, got ${got}. Choose another.`,
    );
  });

  it.each(['tenant', 'rate'])('may not be %s, with which ids of ours begin', (name) => {
    expect(tenantProblem(name)).toBe(
      `Expected a tenant other than \`tenant\` and \`rate\`, got \`${name}\`. Choose another.`,
    );
  });
});

describe('the id of a run', () => {
  it('begins with its tenant', () => {
    expect(idOfTenant('acme', 'order-7')).toBe('acme:order-7');
    expect(idOfTenant('acme', 'acme:order-7')).toBe('acme:order-7');
    expect(idOfTenant('acme', 'acme:a:b')).toBe('acme:a:b');
  });

  it.each(['other:order-7', 'acme2:order-7', ':order', 'x:acme:7'])(
    'of tenant acme is not %s',
    (id) => {
      expect(idOfTenant('acme', id)).toBeNull();
      expect(foreignIdProblem('acme', id)).toBe(
        `Expected the id of a run of tenant \`acme\` to begin with \`acme:\`, got "${id}". Choose another id.`,
      );
    },
  );

  it('says whose it is', () => {
    expect(tenantOfId('acme:order-7')).toBe('acme');
    expect(tenantOfId('acme:order:7/2.1')).toBe('acme');
    for (const id of [
      'order-7',
      ':order',
      '~tenant:acme',
      'a b:c',
      '~rate:m',
      'n-2026-11-28T12:00:00Z',
    ]) {
      expect(tenantOfId(id)).toBeUndefined();
    }
  });

  it('is of nobody without a tenant', () => {
    expect(foreignIdProblem(undefined, 'order-7')).toBeUndefined();
    expect(foreignIdProblem(undefined, 'nightly-2026-11-28T12:00:00Z-fork-1')).toBeUndefined();
    expect(foreignIdProblem(undefined, 'other:7')).toBe(
      'Expected tenant `other` for the id "other:7", got none. Name the tenant, or choose an id that begins with none.',
    );
    expect(foreignIdProblem(undefined, 'rate:m')).toBe(
      'Expected an id that begins otherwise than `rate:`, got "rate:m". Choose another.',
    );
    expect(foreignIdProblem('acme', 'acme:7/1.1')).toBeUndefined();
    expect(foreignIdProblem('a b', 'a b:7')).toContain('Expected a tenant of');
  });
});
