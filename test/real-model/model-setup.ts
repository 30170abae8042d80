/**
 * What all tests of `npm run test:real-model` share: a real model, served on this machine, as `realModel`,
 * and a Temporal server.
 */
import type { TestProject } from 'vitest/node';
import { setUp } from '../support/server-setup.ts';
import { startTestServer } from '../support/test-server.ts';
import { startLlamaServer } from './llama-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of llama.cpp's server: `http://127.0.0.1:41233`. */
    readonly realModel: string;
  }
}

/** Called by vitest before the first test; what it returns is called at the end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const model = await startLlamaServer();
  project.provide('realModel', model.url);
  try {
    const end = await setUp(project, startTestServer);
    return async () => {
      await end();
      await model.stop();
    };
  } catch (error) {
    await model.stop();
    throw error;
  }
}
