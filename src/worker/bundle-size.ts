/**
 * What makes the workflow bundle small and fast: modern syntax, no code that nobody uses, no long
 * names. A worker reads the whole bundle at its start, and its sandbox keeps the text.
 *
 * Names that may be those of workflows stay, since the SDK finds the type of a child workflow by the
 * name of the function that it is given. The source map stays right.
 */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { BundleOptions } from '@temporalio/worker';

/** What the bundler is configured with. */
type WebpackConfig = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

/** One of the bundler's plugins, written as a function. */
type Plugin = Extract<NonNullable<WebpackConfig['plugins']>[number], (...args: never[]) => unknown>;

/** The bundler at work on one bundle. */
type Compilation = Parameters<
  Parameters<Parameters<Plugin>[0]['hooks']['compilation']['tap']>[1]
>[0];

/** The part of swc that is used. */
interface Swc {
  minify(code: string, options: object): Promise<{ readonly code: string; readonly map?: string }>;
}

/** Folders of modules that export no workflow. */
const WITHOUT_WORKFLOWS: readonly string[] = ['../core/', '../lisp/'].map((folder) =>
  fileURLToPath(new URL(folder, import.meta.url)),
);

/** The bundler's configuration with the settings of this file. */
export function smallAndModern(config: WebpackConfig): WebpackConfig {
  return {
    ...keepSyntax(config),
    output: { ...config.output, pathinfo: false },
    optimization: {
      ...config.optimization,
      moduleIds: 'deterministic',
      providedExports: true,
      usedExports: true,
      mangleExports: 'size',
      innerGraph: true,
      sideEffects: true,
    },
    plugins: [...(config.plugins ?? []), minify],
  };
}

/**
 * Compiles TypeScript to the syntax that Node 20 has. The SDK's default, ES2017, turns each spread of
 * an object into a call with property descriptors, which the state of a run pays for at every event.
 */
function keepSyntax(config: WebpackConfig): WebpackConfig {
  const rules = (config.module?.rules ?? []).map((rule) => {
    if (typeof rule !== 'object' || rule === null || typeof rule.use !== 'object') return rule;
    const { use } = rule;
    if (use === null || !('options' in use) || typeof use.options !== 'object') return rule;
    const options = use.options as { readonly jsc?: object };
    if (options.jsc === undefined) return rule;
    const jsc = { ...options.jsc, target: 'es2022' };
    return { ...rule, use: { ...use, options: { ...options, jsc } } };
  });
  return { ...config, module: { ...config.module, rules } };
}

/** Rewrites what the bundler made, with the swc that the SDK compiles TypeScript with. */
const minify: Plugin = (compiler) => {
  const { Compilation, sources } = compiler.webpack;
  const stage = Compilation.PROCESS_ASSETS_STAGE_OPTIMIZE_SIZE;
  const require = createRequire(createRequire(import.meta.url).resolve('@temporalio/worker'));
  const swc = require('@swc/core') as Swc;
  compiler.hooks.compilation.tap('everloop', (compilation) => {
    compilation.hooks.processAssets.tapPromise({ name: 'everloop', stage }, async (assets) => {
      const reserved = namesToKeep(compilation);
      for (const [name, asset] of Object.entries(assets)) {
        const { source, map } = asset.sourceAndMap();
        const small = await swc.minify(source.toString(), {
          compress: { keep_classnames: true },
          mangle: { keep_classnames: true, reserved },
          module: false,
          sourceMap: { content: JSON.stringify(map) },
        });
        const mapped = new sources.SourceMapSource(small.code, name, small.map);
        compilation.updateAsset(name, mapped);
      }
    });
  });
};

/** What modules export that may hold workflows: all but those of the core and the language. */
function namesToKeep({ modules, moduleGraph }: Compilation): readonly string[] {
  const names = [...modules].flatMap((module) => {
    const path = module.nameForCondition() ?? '';
    if (WITHOUT_WORKFLOWS.some((folder) => path.startsWith(folder))) return [];
    const provided = moduleGraph.getExportsInfo(module).getProvidedExports();
    return Array.isArray(provided) ? provided : [];
  });
  return [...new Set(names)];
}
