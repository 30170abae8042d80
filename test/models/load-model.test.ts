import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { modelEntryProblems } from '../../src/define/model/model-problems.ts';
import { packageFolders } from '../../src/models/providers/find-package.ts';
import { withModel } from '../../src/models/providers/load-model.ts';
import { checkPackages } from '../../src/registry/provider-packages.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';

const home = mkdtempSync(join(tmpdir(), 'everloop-packages-'));
afterAll(() => rmSync(home, { recursive: true }));

/** A folder of a user, with a package of a provider. */
function folderWith(name: string, provider: string, source: string): string {
  const folder = join(home, name);
  const root = join(folder, 'node_modules', '@ai-sdk', provider);
  mkdirSync(root, { recursive: true });
  // As the packages of the AI SDK 7 are: modules only.
  const exports = { '.': { import: './index.js', default: './index.js' } };
  const manifest = { name: `@ai-sdk/${provider}`, version: '9.0.0', type: 'module', exports };
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(root, 'index.js'), source);
  return folder;
}

const entryOf = (id: string): { id: string; model: string } => ({ id, model: id });

/** A module of a provider whose models only say what they are. */
const providerOf = (name: string, mark: string): string =>
  `export const ${name} = { languageModel: (modelId) => ({ specificationVersion: 'v4', provider: '${mark}', modelId }) };`;

describe('a model that is named by its provider', () => {
  test('is loaded from the first folder that has the package', async () => {
    const first = folderWith('first', 'groq', providerOf('groq', 'first'));
    const second = folderWith('second', 'groq', providerOf('groq', 'second'));

    const entry = await withModel({ id: 'large', model: 'groq/llama/70b' }, [home, first, second]);

    expect(entry).toEqual({
      id: 'large',
      model: { specificationVersion: 'v4', provider: 'first', modelId: 'llama/70b' },
    });
  });

  test.each(['openai', 'anthropic', 'google'])(
    'is of the package that is installed: %s',
    async (name) => {
      const { model } = await withModel(entryOf(`${name}/m`), packageFolders(undefined));

      expect(model).toMatchObject({ specificationVersion: 'v3', modelId: 'm' });
    },
  );

  test('says what to install when the package is absent', async () => {
    await expect(withModel(entryOf('xai/grok'), [home])).rejects.toThrow(
      `Expected the package \`@ai-sdk/xai\` for model \`xai/grok\` in ${home}, got none. Run \`npm i @ai-sdk/xai\`.`,
    );
  });

  test.each([
    ['throws', 'throw new Error("too old");', /to load, got: .*too old/],
    ['exports no provider', 'export const other = 1;', /to be a provider, got none/],
  ])('says so when the package %s', async (name, source, message) => {
    const folder = folderWith(name, 'cohere', source);

    await expect(withModel(entryOf(`cohere/${name}`), [folder])).rejects.toThrow(message);
  });

  test('needs no entry, and may be a fallback', () => {
    const agent = defineAgent({ name: 'clerk', model: 'openai/gpt-5-mini' });
    const other = { id: 'main', model: async () => '', fallbacks: ['anthropic/claude-sonnet-4-5'] };

    expect(() => createRegistry({ agents: [agent], models: [other] })).not.toThrow();
    expect(() =>
      createRegistry({ agents: [defineAgent({ name: 'clerk', model: 'acme/one' })] }),
    ).toThrow('Expected a model that the worker has');
  });

  test('begins with the name of a provider', () => {
    expect(modelEntryProblems([{ id: 'a', model: 'acme/one' }])).toEqual([
      {
        code: 'model_kind',
        message:
          'Expected `model` of "a" to name a provider and a model, such as `openai/gpt-5-mini`, got "acme/one". Begin with one of anthropic, azure, cohere, deepseek, google, groq, mistral, openai, perplexity, xai, or import the model.',
      },
    ]);
  });
});

describe('a worker', () => {
  const agent = defineAgent({
    name: 'clerk',
    model: { id: 'main', model: 'mistral/large', fallbacks: ['perplexity/sonar'] },
  });

  test('does not start without the packages that its agents name', () => {
    const registry = createRegistry({ agents: [agent] });

    expect(() => checkPackages(registry)).toThrow(
      /Run `npm i @ai-sdk\/mistral`\.\n.*Run `npm i @ai-sdk\/perplexity`\.$/,
    );
  });

  test('looks for them from the folder of its agents first', async () => {
    const folder = folderWith('agents', 'mistral', providerOf('mistral', 'x'));
    folderWith('agents', 'perplexity', providerOf('perplexity', 'y'));
    const agentsModule = pathToFileURL(join(folder, 'agents.ts')).href;

    expect(() => checkPackages(createRegistry({ agents: [agent], agentsModule }))).not.toThrow();
  });

  test('in memory ends a run that needs one, with what to install', async () => {
    const lacking = defineAgent({ name: 'clerk', model: 'cohere/chat' });

    const step = await startInMemory({ agent: lacking, task: 'Hi.' }).result;

    expect(step).toMatchObject({
      status: 'error',
      reason: 'model_error',
      message: expect.stringContaining('npm i @ai-sdk/cohere'),
    });
  });
});
