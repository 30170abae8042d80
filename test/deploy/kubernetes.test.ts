import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Deployment } from 'kubernetes-models/apps/v1';
import { Job } from 'kubernetes-models/batch/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, PersistentVolumeClaim, Service } from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { configOf } from '../../src/worker/config/config-of.ts';

const FILE = fileURLToPath(new URL('../../config/kubernetes/worker.yaml', import.meta.url));

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The models of what the file has; each checks against the schema of its API. */
const MODELS: Readonly<Record<string, new (manifest: never) => { validate(): void }>> = {
  'v1/ConfigMap': ConfigMap,
  'v1/PersistentVolumeClaim': PersistentVolumeClaim,
  'v1/Service': Service,
  'apps/v1/Deployment': Deployment,
  'batch/v1/Job': Job,
  'policy/v1/PodDisruptionBudget': PodDisruptionBudget,
};

const manifests = parseAllDocuments(readFileSync(FILE, 'utf8')).map((document): Manifest => {
  expect(document.errors).toEqual([]);
  return document.toJS() as Manifest;
});

function manifestOf(kind: string): unknown {
  return manifests.find((one) => one.kind === kind);
}

const settings = (manifestOf('ConfigMap') as { readonly data: Readonly<Record<string, string>> })
  .data;
const { spec } = manifestOf('Deployment') as {
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly spec: { readonly terminationGracePeriodSeconds: number } };
  };
};

describe('config/kubernetes/worker.yaml', () => {
  it.each(manifests)('fits the schema of its API: $kind', (manifest) => {
    const Model = MODELS[`${manifest.apiVersion}/${manifest.kind}`];
    if (Model === undefined) throw new Error(`Expected a model of ${manifest.kind}.`);

    expect(() => new Model(manifest as never).validate()).not.toThrow();
  });

  it('would not fit with a wrong field', () => {
    const wrong = { ...(manifestOf('Deployment') as object), spec: { replicas: 'two' } };

    expect(() => new Deployment(wrong as never).validate()).toThrow();
  });

  it('sets the namespace up, with the image and the settings of the workers', () => {
    interface Pods {
      readonly spec: { readonly template: { readonly spec: PodSpec } };
    }
    interface PodSpec {
      readonly containers: readonly {
        readonly image: string;
        readonly command?: readonly string[];
        readonly envFrom: unknown;
      }[];
    }
    const [[job], [worker]] = ['Job', 'Deployment'].map(
      (kind) => (manifestOf(kind) as Pods).spec.template.spec.containers,
    ) as [PodSpec['containers'], PodSpec['containers']];

    expect(job?.command?.at(-1)).toBe('setup');
    expect([job?.image, job?.envFrom]).toEqual([worker?.image, worker?.envFrom]);
  });

  it('has settings that a worker reads, and leaves it time to stop', () => {
    const env = { ...settings, EVERLOOP_STREAM_TOKEN: 'a token of sixteen or more' };

    const config = configOf({ env });

    expect(config.shutdownGraceMs).toBeGreaterThanOrEqual(30_000);
    expect(spec.template.spec.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(
      config.shutdownGraceMs,
    );
    expect(spec.replicas).toBeGreaterThanOrEqual(2);
  });
});
