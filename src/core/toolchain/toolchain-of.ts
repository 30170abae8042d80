import type { ToolchainSpec } from '../contract/spec.ts';
import { isOwnName } from '../extension/own-parts.ts';
import { jsonToolchain } from './json-calls.ts';
import { nativeToolchain } from './native-calls.ts';
import { ownToolchain } from './own-calls.ts';
import type { Toolchain } from './toolchain.ts';
import { yamlToolchain } from './yaml-calls.ts';

type BuiltIn = Exclude<ToolchainSpec['kind'], `own:${string}`>;

const toolchains: Readonly<Record<BuiltIn, () => Toolchain>> = {
  yaml: yamlToolchain,
  json: jsonToolchain,
  native: nativeToolchain,
};

/** The toolchain that a specification names. Throws for an own one that is not added. */
export function toolchainOf(spec: ToolchainSpec): Toolchain {
  return isOwnName(spec.kind) ? ownToolchain(spec) : toolchains[spec.kind as BuiltIn]();
}

/**
 * The toolchain by which a worker measures results. It does not call the code of authors, so results
 * of their toolchains are measured as JSON.
 */
export function measuringToolchain(spec: ToolchainSpec): Pick<Toolchain, 'write'> {
  return isOwnName(spec.kind) ? nativeToolchain() : toolchainOf(spec);
}
