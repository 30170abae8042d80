/** How a worker names itself to the service: `4711@host/node-22/everloop-0.1.0/4f2a9c1/1a2b3c4d`. */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { VERSION } from '../../core/base/version.ts';
import type { Registry } from '../../define/definition/definitions.ts';
import type { WorkerVersion } from '../../versioning/worker-version.ts';

/**
 * Process and host, then the major version of Node, the version of Everloop, the build (`-`: none), and 8 digits that follow
 * from the agents' names and specifications. Operators compare workers by it.
 */
export function identityOf({ agents }: Registry, version: WorkerVersion | undefined): string {
  const specs = [...agents]
    .map(([name, { definition }]) => `${name} ${JSON.stringify(definition.spec)}`)
    .toSorted();
  const digest = createHash('sha256').update(specs.join('\n')).digest('hex').slice(0, 8);
  const [node = ''] = process.versions.node.split('.');
  const parts = [`node-${node}`, `everloop-${VERSION}`, version?.build ?? '-', digest];
  return [`${process.pid}@${hostname()}`, ...parts].join('/');
}
