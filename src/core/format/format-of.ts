import type { FormatSpec } from '../contract/spec.ts';
import { isOwnName } from '../extension/own-parts.ts';
import type { TextFormat } from './format.ts';
import { markdownFormat } from './markdown.ts';
import { ownFormat } from './own-format.ts';
import { xmlFormat } from './xml.ts';

type BuiltIn = Exclude<FormatSpec['kind'], `own:${string}`>;

const formats: Readonly<Record<BuiltIn, (options: FormatSpec) => TextFormat>> = {
  xml: xmlFormat,
  markdown: markdownFormat,
};

/** The format that a specification names. Throws for an own one that is not added. */
export function formatOf(spec: FormatSpec): TextFormat {
  return isOwnName(spec.kind) ? ownFormat(spec) : formats[spec.kind as BuiltIn](spec);
}
