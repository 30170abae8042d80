/** What a server of the older era asks is shown to the call that caused it, and to no other. */
import type { Client } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { declineQuestions } from '../../src/mcp/connection/decline-questions.ts';

function connection() {
  let handler: ((request: object) => unknown) | undefined;
  const client = {
    setRequestHandler: (_method: string, handle: (request: object) => unknown) => {
      handler = handle;
    },
  } as unknown as Client;
  const note = declineQuestions(client);
  const ask = () => handler?.({ params: { message: 'Pay for alice?' } });
  return { note, ask };
}

it('is shown to a call that is alone', () => {
  const { note, ask } = connection();
  note()(true);
  const end = note();

  expect(ask()).toEqual({ action: 'decline' });
  expect(end(true)).toEqual(['Pay for alice?']);
});

it('is hidden from calls that others may have caused it, also one that was stopped', () => {
  const { note, ask } = connection();
  const [one, other] = [note(), note()];
  ask();
  const both = [one(false), other(true)];
  const next = note();
  ask();

  expect([...both, next(true)]).toEqual([[''], [''], ['']]);
});
