/** The examples of docs/callbacks.md; test/docs/callbacks.test.ts runs them. */
import { createServer, type Server } from 'node:http';
import { Webhook } from 'standardwebhooks';
import {
  defineAgent,
  type AgentDefinition,
  type AgentModel,
  type Everloop,
  type RunHandle,
} from '../../src/index.ts';

/** An agent whose runs tell a service when they ask and when they end. */
export function buyer(model: AgentModel): AgentDefinition {
  // #region definition
  const buyer = defineAgent({
    name: 'buyer',
    model,
    askUser: true,
    onEvent: {
      url: 'https://hooks.example.com/everloop',
      events: ['question.asked', 'run.ended'],
      content: true, // the text of questions, too
    },
  });
  // #endregion
  return buyer;
}

/** A run that tells one more service. */
export async function startWith(everloop: Everloop, url: string): Promise<RunHandle> {
  // #region start
  const run = await everloop.start('buyer', { task: 'Buy ten chairs.', onEvent: { url } });
  // #endregion
  return run;
}

/** A service that answers every question of a run with `choose`. */
export function receiver(
  everloop: Pick<Everloop, 'attach'>,
  secret: string,
  choose: (question: string) => Promise<string>,
): Server {
  // #region receive
  const webhook = new Webhook(secret);
  const seen = new Set<string>(); // in production: a table with a unique key

  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const id = String(request.headers['webhook-id']);
      let body;
      try {
        const headers = request.headers as Record<string, string>;
        body = webhook.verify(Buffer.concat(pieces).toString(), headers) as {
          type: string;
          data: { run: string; id: string; question?: string; status?: string };
        };
      } catch {
        response.writeHead(401).end();
        return;
      }
      response.writeHead(204).end(); // first say that it came, then work
      if (seen.has(id)) return; // it may come more than once
      seen.add(id);
      const { run, question = '' } = body.data;
      if (body.type !== 'question.asked') return console.log(run, body.data.status);
      void choose(question).then((text) => everloop.attach(run).answer(body.data.id, text));
    });
  });
  // #endregion
  return server;
}
