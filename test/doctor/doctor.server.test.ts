/** `everloop doctor` on a real service: workers, and a run that no worker can take. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import { AGENT_WORKFLOW } from '../../src/core/contract/messages.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { doctorService } from '../../src/doctor/service.ts';
import type { DoctorReport } from '../../src/doctor/run-doctor.ts';
import { cli } from '../cli/cli-fixture.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { answer } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
let folder: string;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  folder = await mkdtemp(join(tmpdir(), 'everloop-doctor-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await stage?.close();
});

async function doctor(taskQueue: string): Promise<DoctorReport & { readonly exitCode: number }> {
  const { address, namespace } = stage;
  const env = {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    EVERLOOP_TASK_QUEUE: taskQueue,
  };
  const setup = { env, cwd: folder, io: { connect } };
  const { exitCode, stdout, stderr } = await cli(['--json', 'doctor'], setup);
  if (stdout === '') throw new Error(stderr);
  return { ...(JSON.parse(stdout) as DoctorReport), exitCode };
}

it(
  'finds a queue without workers, and a run whose task fails, with its reason',
  { timeout: 240_000 },
  async () => {
    const taskQueue = `doctor-${randomUUID()}`;
    const before = await doctor(taskQueue);
    const agent = defineAgent({
      name: 'clerk',
      mode: 'react',
      model: { id: 'm', model: async () => answer() },
    });
    await stage.serve([agent], { taskQueue });
    const run = await stage.client.workflow.start(AGENT_WORKFLOW, {
      workflowId: `doctor-${randomUUID()}`,
      taskQueue,
      args: [{ v: 99, agent: 'clerk' }],
    });
    await eventually('a second try', async () => {
      // It reads the list of runs once.
      const service = doctorService(stage.client);
      const open = await service.openRuns();
      const isTried = open.some(({ id, task }) => id === run.workflowId && task !== null);
      return isTried && (await service.taskFailure(run.workflowId)) !== null;
    });
    const after = await eventually('a finding', async () => {
      const report = await doctor(taskQueue);
      return report.findings.some(({ message }) => message.includes(run.workflowId)) && report;
    });
    await run.terminate();

    const workersOf = ({ findings }: DoctorReport): readonly string[] =>
      findings.filter(({ code }) => code === 'no-workers').map(({ message }) => message);
    expect(workersOf(before)).toHaveLength(2);
    expect(before.exitCode).toBe(1);
    expect(workersOf(after)).toEqual([]);
    expect(after.exitCode).toBe(1);
    // The server is not one that Everloop started for this folder.
    expect(after.findings.map(({ code }) => code)).toContain('unseen-limits');
    expect(after.runs?.open).toBeGreaterThanOrEqual(1);
    const finding = after.findings.find(({ message }) => message.includes(run.workflowId));
    expect(finding).toMatchObject({ code: 'failing-tasks', severity: 'error' });
    expect(finding?.message).toContain('Refused: input of version 99');
    const [seen] = await doctorService(stage.client).workers(taskQueue, 'workflows');
    expect(seen?.identity).toMatch(/^\d+@[^/]+\/node-\d+\/everloop-\d+\.\d+\.\d+\/-\/[0-9a-f]{8}$/);
  },
);

it.runIf(RUNS_ALL)('says why there is no server, and checks the rest', async () => {
  const env = { TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const agents = fileURLToPath(new URL('../support/fixtures/keyed-agents.ts', import.meta.url));

  const { exitCode, stdout } = await cli(['doctor', '--agents', agents], {
    env,
    cwd: folder,
    io: { connect },
  });

  expect(exitCode).toBe(1);
  expect(stdout).toContain('error server/server-unreachable');
  expect(stdout).toContain('Expected a Temporal server at 127.0.0.1:1');
  expect(stdout).toContain('`OPENAI_API_KEY` to be set for `fast`');
  expect(stdout).toContain('`ANTHROPIC_API_KEY` to be set for `anthropic/claude-sonnet-4-5`');
  expect(stdout).not.toContain('scripted');
});
