/** The examples of docs/asking-people.md; test/docs/asking-people.test.ts runs them. */
import { z } from 'zod';
import {
  ask,
  defineAgent,
  defineTool,
  external,
  unwrap,
  type AgentDefinition,
  type AgentEvent,
  type AgentModel,
  type Everloop,
  type RunHandle,
} from '../../src/index.ts';
import { scriptedModel, startInMemory } from '../../src/testing.ts';
import { exampleModel } from '../example-model.ts';

/** An agent that may ask people. */
export function concierge(model: AgentModel): AgentDefinition {
  // #region ask
  const concierge = defineAgent({
    name: 'concierge',
    model,
    instructions: 'You book tables. Ask the guest for what you cannot know.',
    askUser: true,
  });
  // #endregion
  return concierge;
}

/** An agent whose tool asks the guest while it works. */
export function waiter(
  model: AgentModel,
  tables: { free(guests: number): Promise<string[]>; reserve(place: string): Promise<string> },
): AgentDefinition {
  // #region question
  const book = defineTool({
    name: 'book',
    description: 'Books a table.',
    parameters: z.object({ guests: z.number() }),
    execute: async ({ guests }, { answer }) => {
      if (typeof answer === 'string') return tables.reserve(answer);
      const places = await tables.free(guests);
      return ask({ question: `Where shall ${guests} sit?`, schema: { enum: places } });
    },
  });
  // #endregion
  return defineAgent({ name: 'waiter', model, tools: [book] });
}

/** An agent whose tool knows all before it begins. */
export function teller(
  model: AgentModel,
  transfer: (amount: number, from: string) => string,
): AgentDefinition {
  // #region before
  const account = z.object({ account: z.enum(['giro', 'savings']), note: z.string().optional() });
  const send = defineTool({
    name: 'send',
    description: 'Sends money.',
    parameters: z.object({ amount: z.number() }),
    effect: 'once',
    asks: ({ amount }, { answer, state }) => {
      if (answer === undefined) return ask({ question: 'From which account?', schema: account });
      if (state !== undefined || amount < 1_000) return undefined;
      return ask({ question: `Send ${amount}?`, schema: z.boolean(), state: answer });
    },
    execute: ({ amount }, { answer, state }) => {
      if (answer === false) return 'The person does not want to.';
      return transfer(amount, account.parse(state ?? answer).account);
    },
  });
  // #endregion
  return defineAgent({ name: 'teller', model, tools: [send] });
}

/** An agent whose large payments need a person's approval. */
export function cashier(model: AgentModel, transfer: (amount: number) => string): AgentDefinition {
  // #region approve
  const pay = defineTool({
    name: 'pay',
    description: 'Pays an invoice.',
    parameters: z.object({ invoice: z.string(), amount: z.number() }),
    effect: 'once',
    approval: ({ amount }) => amount > 100,
    approvalTimeoutMs: 24 * 60 * 60 * 1_000,
    execute: ({ amount }) => transfer(amount),
  });
  const cashier = defineAgent({ name: 'cashier', model, tools: [pay] });
  // #endregion
  return cashier;
}

/** An agent whose builds run elsewhere. */
export function builder(
  model: AgentModel,
  ci: { start(callback: string): Promise<{ url: string }> },
): AgentDefinition {
  // #region outside
  const build = defineTool({
    name: 'build',
    description: 'Builds a commit and runs its tests.',
    parameters: z.object({ commit: z.string() }),
    execute: async (_args, { callId }) => {
      const { url } = await ci.start(callId);
      return external({ details: { url }, timeoutMs: 60 * 60 * 1_000 });
    },
  });
  const builder = defineAgent({ name: 'builder', model, tools: [build] });
  // #endregion
  return builder;
}

/** Waits for the end of a run or for people, and answers what it can. */
export async function serveOnce(run: RunHandle, say: (text: string) => void): Promise<void> {
  // #region answer
  const seen = await run.resultOrPending();
  if (seen.kind === 'step') return say(JSON.stringify(unwrap(seen.step)));
  for (const item of seen.pending) {
    switch (item.kind) {
      case 'question':
        say(`${item.question} ${item.options?.join(' or ') ?? ''}`);
        await run.answer(item.id, 'the terrace');
        break;
      case 'approval':
        say(`May I ${item.tool} ${JSON.stringify(item.args)}? ${item.reasoning ?? ''}`);
        await run.decide(item.id, { approve: true });
        // or: { deny: 'too much' }, or with other arguments: { args: { … } }
        break;
      case 'external':
        await run.answer(item.id, { passed: 212, failed: 0 });
        break;
      case 'pause':
        await run.resume();
    }
  }
  // #endregion
}

/** One line for each item that waits in any run. */
export async function allThatWaits(everloop: Pick<Everloop, 'inbox'>): Promise<readonly string[]> {
  // #region inbox
  const { items, silent } = await everloop.inbox();
  const lines = items.map(({ run, agent, item }) => `${agent} ${run} ${item.kind} ${item.id}`);
  // Runs with a waiting item and without a worker that answers for them.
  return [...lines, ...silent.map((run) => `? ${run}`)];
  // #endregion
}

/** Approves a call as somebody, and gives the events of all decisions. */
export async function approveAs(run: RunHandle): Promise<readonly AgentEvent[]> {
  // #region by
  await run.decide('1.2', { approve: true }, { by: 'ada' });
  const events = await run.events();
  const decided = events.filter(({ type }) => type === 'agent:approval:decided');
  // #endregion
  return decided;
}

/** Approves a call and all later ones of its tool, and takes that back; gives what held meanwhile. */
export async function approveAlways(run: RunHandle): Promise<unknown> {
  // #region always
  await run.decide('1.1', { approve: true, remember: 'tool' });
  const { approvals } = await run.status(); // [{ id: '1.1', tool: 'pay', since: … }]
  await run.revoke('1.1');
  // #endregion
  return approvals;
}

/** How a test answers the agent's question. */
export async function testedConcierge(): Promise<unknown> {
  // #region test
  const script = scriptedModel([
    {
      toolCalls: [
        {
          name: 'ask_user',
          args: { question: 'Inside or outside?', options: ['inside', 'outside'] },
        },
      ],
    },
    'Booked outside.',
  ]);
  const run = startInMemory({ agent: concierge(script.model), task: 'A table for two' });
  await run.resultOrPending();
  run.answer('q1', 'outside');
  const step = await run.result;
  // #endregion
  return unwrap(step);
}

/** The agents with scripted models, for `everloop chat`. */
export const agents: readonly AgentDefinition[] = [
  concierge(
    exampleModel([
      {
        toolCalls: [
          {
            name: 'ask_user',
            args: { question: 'Inside or outside?', options: ['inside', 'outside'] },
          },
        ],
      },
      { content: 'Your table is booked.' },
    ]),
  ),
  cashier(
    exampleModel([
      {
        content: 'It is due today.',
        toolCalls: [{ name: 'pay', args: { invoice: 'A-7', amount: 500 } }],
      },
      { content: 'The invoice is settled.' },
    ]),
    (amount) => `paid ${amount}`,
  ),
  builder(
    exampleModel([
      { toolCalls: [{ name: 'build', args: { commit: 'abc123' } }] },
      { content: 'The build is green.' },
    ]),
    { start: (callback) => Promise.resolve({ url: `https://ci.example.com/${callback}` }) },
  ),
];
