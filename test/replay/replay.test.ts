/** `everloop replay`: histories are tried with this code, and saved without what was written. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { directoryBlobs } from '../../src/protection/blobs/directory-blobs.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { protectionOf, type Protection } from '../../src/protection/protection.ts';
import { inTurns, linksIn, linksOf, sampleOf } from '../../src/replay/choose.ts';
import { replayAll, type OwnLoops, type ReplayReport } from '../../src/replay/report.ts';
import { payloadValue, readRunHistories, type RunHistory } from '../../src/replay/run-history.ts';
import { markOf } from '../../src/worker/bundle/bundle-mark.ts';
import { loadWorkflowBundle, type LoadedBundle } from '../../src/worker/bundle/bundle.ts';
import { cli, type CliResult } from '../cli/cli-fixture.ts';
import { bundleFolder, shareBundle, TEST_LOOPS } from '../support/bundles.ts';
import { programAgent } from '../support/program-agents.ts';
import { answer } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

const HISTORIES = fileURLToPath(new URL('../histories', import.meta.url));
const OWN_LOOPS = fileURLToPath(
  new URL('../support/fixtures/workflows/programs-loop.ts', import.meta.url),
);

const PATCHED = fileURLToPath(new URL('../support/fixtures/workflows/patched.ts', import.meta.url));

let stage: Stage;
let bundle: LoadedBundle;
let own: OwnLoops;
let folder: string;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  bundle = await loadWorkflowBundle({ cacheDir: await bundleFolder() });
  own = {
    bundle: await loadWorkflowBundle({
      cacheDir: await bundleFolder(OWN_LOOPS),
      workflowsPath: OWN_LOOPS,
    }),
    mark: await markOf(OWN_LOOPS),
  };
  folder = await mkdtemp(join(tmpdir(), 'everloop-replay-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await stage?.close();
});

async function recorded(name: string): Promise<RunHistory> {
  const [link] = readRunHistories(await readFile(join(HISTORIES, `${name}.json`), 'utf8')) ?? [];
  if (link === undefined) throw new Error(`Expected ${name} to be a history.`);
  return link;
}

async function* each(...links: readonly RunHistory[]): AsyncGenerator<RunHistory> {
  yield* links;
}

/** What a person reads in the payloads of the files of a folder. */
async function writtenIn(path: string): Promise<string> {
  const texts: string[] = [];
  for (const name of await readdir(path)) {
    const text = await readFile(join(path, name), 'utf8');
    texts.push(text.replaceAll(/"data":\s*"([^"]*)"/g, (_all, data: string) => decoded(data)));
  }
  return texts.join('\n');
}

function decoded(data: string): string {
  return Buffer.from(data, 'base64').toString();
}

/** The command line, with the bundles of this run of tests and without a server. */
async function run(...argv: readonly string[]): Promise<CliResult> {
  return runIn({}, argv);
}

/** The same with further variables. */
async function runIn(
  env: { readonly [name: string]: string },
  argv: readonly string[],
): Promise<CliResult> {
  const cwd = await mkdtemp(join(folder, 'cwd-'));
  await shareBundle(cwd);
  return cli(argv, { cwd, env: { EVERLOOP_DATA_DIR: cwd, ...env } });
}

/** What a replay found. */
interface CliReport {
  readonly exitCode: number;
  readonly report: ReplayReport;
}

function reportOf({ exitCode, stdout, stderr }: CliResult): CliReport {
  if (stdout === '') throw new Error(stderr);
  return { exitCode, report: JSON.parse(stdout) as ReplayReport };
}

/** Replays what needs no server. */
async function replayCli(...argv: readonly string[]): Promise<CliReport> {
  return reportOf(await run('--json', 'replay', ...argv));
}

/** Replays runs of the server. */
async function replayRuns(...argv: readonly string[]): Promise<CliReport> {
  const { address, namespace } = stage;
  const env = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  return reportOf(await runIn(env, ['--json', 'replay', ...argv]));
}

