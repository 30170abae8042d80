/** What the processes of servers write to stderr, as lines of the worker's log. */
import type { McpLog } from '../text/log.ts';
import { visibleText } from '../text/hidden-text.ts';
import type { Redactor } from '../text/secrets.ts';

/** Lines a minute; a server that fails in a loop writes millions. */
const MAX_LINES = 200;

const MINUTE_MS = 60_000;

/** Characters of a line. */
const MAX_CHARACTERS = 1_000;

/** Makes the receiver of one server's stderr. */
export function stderrLog(
  server: string,
  log: McpLog,
  redactor: Redactor,
): (chunk: Buffer) => void {
  let since = performance.now();
  let lines = 0;
  let rest = '';
  return (chunk) => {
    const now = performance.now();
    if (now - since >= MINUTE_MS) [since, lines] = [now, 0];
    if (lines > MAX_LINES) {
      rest = '';
      return;
    }
    const parts = `${rest}${chunk.toString('utf8')}`.split('\n');
    rest = (parts.pop() ?? '').slice(-MAX_CHARACTERS);
    for (const part of parts) {
      // Empty lines count too: to read a line costs more than to write it.
      lines += 1;
      if (lines > MAX_LINES) {
        log(
          'warn',
          `MCP server ${server}: more than ${MAX_LINES} lines a minute; the rest is left out.`,
        );
        return;
      }
      const text = visibleText(redactor.failure(part), MAX_CHARACTERS).text.trim();
      if (text !== '') log('info', `MCP server ${server}: ${text}`);
    }
  };
}
