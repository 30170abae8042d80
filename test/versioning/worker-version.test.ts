import { describe, expect, it } from 'vitest';
import type { Client } from '@temporalio/client';
import { createDeployment } from '../../src/versioning/deployment.ts';
import { checkedVersion } from '../../src/versioning/worker-version.ts';

describe('checkedVersion', () => {
  it.each(['4f2a9c1', '2026-11-22.1', '1.4.0+linux@main/7'])('takes the build %s', (build) => {
    expect(checkedVersion({ build })).toEqual({ name: 'everloop', build });
  });

  it.each([
    { version: {}, got: 'the build of a version to be a text, got none' },
    { version: { build: '' }, got: /the build of a version to be 1 to 100 letters.*got ""/ },
    { version: { build: "v'1" }, got: /the build of a version/ },
    { version: { build: 'v:1' }, got: /the build of a version/ },
    { version: { build: 'x'.repeat(201) }, got: /the build of a version/ },
    { version: { name: 'a.b', build: 'v1' }, got: /the name of a deployment .*got "a\.b"/ },
    { version: { name: '__fleet', build: 'v1' }, got: /the name of a deployment/ },
  ])('refuses $version', ({ version, got }) => {
    expect(() => checkedVersion(version)).toThrow(got);
  });
});

describe('createDeployment', () => {
  const client = {} as Client;

  it('refuses a name that the service could not take', () => {
    expect(() => createDeployment({ client, name: 'my fleet' })).toThrow(
      /the name of a deployment .*got "my fleet"/,
    );
  });

  it.each([-1, 101, Number.NaN])('refuses a ramp of %s percent', async (ramp) => {
    await expect(createDeployment({ client }).promote('v1', { ramp })).rejects.toMatchObject({
      code: 'number',
    });
  });

  it('refuses a build before it asks the service', async () => {
    await expect(createDeployment({ client }).drain('v:1')).rejects.toMatchObject({
      code: 'worker_version',
    });
  });
});
