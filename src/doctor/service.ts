/** The service as the checks ask it: each question once, each with a deadline. It changes nothing. */
import type { Client } from '@temporalio/client';
import { defined } from '../core/base/defined.ts';
import { readTaskFailure } from '../client/connection/newest-events.ts';
import { createDeployment } from '../versioning/deployment.ts';
import { readPollers } from '../versioning/deployment-service.ts';
import { readClock } from './clock.ts';
import type { DoctorService, HandoverAdvice, SeenWorker } from './checks/doctor-service.ts';
import { OPEN_RUNS, readAnswers, readOpenRuns } from './open-runs.ts';
import { readHandoverAdvice } from './recent-events.ts';

/** How long one question to the service may take, with its retries. */
const QUESTION_MS = 10_000;

/** How long one about many runs or many versions may take. */
const LIST_MS = 30_000;

/** The service's names for the types of search attributes, by number. */
const TYPES = ['', 'Text', 'Keyword', 'Int', 'Double', 'Bool', 'Datetime', 'KeywordList'];

/** Asks with `client`; `deployment` is the name of the fleet's deployment. */
export function doctorService(client: Client, deployment?: string): DoctorService {
  const { namespace } = client.options;
  const fleet = createDeployment(defined({ client, name: deployment }));
  const within = <Answer>(ms: number, ask: () => Promise<Answer>): Promise<Answer> =>
    client.withDeadline(Date.now() + ms, ask);
  const openRuns = once(() => within(LIST_MS, () => readOpenRuns(client)));
  const advice = new Map<string, Promise<HandoverAdvice | null>>();
  // Each question to a run has a deadline of its own.
  const answers = once(async () => readAnswers(client, await openRuns()));
  return {
    namespace,
    retentionMs: () =>
      within(QUESTION_MS, async () => {
        const { config } = await client.workflowService.describeNamespace({ namespace });
        const seconds = config?.workflowExecutionRetentionTtl?.seconds;
        return seconds === undefined || seconds === null
          ? null
          : Number(seconds.toString()) * 1_000;
      }),
    clock: (queue) =>
      within(QUESTION_MS, () =>
        readClock(async () => [
          ...(await readWorkers(client, queue, 'workflows')),
          ...(await readWorkers(client, queue, 'activities')),
        ]),
      ),
    searchAttributes: () => within(QUESTION_MS, () => readSearchAttributes(client)),
    workers: (queue, kind) => within(QUESTION_MS, () => readWorkers(client, queue, kind)),
    openRuns,
    taskFailure: (id) => within(QUESTION_MS, () => readTaskFailure(client, id)),
    handoverAdvice: (id) => {
      const asked = advice.get(id) ?? within(QUESTION_MS, () => readHandoverAdvice(client, id));
      advice.set(id, asked);
      return asked;
    },
    answers,
    deployment: once(() => within(LIST_MS, () => fleet.status())),
    seen: async () => {
      const [described, asked] = [await openRuns(), await answers()];
      const open = await within(QUESTION_MS, () => client.workflow.count(OPEN_RUNS)).catch(
        () => null,
      );
      return { open: open?.count ?? null, described: described.length, asked: asked.size };
    },
  };
}

/** Asks at the first call only. */
function once<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let asked: Promise<Answer> | null = null;
  return () => (asked ??= ask());
}

async function readWorkers(
  client: Client,
  name: string,
  kind: 'workflows' | 'activities',
): Promise<readonly SeenWorker[]> {
  return readPollers({ client, name: '' }, { name, kind });
}

/** Null from a service that refuses the question, as Temporal Cloud may. */
async function readSearchAttributes(client: Client): Promise<ReadonlyMap<string, string> | null> {
  const { namespace } = client.options;
  try {
    const { customAttributes } = await client.connection.operatorService.listSearchAttributes({
      namespace,
    });
    return new Map(
      Object.entries(customAttributes).map(([name, type]) => [name, TYPES[type] ?? `type ${type}`]),
    );
  } catch {
    return null;
  }
}
