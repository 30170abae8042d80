/**
 * The architecture as checks: each takes parsed files and returns one line per violation, so that
 * an empty list is a pass and a canary can show that a check bites.
 */
import { findNodes, lineAt, walk, type SourceFile, type SyntaxNode } from './source-file.ts';

/** What a ring may import. An arrow never points back. */
interface RingRule {
  /** Rings, and single files as `workflows/messages.ts`. Its own ring is always allowed. */
  readonly rings: readonly string[];
  /** Rings of which only types may be used. */
  readonly typesOf?: readonly string[];
  /** Packages, by name or by scope as `@ai-sdk/*`; `'any'` for a ring at the outside. */
  readonly packages: readonly string[] | 'any';
  /** Whether Node's own modules may be used. */
  readonly node: boolean;
}

const PROVIDER_PACKAGES = ['ai', '@ai-sdk/*', '@ai-sdk-7/*', '@modelcontextprotocol/sdk'];

/** The rings of the design, from the inside out, and what each may import. */
const RINGS: Readonly<Record<string, RingRule>> = {
  lisp: { rings: [], packages: [], node: false },
  core: { rings: ['lisp'], packages: ['yaml'], node: false },
  workflows: {
    rings: ['core'],
    typesOf: ['activities'],
    // `common` defines messages, which clients import too and without the workflow runtime.
    packages: ['@temporalio/workflow', '@temporalio/common'],
    node: false,
  },
  define: {
    rings: ['lisp', 'core'],
    packages: [...PROVIDER_PACKAGES, 'ajv', 'ajv-formats', 'lru-cache'],
    node: true,
  },
  tools: { rings: ['core', 'define'], packages: ['minisearch', 'piscina', 'tsx'], node: true },
  // Connections to servers of the Model Context Protocol.
  mcp: {
    rings: ['core', 'define', 'tools', 'protection/hide-values.ts'],
    packages: ['@modelcontextprotocol/client'],
    node: true,
  },
  models: {
    rings: ['core', 'define', 'tools', 'http'],
    packages: [...PROVIDER_PACKAGES, 'lru-cache'],
    node: true,
  },
  // What models cost is data of a package.
  registry: {
    rings: ['core', 'define', 'tools', 'models'],
    packages: ['@pydantic/genai-prices'],
    node: true,
  },
  callbacks: { rings: ['core', 'http'], packages: [], node: true },
  // Loads the packages of OpenTelemetry when traces are on.
  telemetry: { rings: ['core'], packages: ['@opentelemetry/*', '@temporalio/common'], node: true },
  // Neither client nor worker: both, the commands and the codec server have their payloads from it.
  protection: {
    rings: ['core', 'workflows/converters.ts', 'workflows/failure-converter.ts'],
    packages: ['@temporalio/common', '@temporalio/proto', '@aws-sdk/client-s3', 'lru-cache'],
    node: true,
  },
  // What servers over HTTP have in common, and where requests may go whose address comes with a run.
  http: { rings: [], packages: [], node: true },
  // What Temporal's own tools ask, so neither client nor worker.
  'codec-server': {
    rings: ['core', 'http', 'protection'],
    packages: ['@temporalio/common', 'hono', '@hono/node-server'],
    node: true,
  },
  activities: {
    rings: [
      'core',
      'define',
      'tools',
      'models',
      'registry',
      'callbacks',
      'telemetry/call-observer.ts',
    ],
    packages: ['@temporalio/activity', '@temporalio/common', 'lru-cache'],
    node: true,
  },
  client: {
    // A client says in which trace a run is, and continues that of its caller.
    rings: [
      'core',
      'protection',
      'workflows/messages.ts',
      'telemetry/ids.ts',
      'telemetry/active-span.ts',
    ],
    typesOf: ['define'],
    packages: [
      '@temporalio/client',
      'lru-cache',
      '@temporalio/common',
      '@temporalio/envconfig',
      'eventsource-parser',
    ],
    node: true,
  },
  // Agents and runs for hosts of the Model Context Protocol.
  'mcp-server': {
    rings: ['core', 'http', 'protection/same-text.ts', 'client'],
    typesOf: ['define'],
    packages: ['@modelcontextprotocol/server', '@modelcontextprotocol/node'],
    node: true,
  },
  versioning: {
    rings: ['core', 'client', 'workflows/messages.ts'],
    packages: ['@temporalio/client'],
    node: true,
  },
  worker: {
    rings: [
      'lisp',
      'core',
      'define',
      'tools',
      'mcp',
      'registry',
      'workflows',
      'callbacks',
      'telemetry',
      'http',
      'protection',
      'codec-server',
      'activities',
      'client',
      'versioning',
    ],
    packages: 'any',
    node: true,
  },
  doctor: {
    rings: ['core', 'protection/stream-token.ts', 'client', 'versioning', 'worker'],
    packages: ['@temporalio/client'],
    node: true,
  },
  replay: {
    rings: ['lisp', 'core', 'protection', 'client', 'workflows', 'worker'],
    packages: 'any',
    node: true,
  },
  testing: {
    rings: ['lisp', 'core', 'define', 'tools', 'mcp', 'models', 'registry'],
    packages: PROVIDER_PACKAGES,
    node: true,
  },
  cli: {
    // A preview asks at most servers of the agent, so it needs neither a client nor a worker.
    rings: [
      'lisp',
      'core',
      'protection',
      'codec-server',
      'client',
      'versioning',
      'worker',
      'replay',
      'doctor',
      'registry/preview-prompt.ts',
      // Its commands look at servers without a worker.
      'mcp',
      'console',
      'mcp-server',
    ],
    typesOf: ['define'],
    packages: 'any',
    node: true,
  },
  // Only standards of the web: it runs in whatever serves a page.
  ui: { rings: ['core', 'client'], packages: [], node: false },
  // A page that shows and steers runs: it does nothing that the client cannot do.
  console: {
    rings: [
      'core',
      'http',
      'client',
      'protection/same-text.ts',
      'protection/own-file.ts',
      'registry/preview-prompt.ts',
      'registry/describe-agents.ts',
    ],
    typesOf: ['define'],
    packages: [
      'hono',
      '@hono/node-server',
      'lru-cache',
      // Of the pages, which are bundled; a checkout bundles them when it starts.
      'preact',
      '@preact/*',
      'marked',
      'eventsource-parser',
      'esbuild',
    ],
    node: true,
  },
  // The entry `.`: the client, and the definitions that a user writes agents with.
  index: {
    rings: ['core', 'protection', 'client', 'versioning', 'define', 'registry/preview-prompt.ts'],
    packages: [],
    node: false,
  },
};

