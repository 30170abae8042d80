/** The examples of docs/protection.md; test/docs/protection.test.ts runs them. */
import { Hono, type MiddlewareHandler } from 'hono';
import {
  defineAgent,
  type AgentDefinition,
  type AgentModel,
  keyRing,
  type connect as connectToService,
  type ConnectedEverloop,
  type KeyRing,
  type ProtectionOptions,
} from '../../src/index.ts';
import { codecHandler, type runWorker as serveAgents } from '../../src/worker.ts';

/** A client with two keys, of which the newer encrypts. */
export async function connectWith(
  connect: typeof connectToService,
  k2: Uint8Array,
  k1: Uint8Array,
): Promise<ConnectedEverloop> {
  // #region connect
  const everloop = await connect({
    protection: { keys: keyRing({ current: 'k2', keys: { k2, k1 } }) },
  });
  // #endregion
  return everloop;
}

/** A key for each tenant, and one for all other runs. */
export function protectionOfTenants(
  shared: Uint8Array,
  acme: Uint8Array,
  globex: Uint8Array,
): ProtectionOptions {
  // #region tenants
  const protection: ProtectionOptions = {
    keys: keyRing({ current: 'shared', keys: { shared, acme, globex } }),
    keyFor: 'tenant',
  };
  // #endregion
  return protection;
}

/** Keys that a service decrypts. */
export function keysOfService(decryptDataKey: (id: string) => Promise<Uint8Array>): KeyRing {
  // #region service
  const keys: KeyRing = {
    current: () => 'k2',
    find: async (id) => await decryptDataKey(id),
  };
  // #endregion
  return keys;
}

/** A codec server in a server of one's own. */
export function serverWithCodec(onlyOurPeople: MiddlewareHandler): Hono {
  // #region handler
  const app = new Hono();
  app.use('/codec/*', onlyOurPeople);
  app.mount('/codec', codecHandler({ origins: ['https://cloud.temporal.io'] }));
  // #endregion
  return app;
}

/** A worker that lets no value of two variables out. */
export async function hideValues(
  runWorker: typeof serveAgents,
  agents: readonly AgentDefinition[],
): Promise<void> {
  // #region secrets
  await runWorker({ agents, secrets: ['STRIPE_KEY', 'DATABASE_URL'] });
  // #endregion
}

/** An agent whose model reads no numbers of cards. */
export function clerkWithout(model: AgentModel): AgentDefinition {
  // #region redact
  const clerk = defineAgent({
    name: 'clerk',
    model,
    instructions: 'Answer questions about payments.',
    redact: (text) => text.replaceAll(/\b\d{4}(?:[ -]?\d{4}){3}\b/g, '[card]'),
  });
  // #endregion
  return clerk;
}
