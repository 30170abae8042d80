/**
 * YAML text as a tree whose scalars keep their source text, so that a schema can decide their type.
 * The only file that parses with the package `yaml`, whose messages never leave it.
 *
 * I1  Refused: a second document, directives, aliases, tags outside the core schema, merge keys,
 *     duplicate keys, keys other than text and numbers, more than 100 levels, more than 256 KB.
 * I2  Nesting is counted on the token stream, before the package recurses over it.
 * I3  Duplicate keys are found here, because the package compares every pair of keys.
 */
import * as yaml from 'yaml';
import { utf8Length } from '../base/json.ts';
import type { ReplyProblem } from '../base/problem.ts';
import { clip } from '../text/cut.ts';
import { maxDepth, maxTextBytes, problemAt } from './json-reader.ts';

/** A node of a document; `offset` is its place in the text, in UTF-16 units. */
export type YamlNode =
  | {
      readonly kind: 'scalar';
      /** The source text, without quotes and block marks. */
      readonly source: string;
      /** Quoted, a block, or tagged `!!str`: always text. */
      readonly isText: boolean;
      readonly offset: number;
    }
  | { readonly kind: 'list'; readonly items: readonly YamlNode[]; readonly offset: number }
  | {
      readonly kind: 'map';
      readonly entries: readonly { readonly key: string; readonly value: YamlNode }[];
      readonly offset: number;
    };

/** The root of a document and the text of its offsets; or all problems, at least one. */
export type YamlTree =
  | { readonly kind: 'tree'; readonly root: YamlNode; readonly text: string }
  | { readonly kind: 'problems'; readonly problems: readonly ReplyProblem[] };

/** Further problems are mostly consequences of the first ones. */
const maxProblems = 20;

const depthProblem: ReplyProblem = {
  code: 'yaml_depth',
  message: `deeper than ${maxDepth} levels`,
};

const advice = 'Quote text that contains ": " or " #", or write it as a "|" block.';

/** The parser's errors in our own words. `yaml` lists these codes in `errors.d.ts`. */
const parserTexts: Readonly<Record<yaml.ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias cannot have a tag or an anchor',
  BAD_ALIAS: 'aliases are not allowed',
  BAD_COLLECTION_TYPE: 'the tag does not fit the value',
  BAD_DIRECTIVE: 'directives are not allowed',
  BAD_DQ_ESCAPE: 'an unknown escape in double quotes',
  BAD_INDENT: 'wrong indentation',
  BAD_PROP_ORDER: 'a tag or an anchor stands in the wrong place',
  BAD_SCALAR_START: 'text cannot start with this character',
  BLOCK_AS_IMPLICIT_KEY: 'a mapping inside a value on one line',
  BLOCK_IN_FLOW: 'a block inside brackets or braces',
  DUPLICATE_KEY: 'the key occurs twice',
  IMPOSSIBLE: 'unreadable text',
  KEY_OVER_1024_CHARS: 'a key longer than 1,024 characters',
  MISSING_CHAR: 'something is not closed, or a ":" is missing',
  MULTILINE_IMPLICIT_KEY: 'a key that runs over several lines',
  MULTIPLE_ANCHORS: 'several anchors on one value',
  MULTIPLE_DOCS: 'a second document',
  MULTIPLE_TAGS: 'several tags on one value',
  NON_STRING_KEY: 'a key that is no text',
  RESOURCE_EXHAUSTION: 'too deep or too large',
  TAB_AS_INDENT: 'a tab as indentation',
  TAG_RESOLVE_FAILED: 'a value that does not fit its tag',
  UNEXPECTED_TOKEN: 'unexpected text',
};

const tagPrefix = 'tag:yaml.org,2002:';

const coreTags: readonly string[] = ['str', 'int', 'float', 'bool', 'null', 'map', 'seq']
  .map((name) => tagPrefix + name)
  // A lone `!` marks text.
  .concat('!');

/** A plain key that is null or a boolean in the core schema. */
const wordKey = /^(?:~|null|Null|NULL|true|True|TRUE|false|False|FALSE|)$/;

interface Walk {
  readonly text: string;
  readonly problems: ReplyProblem[];
}

/**
 * The tree of one YAML 1.2 document in the core schema. Never throws. Measured: 50 to 300 ms per
 * 100 KB.
 *
 * Models indent the content of a tag, and the content of a section is trimmed, which removes the
 * indentation of the first line only. If such a text cannot be read, it is read again with the
 * first line indented like the others.
 */
export function parseYamlTree(text: string): YamlTree {
  const tree = parseDocument(text);
  if (tree.kind === 'tree' || tree.problems[0]?.code !== 'yaml_syntax') return tree;
  const margin = lostMargin(text);
  if (margin === '') return tree;
  const again = parseDocument(margin + text);
  return again.kind === 'tree' ? again : tree;
}

/** The smallest indentation of all lines but the first; empty if they have none. */
function lostMargin(text: string): string {
  const [first = '', ...others] = text.split('\n');
  const widths = others.filter((line) => line.trim() !== '').map((line) => line.search(/[^ ]/));
  const width = widths.reduce((least, each) => Math.min(least, each), Infinity);
  return first.startsWith(' ') || width === Infinity ? '' : ' '.repeat(width);
}