describe('everloop replay', () => {
  it('fits the corpus, with the loops that some of it needs', async () => {
    const { exitCode, report } = await replayCli('--from', HISTORIES, '--workflows', OWN_LOOPS);

    expect(report).toMatchObject({ failures: [], skipped: [], saved: null });
    expect(report.links).toBe((await readdir(HISTORIES)).length);
    expect(exitCode).toBe(0);
  });

  it('finds a broken build, with run, event and what came before', async () => {
    const code = bundle.code.replace(/\)\.callModel\(/, ').judgeAnswer(');
    expect(code).not.toBe(bundle.code);
    const link = await recorded('chat');

    const { failures } = await replayAll(each(link), { bundle: { ...bundle, code } });

    const { eventId } = link.history.events.find((event) =>
      JSON.stringify(event).includes('"callModel"'),
    ) as RunHistory['history']['events'][number];
    expect(failures).toEqual([
      {
        workflowId: link.workflowId,
        executionId: link.runId,
        agent: 'airline',
        build: null,
        message:
          "Activity type of scheduled event 'callModel' does not match activity type of activity command 'judgeAnswer'",
        event: { id: Number(eventId), type: 'ACTIVITY_TASK_SCHEDULED' },
        after: { seq: 3, type: 'agent:model_call:before' },
        unknownPatches: [],
      },
    ]);
  });

  it('exits with 1 if a history does not fit, and shows it', async () => {
    const place = await mkdtemp(join(folder, 'changed-'));
    const text = await readFile(join(HISTORIES, 'chat.json'), 'utf8');
    await writeFile(join(place, 'chat.json'), text.replaceAll('"callModel"', '"callTool"'));

    const { exitCode, report } = await replayCli('--from', place);

    expect(exitCode).toBe(1);
    expect(report.failures).toMatchObject([{ agent: 'airline', event: { id: 6 } }]);
  });

  it('refuses a folder with other files, and says which', async () => {
    const place = await mkdtemp(join(folder, 'other-'));
    await writeFile(join(place, 'other.json'), '{"v": 1}');

    const { exitCode, stderr } = await run('replay', '--from', place);

    expect(exitCode).toBe(2);
    expect(stderr).toContain('got `other.json`');
  });
});

/** Runs of a loop of its own, and one that replays differently without its texts. */
const NEEDS_TEXTS = /^(?:program|tree-lowered)/;

describe('saved histories', () => {
  it('replay, and hold nothing that people and models wrote', async () => {
    const save = join(folder, 'saved');
    const files = (await readdir(HISTORIES)).map((file) => file.replace('.json', ''));
    const names = files.filter((name) => !NEEDS_TEXTS.test(name));
    const links = await Promise.all(names.map(recorded));

    const { saved } = await replayAll(each(...links), {
      bundle,
      save: { folder: save, raw: false },
    });

    expect(saved).toEqual({ links: names.length, left: [] });
    const { links: count, failures } = await replayAll(linksIn(save), { bundle });
    expect({ count, failures }).toEqual({ count: names.length, failures: [] });
    const written = await writtenIn(save);
    expect(await writtenIn(HISTORIES)).toMatch(/John Smith/);
    expect(written.match(/John|Smith|BK001|AA102|@email\.com/g)).toBeNull();
  });

  it('are read from the one file of a run that the console exports', async () => {
    const place = await mkdtemp(join(folder, 'exported-'));
    const names = ['chat', 'listed-waits'];
    const links = await Promise.all(names.map(recorded));
    const text = JSON.stringify({ v: 1, id: 'run', links: links.map(({ history }) => history) });
    await writeFile(join(place, 'run.history.json'), text);

    const { links: count, failures } = await replayAll(linksIn(place), { bundle });

    expect({ count, failures }).toEqual({ count: 2, failures: [] });
  });

  it('keep ids, numbers and the length of each text', async () => {
    const save = join(folder, 'shape');
    const link = await recorded('chat');
    await replayAll(each(link), { bundle, save: { folder: save, raw: false } });
    const [name = ''] = await readdir(save);
    const [saved] = readRunHistories(await readFile(join(save, name), 'utf8')) ?? [];

    expect(saved).toMatchObject({ ...link, history: expect.anything() as object });
    const shapes = [link, saved as RunHistory].map(shapeOf);
    expect(shapes[1]).toEqual(shapes[0]);
  });

  it('hold all texts with --raw', async () => {
    const save = join(folder, 'raw');

    const { report } = await replayCli('--from', HISTORIES, '--save', save, '--raw');

    expect(report.saved).toEqual({ links: report.links, left: [] });
    expect(await writtenIn(save)).toMatch(/John Smith/);
  });
});

/** The payloads of a link with each text as its length; keys stay unless they are data. */
function shapeOf({ history }: RunHistory): unknown {
  const payloads: unknown[] = [];
  const lengths = (_key: string, value: unknown): unknown =>
    typeof value === 'string' ? value.length : value;
  JSON.stringify(history, (_key, value: unknown) => {
    const payload = value as { readonly metadata?: object; readonly data?: string };
    if (payload?.metadata === undefined) return value;
    const read = payloadValue(payload as Parameters<typeof payloadValue>[0]);
    if (read !== undefined) payloads.push(Object.keys(Object(read)).length, length(read));
    return undefined;
  });
  return payloads;

  function length(read: unknown): number {
    return JSON.stringify(read, lengths).length;
  }
}