/** The entries that are part of a ring under another name. */
const ENTRY_RINGS: Readonly<Record<string, string>> = { workflow: 'workflows' };

/** Names that make code depend on time, chance, place or process; none of them in core and lisp. */
const BANNED_NAMES = new Set([
  'process',
  'console',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'fetch',
  'performance',
  'crypto',
  'Intl',
  'globalThis',
  'Buffer',
  'require',
]);

const BANNED_FOLDERS = new Set(['utils', 'helpers', 'common', 'misc', 'shared', 'lib']);

const MAX_CODE_LINES = 400;

/** Rings import inwards only, and each only the packages that its row in {@link RINGS} names. */
export function checkRings(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) => {
    const ring = ringOf(file.path);
    if (ring === undefined) return [];
    const rule = RINGS[ring];
    if (rule === undefined) return [`${file.path}: expected a folder that is a ring, got ${ring}`];
    return file.imports
      .filter((item) => !isAllowed(ring, rule, item))
      .map((item) => `${file.path}: ${ring} must not import ${item.specifier}`);
  });
}

function isAllowed(ring: string, rule: RingRule, item: SourceFile['imports'][number]): boolean {
  if (item.file !== undefined) {
    const target = ringOf(item.file);
    if (target === undefined) return false;
    if (target === ring || rule.rings.includes(target)) return true;
    if (rule.rings.includes(item.file.replace(/^src\//, ''))) return true;
    return item.isTypeOnly && (rule.typesOf ?? []).includes(target);
  }
  if (item.specifier.startsWith('node:')) return rule.node;
  if (rule.packages === 'any') return true;
  return rule.packages.some((allowed) =>
    allowed.endsWith('/*')
      ? item.specifier.startsWith(allowed.slice(0, -1))
      : item.specifier === allowed || item.specifier.startsWith(`${allowed}/`),
  );
}

/** The ring of a file under `src`, from its folder or, for an entry, from its name. */
function ringOf(path: string): string | undefined {
  const [first, second] = path.split('/');
  if (first !== 'src' || second === undefined) return undefined;
  const name = second.replace(/\.ts$/, '');
  return ENTRY_RINGS[name] ?? name;
}

/** No file reaches itself over imports, types included: shared types belong in a leaf file. */
export function checkCycles(files: readonly SourceFile[]): readonly string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const state = new Map<string, 'open' | 'done'>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const file = byPath.get(path);
    if (file === undefined || state.get(path) === 'done') return;
    if (state.get(path) === 'open') {
      found.push(`import cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' → ')}`);
      return;
    }
    state.set(path, 'open');
    for (const item of file.imports) {
      if (item.file !== undefined) visit(item.file, [...trail, path]);
    }
    state.set(path, 'done');
  };
  for (const file of files) visit(file.path, []);
  return found;
}

/** What authors add is kept in a global, which the sandbox has once for each workflow. */
const OWN_PARTS_FILE = 'src/core/extension/store.ts';

/** Core and lisp use no clock, chance, process, console, timer, network, locale or moving state. */
export function checkPurity(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter((file) => ['core', 'lisp'].includes(ringOf(file.path) ?? ''))
    .flatMap((file) => {
      const found: string[] = [];
      const report = (node: SyntaxNode, what: string): void => {
        if (file.path === OWN_PARTS_FILE && what === 'globalThis') return;
        found.push(`${file.path}:${lineAt(file.text, node.start)}: ${what} in pure code`);
      };
      for (const statement of file.statements) {
        const declared =
          statement.type === 'ExportNamedDeclaration'
            ? (statement['declaration'] as SyntaxNode | null)
            : statement;
        if (declared?.type === 'VariableDeclaration' && declared['kind'] !== 'const') {
          report(declared, `top-level ${String(declared['kind'])}`);
        }
        walk(statement, (node, parent) => {
          const impure = impurityOf(node, parent);
          if (impure !== undefined) report(node, impure);
        });
      }
      return found;
    });
}

function impurityOf(node: SyntaxNode, parent: SyntaxNode | undefined): string | undefined {
  switch (node.type) {
    case 'MemberExpression': {
      const member = `${nameOf(node['object'])}.${nameOf(node['property'])}`;
      if (member === 'Date.now' || member === 'Math.random') return member;
      const name = nameOf(node['property']) ?? '';
      return name.startsWith('toLocale') || name === 'localeCompare' ? name : undefined;
    }
    case 'NewExpression':
      return nameOf(node['callee']) === 'Date' && (node['arguments'] as unknown[]).length === 0
        ? 'new Date()'
        : undefined;
    case 'CallExpression':
      return nameOf(node['callee']) === 'Date' ? 'Date()' : undefined;
    case 'PrivateIdentifier':
      // A private field becomes a WeakMap in the workflow bundle, some ten times slower.
      return `#${String(node['name'])}`;
    case 'Identifier': {
      const name = String(node['name']);
      return BANNED_NAMES.has(name) && !isKey(node, parent) ? name : undefined;
    }
    default:
      return undefined;
  }
}

/** Whether an identifier is the name of a member or of a property, so that it reads no variable. */
function isKey(node: SyntaxNode, parent: SyntaxNode | undefined): boolean {
  if (parent === undefined || parent['computed'] === true) return false;
  if (parent.type === 'MemberExpression') return parent['property'] === node;
  return parent['key'] === node;
}

function nameOf(node: unknown): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  const { type, name } = node as { readonly type?: unknown; readonly name?: unknown };
  return type === 'Identifier' && typeof name === 'string' ? name : undefined;
}

