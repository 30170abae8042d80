/**
 * The parts of the documentation that are generated from the code, as Markdown. In a page, each is
 * between `<!-- generated: NAME -->` and `<!-- end of NAME -->`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { format } from 'prettier';
import { failureTypes } from '../src/core/base/failure-types.ts';
import { SHORT_FORMS } from '../src/core/limits/limits-input.ts';
import { DEFAULT_LIMITS } from '../src/core/limits/default-limits.ts';
import { STAT_KEYS, type StatPer } from '../src/core/stats/stat-keys.ts';
import { METRICS } from '../src/telemetry/metrics.ts';
import { usageCodes } from '../src/core/base/usage-codes.ts';
import { coverageCells } from './coverage.ts';

/** The folder of the repository. */
export const ROOT: string = fileURLToPath(new URL('..', import.meta.url));

/** Pages that have generated parts, by path in the repository. */
export const GENERATED_PAGES: readonly string[] = [
  'docs/errors.md',
  'docs/limits.md',
  'docs/events.md',
  'docs/coverage.md',
  'docs/observability.md',
];

const EVENTS_FILE = 'src/core/contract/events.ts';

const parts: Readonly<Record<string, () => string>> = {
  'failure types': () => tableOf(['Type', 'Meaning'], codeRows(failureTypes)),
  'usage codes': () => tableOf(['Code', 'Meaning'], codeRows(usageCodes)),
  'short forms': () =>
    tableOf(
      ['Short form', 'Key'],
      Object.entries(SHORT_FORMS).map(([name, key]) => [code(name), code(key)]),
    ),
  'default limits': () =>
    tableOf(
      ['Key', 'At most', 'Then'],
      DEFAULT_LIMITS.map(({ key, max, onReach }) => [
        code(key),
        String(max),
        onReach === 'refuse' ? 'that piece of work is refused' : 'the run ends',
      ]),
    ),
  statistics: () =>
    tableOf(
      ['Key', 'Kind', 'Also per', 'Meaning'],
      STAT_KEYS.map(({ key, kind, per, meaning, refusable }) => [
        code(per.includes('none') ? key : `${key}:{${namesOf(per)}}`),
        refusable === true ? `${kind}, refusable` : kind,
        per.includes('none') ? namesOf(per) : '',
        meaning,
      ]),
    ),
  rows: () => tableOf(['Row', 'What', 'Tests', 'Tests on a server'], coverageCells()),
  'mode rows': () => tableOf(['Row', 'What', 'Tests', 'Tests on a server'], coverageCells('sub')),
  metrics: () =>
    tableOf(
      ['Metric', 'Kind', 'Labels', 'Meaning'],
      Object.entries(METRICS).map(([name, { kind, labels, description }]) => [
        code(name),
        kind,
        labels.map(code).join(', '),
        description,
      ]),
    ),
  events: () => tableOf(['Type', 'When', 'Fields of its own'], eventRows()),
};

/** Returns `page` with fresh generated parts. Throws if a marker names no part. */
export async function renderPage(path: string, page: string): Promise<string> {
  const filled = page.replaceAll(
    /<!-- generated: ([a-z ]+) -->[^]*?<!-- end of \1 -->/g,
    (_whole, name: string) => {
      const make = parts[name];
      if (make === undefined) {
        const known = Object.keys(parts).join(', ');
        throw new Error(`Expected one of the parts ${known} in ${path}, got ${name}.`);
      }
      return `<!-- generated: ${name} -->\n\n${make()}\n\n<!-- end of ${name} -->`;
    },
  );
  const settings = JSON.parse(readFileSync(join(ROOT, '.prettierrc'), 'utf8')) as object;
  return format(filled, { ...settings, parser: 'markdown' });
}

/** The text of the page at `path` in the repository. */
export function readPage(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function codeRows(table: Readonly<Record<string, string>>): readonly (readonly string[])[] {
  return Object.entries(table).map(([name, meaning]) => [code(name), meaning]);
}

function namesOf(per: readonly StatPer[]): string {
  return per.filter((name) => name !== 'none').join(', ');
}

/** A node of the syntax tree. */
interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** One row for each member of the union `EventBody`, with the comment before it. */
function eventRows(): readonly (readonly string[])[] {
  const text = readPage(EVENTS_FILE);
  const { program, comments } = parseSync(EVENTS_FILE, text, { astType: 'ts', lang: 'ts' });
  const statements = program.body as unknown as readonly SyntaxNode[];
  const union = statements
    .map((statement) => statement['declaration'] as SyntaxNode | null | undefined)
    .find((declared) => (declared?.['id'] as { name?: string } | undefined)?.name === 'EventBody');
  const body = union?.['typeAnnotation'] as SyntaxNode | undefined;
  if (body === undefined) throw new Error(`Expected a union EventBody in ${EVENTS_FILE}.`);
  const members = body['types'] as readonly SyntaxNode[];
  return members.map((member) => {
    const fields = fieldsOf(member);
    // Only a bar and parentheses may be between the comment and the member.
    const comment = comments.findLast(({ end }) => end <= member.start);
    const isOwn = comment !== undefined && /^[\s|(]*$/.test(text.slice(comment.end, member.start));
    if (!isOwn) throw new Error(`Expected a comment before ${fields.type} in ${EVENTS_FILE}.`);
    const when = comment.value.replaceAll(/^\*|\s*\n\s*\*/g, ' ').trim();
    return [code(fields.type), when, fields.names.join(', ')];
  });
}

function fieldsOf(member: SyntaxNode): {
  readonly type: string;
  readonly names: readonly string[];
} {
  if (member.type === 'TSParenthesizedType')
    return fieldsOf(member['typeAnnotation'] as SyntaxNode);
  if (member.type === 'TSIntersectionType') {
    const all = (member['types'] as readonly SyntaxNode[]).map(fieldsOf);
    return {
      type: all.map(({ type }) => type).join(''),
      names: all.flatMap(({ names }) => names),
    };
  }
  if (member.type === 'TSTypeReference') return { type: '', names: referredFields(member) };
  const properties = member['members'] as readonly SyntaxNode[];
  const named = properties.map((property) => ({
    name: String((property['key'] as { name?: string }).name),
    isOptional: property['optional'] === true,
    property,
  }));
  const own = named.filter(({ name }) => name !== 'type');
  return {
    type: literalIn(named.find(({ name }) => name === 'type')?.property),
    names: own.map(({ name, isOptional }) => code(isOptional ? `${name}?` : name)),
  };
}

/** `Pick<Reports, 'counts' | 'gauges'>` yields the picked names, `Breach` its own name. */
function referredFields(reference: SyntaxNode): readonly string[] {
  const given = reference['typeArguments'] as SyntaxNode | null | undefined;
  const picked = (given?.['params'] as readonly SyntaxNode[] | undefined)?.[1];
  if (picked === undefined) {
    return [`those of ${code(String((reference['typeName'] as { name?: string }).name))}`];
  }
  const options = (picked['types'] as readonly SyntaxNode[] | undefined) ?? [picked];
  return options.map((option) => code(`${(option['literal'] as { value: string }).value}?`));
}

function literalIn(property: SyntaxNode | undefined): string {
  const annotation = property?.['typeAnnotation'] as SyntaxNode | undefined;
  const type = annotation?.['typeAnnotation'] as SyntaxNode | undefined;
  return String((type?.['literal'] as { value?: string } | undefined)?.value ?? '');
}

function code(text: string): string {
  return `\`${text}\``;
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows].map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  );
  return lines.join('\n');
}
