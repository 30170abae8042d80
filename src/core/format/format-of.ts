import type { FormatSpec } from '../contract/spec.ts';
import type { TextFormat } from './format.ts';
import { markdownFormat } from './markdown.ts';
import { xmlFormat } from './xml.ts';

const formats: Readonly<Record<FormatSpec['kind'], (options: FormatSpec) => TextFormat>> = {
  xml: xmlFormat,
  markdown: markdownFormat,
};

/** The format that a specification names. */
export function formatOf(spec: FormatSpec): TextFormat {
  return formats[spec.kind](spec);
}
