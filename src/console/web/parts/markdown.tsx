/**
 * Markdown as nodes: the lexer of `marked` reads it, and no text becomes markup. Links lead to
 * `http`, `https` and `mailto` alone and show their real host; images are named and not loaded.
 */
import type { Token, Tokens } from 'marked';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { linkTarget, namesPlace } from './link-target.ts';
import { readMarkdown } from './read-markdown.ts';
import { Long, Plain } from './words.tsx';

const MAX_DEPTH = 20;

/** `text` as Markdown; as it is where reading it would hold the page. */
export function Markdown({ text }: { readonly text: string }): JSX.Element {
  const tokens = useMemo(() => readMarkdown(text), [text]);
  return tokens === null ? <Long text={text} /> : <>{blocks(tokens, 0)}</>;
}

function blocks(tokens: readonly Token[], depth: number): readonly (JSX.Element | null)[] {
  return tokens.map((token, index) => <Block key={index} token={token} depth={depth} />);
}

function Block({
  token,
  depth,
}: {
  readonly token: Token;
  readonly depth: number;
}): JSX.Element | null {
  if (depth > MAX_DEPTH) return <Plain text={token.raw} />;
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading':
      return <p class="heading">{inline(token.tokens ?? [], depth)}</p>;
    case 'paragraph':
      return <p>{inline(token.tokens ?? [], depth)}</p>;
    case 'code':
      return (
        <pre>
          <Plain text={(token as Tokens.Code).text} />
        </pre>
      );
    case 'blockquote':
      return <blockquote>{blocks(token.tokens ?? [], depth + 1)}</blockquote>;
    case 'list':
      return <List list={token as Tokens.List} depth={depth} />;
    case 'table':
      return <Table table={token as Tokens.Table} depth={depth} />;
    case 'hr':
      return <hr />;
    case 'text':
      return <span>{inline((token as Tokens.Text).tokens ?? [token], depth)}</span>;
    default:
      return (
        <p>
          <Plain text={token.raw} />
        </p>
      );
  }
}

function List({
  list,
  depth,
}: {
  readonly list: Tokens.List;
  readonly depth: number;
}): JSX.Element {
  const items = list.items.map((item, index) => (
    <li key={index}>{blocks(item.tokens, depth + 1)}</li>
  ));
  if (!list.ordered) return <ul>{items}</ul>;
  return <ol start={list.start === '' ? 1 : list.start}>{items}</ol>;
}

function Table({
  table,
  depth,
}: {
  readonly table: Tokens.Table;
  readonly depth: number;
}): JSX.Element {
  return (
    <table>
      <thead>
        <tr>
          {table.header.map((cell, index) => (
            <th key={index}>{inline(cell.tokens, depth)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((row, index) => (
          <tr key={index}>
            {row.map((cell, column) => (
              <td key={column}>{inline(cell.tokens, depth)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function inline(tokens: readonly Token[], depth: number): readonly JSX.Element[] {
  return tokens.map((token, index) => <Inline key={index} token={token} depth={depth + 1} />);
}

function Inline({ token, depth }: { readonly token: Token; readonly depth: number }): JSX.Element {
  if (depth > MAX_DEPTH) return <Plain text={token.raw} />;
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens ?? [], depth)}</strong>;
    case 'em':
      return <em>{inline(token.tokens ?? [], depth)}</em>;
    case 'del':
      return <s>{inline(token.tokens ?? [], depth)}</s>;
    case 'codespan':
      return (
        <code>
          <Plain text={(token as Tokens.Codespan).text} />
        </code>
      );
    case 'br':
      return <br />;
    case 'link':
      return <Link link={token as Tokens.Link} depth={depth} />;
    case 'image': {
      const { text, href } = token as Tokens.Image;
      return (
        <span class="muted">
          [image: <Plain text={text === '' ? href : text} />]
        </span>
      );
    }
    case 'text':
    case 'escape': {
      const { tokens, text } = token as Tokens.Text;
      return tokens === undefined ? <Plain text={text} /> : <>{inline(tokens, depth)}</>;
    }
    default:
      return <Plain text={token.raw} />;
  }
}

function Link({
  link,
  depth,
}: {
  readonly link: Tokens.Link;
  readonly depth: number;
}): JSX.Element {
  const target = linkTarget(link.href);
  const words = inline(link.tokens, depth);
  if (target === null) return <span>{words}</span>;
  return (
    <>
      <a class="link" href={target.href} target="_blank" rel="noopener noreferrer nofollow">
        {words}
      </a>
      {namesPlace(link.text, target) ? null : <span class="host"> ({target.place})</span>}
    </>
  );
}
