/** `text` with CR LF and lone CR turned into LF. */
export function withLineFeeds(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

/** `text` with `blanks` spaces in front of every line that is not empty. */
export function indent(text: string, blanks: number): string {
  const margin = ' '.repeat(blanks);
  return text
    .split('\n')
    .map((line) => (line === '' ? line : margin + line))
    .join('\n');
}

/** `text` with `blanks` spaces in front of every line but the first. */
export function indentRest(text: string, blanks: number): string {
  return indent(text, blanks).slice(text.startsWith('\n') ? 0 : blanks);
}
