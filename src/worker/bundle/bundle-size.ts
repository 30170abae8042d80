/**
 * Makes the workflow bundle small and fast: modern syntax, no unused code, short names. A worker
 * reads the whole bundle at its start, and its sandbox keeps the text.
 *
 * Names of possible workflows stay, because the SDK derives the type of a child workflow from the
 * name of its function. The source map stays correct.
 */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { BundleOptions } from '@temporalio/worker';

/** The configuration of the bundler. */
type WebpackConfig = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

/** A plugin of the bundler, as a function. */
type Plugin = Extract<NonNullable<WebpackConfig['plugins']>[number], (...args: never[]) => unknown>;

/** One compilation of the bundler. */
type Compilation = Parameters<
  Parameters<Parameters<Plugin>[0]['hooks']['compilation']['tap']>[1]
>[0];

/** A module of the bundle. */
type Module = Compilation['modules'] extends Set<infer M> ? M : never;

/** The part of swc that is used. */
interface Swc {
  minify(code: string, options: object): Promise<{ readonly code: string; readonly map?: string }>;
}

/** Where our own modules are, apart from the entries. */
const OWN_MODULES: readonly string[] = [
  '../../core/',
  '../../lisp/',
  '../../lisp.',
  '../../workflows/',
].map(pathBeside);

/** Those of them that export workflows: beginnings of their paths. */
const OWN_WORKFLOWS: readonly string[] = [
  '../../workflows/index.',
  '../../workflows/agent.',
  '../../workflows/callbacks/deliver-callbacks.',
  '../../workflows/forks/read-moment.',
  '../../workflows/tenants/tenant.',
  '../../workflows/tenants/rate.',
].map(pathBeside);

/** Files of the packages that our own modules and the SDK bring. */
const PACKAGES =
  /[/\\]node_modules[/\\](?:@temporalio[/\\](?:common|workflow)|long|ms|nexus-rpc|yaml)[/\\]/;

/** Adds the settings of this file to the bundler's configuration. */
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
      concatenateModules: true,
    },
    plugins: [...(config.plugins ?? []), joinOwnModules, minify],
  };
}

/**
 * Compiles TypeScript to the syntax of Node 20. The SDK's default, ES2017, turns each object spread
 * into a call with property descriptors, which slows down every event of a run.
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

/**
 * Lets the bundler join only modules that export no workflow into one scope, which makes calls
 * between them cheaper. A joined function may get another name, so modules that may have workflows
 * are left alone.
 */
const joinOwnModules: Plugin = (compiler) => {
  compiler.hooks.compilation.tap('everloop', (compilation) => {
    compilation.hooks.finishModules.tap('everloop', (modules) => {
      for (const module of modules) {
        if (hasNoWorkflows(module)) continue;
        module.getConcatenationBailoutReason = () => 'It may hold workflows.';
      }
    });
  });
};

/** Minifies the bundle with swc, which the SDK has for TypeScript. */
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

/** The exports of modules that may have workflows. */
function namesToKeep({ modules, moduleGraph }: Compilation): readonly string[] {
  const names = [...modules].flatMap((module) => {
    if (hasNoWorkflows(module)) return [];
    const provided = moduleGraph.getExportsInfo(module).getProvidedExports();
    return Array.isArray(provided) ? provided : [];
  });
  return [...new Set(names)];
}

function hasNoWorkflows(module: Module): boolean {
  const path = module.nameForCondition() ?? '';
  const isIn = (start: string): boolean => path.startsWith(start);
  return PACKAGES.test(path) || (OWN_MODULES.some(isIn) && !OWN_WORKFLOWS.some(isIn));
}

function pathBeside(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