function parseDocument(text: string): YamlTree {
  if (text.length > maxTextBytes || utf8Length(text) > maxTextBytes) {
    return problemsOf({ code: 'yaml_size', message: 'longer than 256 KB' });
  }
  const tokens = tokensOf(text);
  if (tokens === undefined) {
    return problemsOf(depthProblem);
  }
  const directive = tokens.find((token) => token.type === 'directive');
  if (directive !== undefined) {
    const message = parserTexts.BAD_DIRECTIVE;
    return problemsOf(yamlProblem(text, directive.offset, 'yaml_syntax', message));
  }
  const composer = new yaml.Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: false, // I3
    prettyErrors: false,
    logLevel: 'silent',
  });
  const [document, second] = composer.compose(tokens, true, text.length);
  if (document === undefined) return { kind: 'tree', root: emptyScalar(0), text };
  const [error] = document.errors;
  if (error !== undefined) {
    return problemsOf(yamlProblem(text, error.pos[0], 'yaml_syntax', parserTexts[error.code]));
  }
  if (second !== undefined) {
    const offset = second.range[0];
    return problemsOf(yamlProblem(text, offset, 'yaml_documents', parserTexts.MULTIPLE_DOCS));
  }
  const walk: Walk = { text, problems: [] };
  const root = document.contents === null ? emptyScalar(0) : nodeOf(walk, document.contents, 0);
  return walk.problems.length === 0
    ? { kind: 'tree', root, text }
    : { kind: 'problems', problems: walk.problems };
}

/** `line {l}, column {c}: {message}. {advice}` */
export function yamlProblem(
  text: string,
  offset: number,
  code: string,
  message: string,
): ReplyProblem {
  return problemAt(text, offset, code, `${message}. ${advice}`);
}

/** The tokens of `text`, or undefined as soon as they nest too deep (I2). */
function tokensOf(text: string): readonly yaml.CST.Token[] | undefined {
  const parser = new yaml.Parser();
  const tokens: yaml.CST.Token[] = [];
  for (const lexeme of new yaml.Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      tokens.push(token);
      // After the first error every word is another error, and each costs as much as a page.
      if (token.type === 'error') return tokens;
    }
    // The stack also holds the document, and the scalar being read.
    if (parser.stack.length > maxDepth + 2) return undefined;
    if (hasTextBehind(parser.stack.at(-1))) break;
  }
  tokens.push(...parser.end());
  return tokens;
}

/** Whether a scalar follows a scalar: an error that the rest would only repeat. */
function hasTextBehind(token: yaml.CST.Token | undefined): boolean {
  const end = token !== undefined && 'end' in token ? token.end : undefined;
  return end?.at(-1)?.type.endsWith('scalar') === true;
}

function nodeOf(walk: Walk, node: yaml.ParsedNode, depth: number): YamlNode {
  const offset = node.range[0];
  if (yaml.isAlias(node)) {
    refuse(walk, offset, 'yaml_alias', `the alias *${clip(node.source, 40)} is not allowed`);
    return emptyScalar(offset);
  }
  if (node.tag !== undefined && !coreTags.includes(node.tag)) {
    const tag = clip(node.tag.replace(tagPrefix, '!!'), 40);
    refuse(walk, offset, 'yaml_tag', `the tag ${tag} is not allowed`);
    return emptyScalar(offset);
  }
  if (yaml.isScalar(node)) {
    const isPlain = node.type === yaml.Scalar.PLAIN || node.type === undefined;
    const isText =
      node.tag === undefined ? !isPlain : node.tag === '!' || node.tag === `${tagPrefix}str`;
    return { kind: 'scalar', source: node.source ?? '', isText, offset };
  }
  if (depth >= maxDepth) {
    if (!walk.problems.includes(depthProblem)) walk.problems.push(depthProblem);
    return emptyScalar(offset);
  }
  if (yaml.isSeq(node)) {
    const items = node.items.map((item) => nodeOf(walk, item, depth + 1));
    return { kind: 'list', items, offset };
  }
  return yaml.isMap(node) ? mapOf(walk, node, depth) : emptyScalar(offset);
}

function mapOf(walk: Walk, node: yaml.ParsedNode & { items: unknown }, depth: number): YamlNode {
  const entries: { key: string; value: YamlNode }[] = [];
  const seen = new Set<string>();
  if (!yaml.isMap<yaml.ParsedNode, yaml.ParsedNode | null>(node)) return emptyScalar(node.range[0]);
  for (const pair of node.items) {
    const key = keyOf(walk, pair.key);
    if (key === undefined) continue;
    if (seen.has(key)) {
      refuse(walk, pair.key.range[0], 'yaml_duplicate', `the key ${clip(key, 40)} occurs twice`);
    }
    seen.add(key);
    const value =
      pair.value === null ? emptyScalar(pair.key.range[1]) : nodeOf(walk, pair.value, depth + 1);
    entries.push({ key, value });
  }
  return { kind: 'map', entries, offset: node.range[0] };
}

/** The text of a key. Numbers keep their source text, so `007` is not 7. */
function keyOf(walk: Walk, key: yaml.ParsedNode): string | undefined {
  const node = nodeOf(walk, key, 0);
  const offset = key.range[0];
  if (node.kind !== 'scalar' || (!node.isText && wordKey.test(node.source))) {
    if (!yaml.isAlias(key)) refuse(walk, offset, 'yaml_key', 'a key must be text or a number');
    return undefined;
  }
  if (!node.isText && node.source === '<<') {
    refuse(walk, offset, 'yaml_merge', 'merge keys are not allowed');
    return undefined;
  }
  return node.source;
}

function refuse(walk: Walk, offset: number, code: string, message: string): void {
  // Finding a position walks over the text, so it is skipped for problems that are not shown.
  if (walk.problems.length >= maxProblems) return;
  walk.problems.push(yamlProblem(walk.text, offset, code, message));
}

function emptyScalar(offset: number): YamlNode {
  return { kind: 'scalar', source: '', isText: false, offset };
}

function problemsOf(problem: ReplyProblem): YamlTree {
  return { kind: 'problems', problems: [problem] };
}