/** No default exports and no `export *`: a name says what is meant, everywhere the same. */
export function checkExports(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) =>
    file.statements.flatMap((statement) => {
      if (statement.type === 'ExportDefaultDeclaration') return [`${file.path}: default export`];
      if (statement.type === 'ExportAllDeclaration') return [`${file.path}: export *`];
      const names = (statement['specifiers'] ?? []) as readonly SyntaxNode[];
      return statement.type === 'ExportNamedDeclaration' &&
        names.some((name) => nameOf(name['exported']) === 'default')
        ? [`${file.path}: default export`]
        : [];
    }),
  );
}

const TYPE_DECLARATIONS = new Set([
  'ClassDeclaration',
  'TSEnumDeclaration',
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
]);

/** No two files export types of one name: a name has one meaning. */
export function checkTypeNames(files: readonly SourceFile[]): readonly string[] {
  const places = new Map<string, readonly string[]>();
  for (const file of files) {
    for (const statement of file.statements) {
      const declared = (statement['declaration'] ?? undefined) as SyntaxNode | undefined;
      const name = nameOf(declared?.['id']);
      if (declared === undefined || name === undefined) continue;
      if (!TYPE_DECLARATIONS.has(declared.type)) continue;
      places.set(name, [...(places.get(name) ?? []), file.path]);
    }
  }
  return [...places]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: exported by ${paths.join(', ')}`);
}

/** No `any`: what is unknown is `unknown` until it was parsed. */
export function checkAny(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) =>
    findNodes(file.statements, 'TSAnyKeyword').map(
      (node) => `${file.path}:${lineAt(file.text, node.start)}: any`,
    ),
  );
}

/** Calls that write or read payloads, and what makes the converters that they need. */
const CONVERTERS: Readonly<Record<string, string>> = {
  'new Client': 'clientConverter',
  'new WorkflowClient': 'clientConverter',
  'new ScheduleClient': 'clientConverter',
  'Worker.create': 'workerConverter',
  'Worker.runReplayHistories': 'workerConverter',
};

/** Clients, workers and replays have their data converter from `protection`, or keys are lost. */
export function checkConverters(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) => {
    const made = [
      ...findNodes(file.statements, 'NewExpression').map((node) => ({
        node,
        name: `new ${nameOf(node['callee'])}`,
      })),
      ...findNodes(file.statements, 'CallExpression').map((node) => {
        const { object, property } = node['callee'] as SyntaxNode;
        return { node, name: `${nameOf(object)}.${nameOf(property)}` };
      }),
    ];
    return made.flatMap(({ node, name }) => {
      const converter = CONVERTERS[name];
      if (converter === undefined || file.text.includes(`dataConverter: ${converter}(`)) return [];
      const line = lineAt(file.text, node.start);
      return [`${file.path}:${line}: expected ${name} to have its converter from ${converter}`];
    });
  });
}

/** What a workflow sees otherwise when it is replayed; `src/workflows/recorded/recorded.ts` says why. */
const CHANGING: readonly RegExp[] = [
  /\bDate\.now\(\)|\bnew Date\(\)/,
  /\bworkflowInfo\(\)\.(?:continueAsNewSuggested|historyLength|historySize|targetWorkerDeploymentVersionChanged|unsafe\.now)\b/,
  /\{[^{}]*\b(?:continueAsNewSuggested|historyLength|historySize|targetWorkerDeploymentVersionChanged)\b[^{}]*\}\s*=\s*workflowInfo\(\)/,
];

/** Where they may be read: in the one place that records them, and in queries, which decide nothing. */
const READS_CHANGING: readonly string[] = [
  'src/workflows/recorded/recorded.ts',
  'src/workflows/queries.ts',
];

/** Workflows decide by what results of activities have recorded, and by nothing that changes. */
export function checkRecorded(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => path.startsWith('src/workflows/') && !READS_CHANGING.includes(path))
    .flatMap(({ path, text }) =>
      CHANGING.flatMap((pattern) => {
        const found = pattern.exec(text);
        return found === null ? [] : [`${path}:${lineAt(text, found.index)}: ${found[0]}`];
      }),
    );
}

/** At most 400 lines of code a file; blank lines and comments are free. */
export function checkSize(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter((file) => codeLines(file) > MAX_CODE_LINES)
    .map((file) => `${file.path}: expected at most 400 code lines, got ${codeLines(file)}`);
}

/** The lines of `file` that hold code, not only a comment or nothing. */
function codeLines(file: SourceFile): number {
  let code = file.text;
  for (const { start, end } of file.comments) {
    const blanked = code.slice(start, end).replaceAll(/[^\n]/g, ' ');
    code = code.slice(0, start) + blanked + code.slice(end);
  }
  return code.split('\n').filter((line) => line.trim() !== '').length;
}

/** Every export has a doc comment right above it; a re-export has it where it is declared. */
export function checkDocs(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) =>
    file.statements
      .filter(
        (statement) =>
          statement.type === 'ExportNamedDeclaration' &&
          (statement['source'] ?? null) === null &&
          !hasDoc(file, statement),
      )
      .map(
        (statement) =>
          `${file.path}:${lineAt(file.text, statement.start)}: export without a doc comment`,
      ),
  );
}

function hasDoc(file: SourceFile, statement: SyntaxNode): boolean {
  return file.comments.some(
    (comment) =>
      comment.isDoc &&
      comment.end <= statement.start &&
      file.text.slice(comment.end, statement.start).trim() === '',
  );
}

/** No folder or file whose name says nothing: such a place becomes the hub of cycles. */
export function checkNames(paths: readonly string[]): readonly string[] {
  return paths
    .filter((path) => path.split('/').some((part) => BANNED_FOLDERS.has(part.replace(/\.ts$/, ''))))
    .map((path) => `${path}: expected a name that says what is inside`);
}

/** Entries of the exports map and top-level files of `src` name each other. */
export function checkEntries(
  exportsMap: Readonly<Record<string, { readonly types: string; readonly default: string }>>,
  entryFiles: readonly string[],
  notYetThere: readonly string[] = [],
): readonly string[] {
  const problems: string[] = [];
  const named = new Set<string>();
  for (const [entry, target] of Object.entries(exportsMap)) {
    const name = entry === '.' ? 'index' : entry.slice(2);
    named.add(`${name}.ts`);
    if (target.default !== `./dist/${name}.js` || target.types !== `./dist/${name}.d.ts`) {
      problems.push(`exports["${entry}"]: expected ./dist/${name}.js, got ${target.default}`);
    }
    if (!entryFiles.includes(`${name}.ts`) && !notYetThere.includes(`${name}.ts`)) {
      problems.push(`exports["${entry}"]: expected src/${name}.ts, which is not there`);
    }
  }
  for (const file of entryFiles) {
    if (!named.has(file)) problems.push(`src/${file}: expected an entry in the exports map`);
  }
  return problems;
}
