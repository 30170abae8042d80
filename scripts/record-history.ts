/**
 * Records the histories of `test/histories`: runs that today's workflow code plays on a real
 * server, as JSON. Tests replay them with later code. Record a file again only if you changed the
 * order of commands or a format on purpose (`npm run record-history [NAME…]`), in the same commit.
 */
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { mkdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStage } from '../test/support/stage.ts';
import { historiesOf } from '../test/support/replay.ts';
import { HANDOVER_EVENTS, RECORDINGS } from '../test/support/recordings.ts';
import { startTestServer } from '../test/support/test-server.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'test/histories');

const wanted = process.argv.slice(2);
const chosen = RECORDINGS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
if (chosen.length === 0) {
  const names = RECORDINGS.map(({ name }) => name).join(', ');
  process.stderr.write(`Expected names of recordings (${names}), got ${wanted.join(' ')}.\n`);
  process.exit(2);
}
const server = await startTestServer({
  dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': HANDOVER_EVENTS },
});
const stage = await openStage(server);
try {
  await mkdir(FOLDER, { recursive: true });
  for (const { name, link, play } of chosen) {
    const run = await play(stage);
    const history = (await historiesOf(stage.client, run.id))[link];
    if (history === undefined) throw new Error(`Expected run ${name} to have a link ${link}.`);
    const file = join(FOLDER, `${name}.json`);
    // Do not publish who recorded it, nor where.
    const text = historyToJSON(history)
      .replaceAll(new RegExp(`\\d+@${hostname()}`, 'g'), 'recorder')
      .replaceAll(ROOT, '');
    await writeFile(file, `${JSON.stringify(JSON.parse(text), null, 1)}\n`);
    process.stdout.write(`${file}: ${history.events?.length} events\n`);
  }
} finally {
  await stage.close();
  await server.stop();
}