describe('links of a service', () => {
  it('of a later release are told with the patch that this code lacks', async () => {
    const agent = defineAgent({
      name: 'tester',
      mode: 'react',
      model: { id: 'm', model: async () => answer() },
    });
    const later = await stage.serve([agent], { workflowsPath: PATCHED });
    const run = await later.everloop.start('tester', { task: 'Go' });
    await run.result();
    const ofLater = { bundle, mark: await markOf(PATCHED) };

    const report = await replayAll(linksOf(stage.client, [run.id]), { bundle, own: ofLater });

    expect(report).toMatchObject({ links: 1, failures: [{ unknownPatches: ['of-tomorrow'] }] });
    await stage.replay(run, { workflowsPath: PATCHED });
  });

  it('are those of given runs, or a sample; runs of unknown loops are skipped', async () => {
    const agent = defineAgent({
      name: `tester-${randomUUID()}`,
      mode: 'react',
      model: { id: 'm', model: async () => answer() },
    });
    const served = await stage.serve([agent]);
    const users = await stage.serve([programAgent()], { workflowsPath: OWN_LOOPS });
    const plainRun = await served.everloop.start(agent.spec.name, { task: 'Go' });
    const mine = await users.everloop.start('programmer', {
      task: 'Go',
      context: { programs: ['(+ 1 2)'] },
    });
    await Promise.all([plainRun.result(), mine.result()]);

    const of = (ids: readonly string[]) => linksOf(stage.client, ids);
    const plain = await replayAll(of([plainRun.id, mine.id]), { bundle });
    const both = await replayAll(of([plainRun.id, mine.id]), { bundle, own });

    expect(plain).toMatchObject({
      links: 1,
      failures: [],
      skipped: [
        { workflows: expect.stringMatching(/^programs-loop@[0-9a-f]{8}$/) as string, links: 1 },
      ],
    });
    expect(both).toMatchObject({ links: 2, failures: [], skipped: [] });
    // The same file, changed since or renamed since.
    const [, digits = ''] = own.mark.split('@');
    for (const mark of ['programs-loop@00000000', `renamed@${digits}`, own.mark]) {
      const changed = await replayAll(of([mine.id]), { bundle, own: { ...own, mark } });
      expect(changed).toMatchObject({ links: 1, failures: [], skipped: [] });
    }
    // The loop of another file fits nothing, and is no failure.
    const { report, exitCode } = await replayRuns(mine.id, '--workflows', TEST_LOOPS);
    expect(report).toMatchObject({
      links: 0,
      failures: [],
      skipped: [{ workflows: own.mark, links: 1 }],
    });
    expect(exitCode).toBe(0);
    // What is saved without texts still says which file it needs.
    const place = await mkdtemp(join(folder, 'marked-'));
    await replayAll(of([mine.id]), { bundle, own, save: { folder: place, raw: false } });
    expect(await replayAll(linksIn(place), { bundle })).toMatchObject({
      links: 0,
      skipped: [{ workflows: own.mark, links: 1 }],
    });
    const query = `WorkflowId = '${plainRun.id}'`;
    const sampled: RunHistory[] = [];
    for await (const link of sampleOf(stage.client, { query, sample: 5 })) sampled.push(link);
    expect(sampled).toMatchObject([
      { workflowId: plainRun.id, agent: agent.spec.name, build: null },
    ]);
    await expect(async () => {
      for await (const link of of(['nobody'])) void link;
    }).rejects.toMatchObject({ code: 'run_not_found' });
  });

  it('are sampled from each group in turn', () => {
    expect(inTurns([['a1', 'a2', 'a3'], ['b1'], ['c1', 'c2']], 5)).toEqual([
      'a1',
      'b1',
      'c1',
      'a2',
      'c2',
    ]);
    expect(inTurns([['a1']], 5)).toEqual(['a1']);
    expect(inTurns([], 5)).toEqual([]);
  });
});

describe('a run with keys and blobs', () => {
  it('is replayed by who has both, and else says what is missing', async () => {
    const keys = keyRing({ current: 'k1', keys: { k1: randomBytes(32) } });
    const blobs = directoryBlobs(join(folder, 'blobs'));
    const protection = protectionOf({ keys, blobs });
    const taskQueue = `keyed-${randomUUID()}`;
    const agent = defineAgent({
      name: 'keyed',
      mode: 'chat',
      model: { id: 'keyed-model', model: async () => 'Done.' },
    });
    await stage.serve([agent], { taskQueue, protection });
    const everloop = stage.everloopOf(taskQueue, undefined, protection);
    const context = { large: 'x'.repeat(300_000) };
    const started = await everloop.start('keyed', { task: 'Go.', context });
    await started.result();
    const links: RunHistory[] = [];
    for await (const one of linksOf(stage.client, [started.id])) links.push(one);
    const [link] = links as [RunHistory];
    const replayed = async (by?: Protection): Promise<ReplayReport['failures']> =>
      (await replayAll(each(link), { bundle, ...(by && { protection: by }) })).failures;

    expect(await replayed(protection)).toEqual([]);
    expect(await replayed(protectionOf({ blobs }))).toMatchObject([
      {
        message: expect.stringContaining('Expected key `k1` to replay the run') as string,
      },
    ]);
    expect(await replayed(protectionOf({ keys }))).toMatchObject([
      {
        message: expect.stringContaining('Expected the blob store of the run, got none.') as string,
      },
    ]);
  });
});
