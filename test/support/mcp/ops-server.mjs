/**
 * A server over stdio that asks within a call and notes what it does: `{ pid, did }`, a line each, in
 * the file that OPS_NOTES names. OPS_RELEASE 2 has another list and other words.
 */
import { appendFileSync } from 'node:fs';
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const { OPS_NOTES = '', OPS_RELEASE = '1' } = process.env;

function note(did) {
  appendFileSync(OPS_NOTES, `${JSON.stringify({ pid: process.pid, did })}\n`);
}

const FORM = {
  type: 'object',
  properties: { env: { type: 'string', enum: ['staging', 'production'] } },
  required: ['env'],
};

serveStdio(() => {
  const server = new McpServer({ name: 'ops', version: OPS_RELEASE });
  const inputSchema = z.object({ query: z.string() });
  server.registerTool(
    'deploy',
    { description: `Ships a release (${OPS_RELEASE}).`, inputSchema },
    async ({ query }, { mcpReq }) => {
      const key = String(mcpReq._meta?.['io.everloop/idempotency-key']);
      const answers = mcpReq.inputResponses;
      if (answers?.where === undefined) {
        note(`asked ${query} ${key}`);
        const asks = (message) => inputRequired.elicit({ message, requestedSchema: FORM });
        const where = asks('Deploy where?');
        const inputRequests = query === 'both' ? { where, after: asks('And then?') } : { where };
        return inputRequired({ inputRequests, requestState: `note of ${query}` });
      }
      const given = Object.keys(answers)
        .toSorted()
        .map((name) => answers[name].content?.env ?? answers[name].action)
        .join(' and ');
      note(`deployed ${query} ${given} ${key} ${String(mcpReq.requestState())}`);
      return { content: [{ type: 'text', text: `${query} is on ${given}` }] };
    },
  );
  server.registerTool('hang', { description: 'Never ends.', inputSchema }, async () => {
    note('begun');
    await new Promise(() => setInterval(() => undefined, 60_000));
    return { content: [] };
  });
  if (OPS_RELEASE === '2') {
    const nothing = async () => ({ content: [{ type: 'text', text: 'extra' }] });
    server.registerTool('extra', { description: 'New.', inputSchema }, nothing);
  }
  return server;
});
