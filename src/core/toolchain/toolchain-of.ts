import type { ToolchainSpec } from '../contract/spec.ts';
import { jsonToolchain } from './json-calls.ts';
import { nativeToolchain } from './native-calls.ts';
import type { Toolchain } from './toolchain.ts';
import { yamlToolchain } from './yaml-calls.ts';

const toolchains: Readonly<Record<ToolchainSpec['kind'], () => Toolchain>> = {
  yaml: yamlToolchain,
  json: jsonToolchain,
  native: nativeToolchain,
};

/** The toolchain that a specification names. */
export function toolchainOf(spec: ToolchainSpec): Toolchain {
  return toolchains[spec.kind]();
}
