/**
 * A source file, parsed: what the architecture checks look at. The parser is a development
 * dependency, so a check reads the tree and never guesses with regular expressions.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseSync, visitorKeys } from 'oxc-parser';

/** A node of the syntax tree: its type, its place in the text, and whatever its type has. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** One module that a file imports or re-exports from. */
export interface ImportedModule {
  /** As written: `./json.ts`, `yaml`, `node:fs`. */
  readonly specifier: string;
  /** The file of this repository that it names, like `src/core/json.ts`; absent for a package. */
  readonly file?: string;
  /** Whether the compiler erases it: every name in it is a type. */
  readonly isTypeOnly: boolean;
}

/** A parsed source file; `path` is relative to the repository and has forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly statements: readonly SyntaxNode[];
  readonly comments: readonly {
    readonly isDoc: boolean;
    readonly start: number;
    readonly end: number;
  }[];
  readonly imports: readonly ImportedModule[];
}

/** Parses `text` as the file at `path`. Throws when it is no TypeScript. */
export function parseSourceFile(path: string, text: string): SourceFile {
  const parsed = parseSync(path, text, { astType: 'ts', lang: 'ts' });
  const [error] = parsed.errors;
  if (error !== undefined) throw new Error(`Expected ${path} to parse, got: ${error.message}`);
  const toModule = (specifier: string, isTypeOnly: boolean): ImportedModule => ({
    specifier,
    ...(specifier.startsWith('.') ? { file: posix.join(posix.dirname(path), specifier) } : {}),
    isTypeOnly,
  });
  const areTypes = (entries: readonly { readonly isType: boolean }[]): boolean =>
    entries.length > 0 && entries.every((entry) => entry.isType);
  const statements = parsed.program.body as unknown as readonly SyntaxNode[];
  return {
    path,
    text,
    statements,
    comments: parsed.comments.map((comment) => ({
      isDoc: comment.type === 'Block' && comment.value.startsWith('*'),
      start: comment.start,
      end: comment.end,
    })),
    imports: [
      ...parsed.module.staticImports.map((item) =>
        toModule(item.moduleRequest.value, areTypes(item.entries)),
      ),
      ...parsed.module.staticExports.flatMap((item) => {
        const request = item.entries.find((entry) => entry.moduleRequest !== null)?.moduleRequest;
        return request ? [toModule(request.value, areTypes(item.entries))] : [];
      }),
      ...findNodes(statements, 'ImportExpression').flatMap((node) => {
        const source = node['source'] as SyntaxNode;
        return typeof source['value'] === 'string' ? [toModule(source['value'], false)] : [];
      }),
      ...findNodes(statements, 'TSImportType').flatMap((node) => {
        const source = node['source'] as SyntaxNode | undefined;
        return typeof source?.['value'] === 'string' ? [toModule(source['value'], true)] : [];
      }),
    ],
  };
}

/** Every TypeScript file under `folders` of the repository at `root`, parsed. */
export function readSourceFiles(root: string, folders: readonly string[]): readonly SourceFile[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (name) => `${folder}/${name.replaceAll('\\', '/')}`,
      ),
    )
    .filter((path) => path.endsWith('.ts') && !path.includes('/node_modules/'))
    .toSorted()
    .map((path) => parseSourceFile(path, readFileSync(join(root, path), 'utf8')));
}

/** Calls `visit` for `node` and everything below it, parents first. */
export function walk(
  node: SyntaxNode,
  visit: (node: SyntaxNode, parent: SyntaxNode | undefined) => void,
  parent?: SyntaxNode,
): void {
  visit(node, parent);
  for (const key of visitorKeys[node.type] ?? []) {
    const below = node[key];
    for (const child of Array.isArray(below) ? below : [below]) {
      if (isSyntaxNode(child)) walk(child, visit, node);
    }
  }
}

/** The nodes of one type below `statements`, in source order. */
export function findNodes(statements: readonly SyntaxNode[], type: string): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (const statement of statements) {
    walk(statement, (node) => {
      if (node.type === type) found.push(node);
    });
  }
  return found;
}

/** The line of `text`, from 1, that holds the character at `offset`. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function isSyntaxNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value;
}
