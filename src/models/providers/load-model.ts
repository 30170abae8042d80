/**
 * Loads models that are named by their provider, such as `openai/gpt-5-mini`, when they are first
 * called. Their packages are the user's, so they are looked for from the user's folders.
 */
import { defined } from '../../core/base/defined.ts';
import { pathToFileURL } from 'node:url';
import { LRUCache } from 'lru-cache';
import { errorText } from '../../core/base/error-text.ts';
import type { LanguageModel } from '../../define/model/language-model.ts';
import type { CalledEntry, ModelEntry } from '../../define/model/model-entry.ts';
import { absentPackage, findPackage } from './find-package.ts';
import {
  namedModel,
  PROVIDER_NAMES,
  type ProviderModel,
  type NamedProvider,
} from '../../define/model/provider-models.ts';

/** A model of this worker whose provider's package is absent or does not load. */
class ProviderPackageError extends Error {
  override readonly name = 'ProviderPackageError';
}

/** Ids come from whoever starts runs, so not all models are kept. */
const MAX_MODELS = 256;

const loaded = new LRUCache<string, LanguageModel>({ max: MAX_MODELS });

/**
 * `entry` with its model, which is loaded if it is named by its provider.
 *
 * @throws ProviderPackageError when the package is absent, or does not load.
 */
export async function withModel(
  entry: ModelEntry,
  folders: readonly string[],
): Promise<CalledEntry> {
  const { model, price, ...others } = entry;
  const rest = { ...others, ...defined({ price: price ?? undefined }) };
  if (typeof model !== 'string') return { ...rest, model };
  const known = loaded.get(model);
  if (known !== undefined) return { ...rest, model: known };
  const named = namedModel(model);
  if (named === undefined) throw new ProviderPackageError(unknownProvider(model));
  const language = await load(named, packageFile(model, named, folders));
  loaded.set(model, language);
  return { ...rest, model: language };
}

/** Why the model of `entry` cannot be loaded; undefined if it can, or is not loaded by its name. */
export function packageProblem(
  { model }: ModelEntry,
  folders: readonly string[],
): string | undefined {
  const named = typeof model === 'string' ? namedModel(model) : undefined;
  if (typeof model !== 'string' || named === undefined) return undefined;
  return findPackage(named, folders) === undefined
    ? absentPackage(model, named, folders)
    : undefined;
}

async function load(
  { package: name, exportName, modelId }: ProviderModel,
  file: string,
): Promise<LanguageModel> {
  let exported: Readonly<Record<string, unknown>>;
  try {
    exported = (await import(
      /* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */
      pathToFileURL(file).href
    )) as typeof exported;
  } catch (error) {
    const message = `Expected the package \`${name}\` to load, got: ${errorText(error)}`;
    throw Object.assign(new ProviderPackageError(message), { cause: error });
  }
  const provider = exported[exportName] as ProviderFunction | undefined;
  if (typeof provider?.languageModel === 'function') return provider.languageModel(modelId);
  throw new ProviderPackageError(
    `Expected \`${exportName}\` of the package \`${name}\` to be a provider, got none. Install another version of it.`,
  );
}

/** A provider of either version of the AI SDK. */
interface ProviderFunction {
  languageModel(modelId: string): LanguageModel;
}

function packageFile(id: string, provider: NamedProvider, folders: readonly string[]): string {
  const file = findPackage(provider, folders);
  if (file === undefined) throw new ProviderPackageError(absentPackage(id, provider, folders));
  return file;
}

function unknownProvider(id: string): string {
  return `Expected model \`${id}\` to begin with a provider (${PROVIDER_NAMES.map((name) => `${name}/`).join(', ')}), got another name. Add an entry for it.`;
}
