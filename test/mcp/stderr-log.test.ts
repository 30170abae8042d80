/** The log of a server that writes without end. */
import { describe, expect, it } from 'vitest';
import { stderrLog } from '../../src/mcp/connection/stderr-log.ts';

function logOf() {
  const logged: string[] = [];
  let redacted = 0;
  const failure = (text: string): string => {
    redacted += 1;
    return text;
  };
  const redactor = { failure, exact: (text: string) => text, add: () => undefined };
  const take = stderrLog('wild', (_level, message) => void logged.push(message), redactor);
  return { logged, take, redactions: () => redacted };
}

const MORE = 'MCP server wild: more than 200 lines a minute; the rest is left out.';

describe('what a server writes to stderr', () => {
  it('is logged line by line, however it is cut', () => {
    const { logged, take } = logOf();
    for (const part of ['a\n\n', 'b', 'c\nd']) take(Buffer.from(part));

    expect(logged).toEqual(['MCP server wild: a', 'MCP server wild: bc']);
  });

  it.each(['\n', 'x\n'])('%j is read 200 times a minute, and no more', (line) => {
    const { logged, take, redactions } = logOf();
    for (let chunk = 0; chunk < 5; chunk++) take(Buffer.from(line.repeat(10_000)));

    expect(redactions()).toBe(200);
    expect(logged.filter((text) => text === MORE)).toHaveLength(1);
  });
});
