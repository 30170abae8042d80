import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Protection } from '../../src/protection/protection.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { protectionOf } from '../../src/protection/protection.ts';
import { sealedLines } from '../../src/protection/sealed-lines.ts';
import { createDirectoryArchive } from '../../src/worker/files/directory-archive.ts';
import { archivedKeys, sealArchive } from '../../src/worker/files/sealed-archive.ts';
import { cli } from '../cli/cli-fixture.ts';

const k1 = Buffer.alloc(32, 1);
const k2 = Buffer.alloc(32, 2);
const plain = protectionOf(undefined);
const first = protectionOf({ keys: keyRing({ current: 'k1', keys: { k1 } }) });
const both = protectionOf({ keys: keyRing({ current: 'k2', keys: { k1, k2 } }) });
const acme = Buffer.alloc(32, 3);
const tenants = protectionOf({
  keys: keyRing({ current: 'k2', keys: { k1, k2, acme } }),
  keyFor: 'tenant',
});
const rotated = protectionOf({
  keys: keyRing({ current: 'k2', keys: { k1, k2, 'acme/2': Buffer.alloc(32, 4), acme } }),
  keyFor: 'tenant',
});
const second = protectionOf({ keys: keyRing({ current: 'k2', keys: { k2 } }) });

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-archive-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

const RUN = '0b7c1a';

async function write(
  link: number,
  items: readonly string[],
  protection: Protection,
  workflowId?: string,
): Promise<void> {
  const runId = workflowId === undefined ? RUN : `${RUN}-${workflowId.slice(0, 4)}`;
  await writeTo(folder, items, { link, protection, runId, workflowId });
}

/** Archives the entries of a link, the first of which is number `2 * link` of its chain. */
async function writeTo(
  directory: string,
  items: readonly string[],
  {
    link = 0,
    runId = RUN,
    workflowId = 'order',
    protection,
  }: {
    readonly link?: number;
    readonly runId?: string;
    readonly workflowId?: string | undefined;
    readonly protection?: Protection;
  } = {},
): Promise<void> {
  const run = { namespace: 'default', workflowId };
  const firsts = { firstEntry: link * 2, firstEvent: 0 };
  await createDirectoryArchive(directory, protection).write(
    { runId, kind: 'pages', link, ...firsts, run },
    [{ list: 'entries', items }],
  );
}

const read = async (protection: Protection): Promise<readonly unknown[]> =>
  createDirectoryArchive(folder, protection).read(RUN, 'entries', 0, 100);

const bytes = async (): Promise<string> => {
  const names = await readdir(join(folder, RUN));
  return (await Promise.all(names.map((name) => readFile(join(folder, RUN, name), 'utf8')))).join();
};

describe('sealArchive', () => {
  it('seals what is plain, keeps what is sealed, and finds nothing the next time', async () => {
    await write(0, ['tea', 'rum'], plain);
    await write(1, ['gin', 'ale'], first);
    await utimes(join(folder, RUN, (await readdir(join(folder, RUN)))[0] ?? ''), 1e9, 1e9);

    expect(await sealArchive(folder, both)).toEqual({ files: 1, lines: 2 });

    expect(await bytes()).not.toContain('tea');
    expect(await read(both)).toEqual(['tea', 'rum', 'gin', 'ale']);
    expect(await archivedKeys(folder)).toEqual(
      new Map([
        ['k2', 2],
        ['k1', 2],
      ]),
    );
    const [oldest] = await readdir(join(folder, RUN));
    expect((await stat(join(folder, RUN, oldest ?? ''))).mtimeMs).toBe(1e12);
    expect((await stat(join(folder, RUN, oldest ?? ''))).mode & 0o777).toBe(0o600);
    expect(await sealArchive(folder, both)).toEqual({ files: 0, lines: 0 });
  });

  it('seals lines of other keys again if it is asked, so that they can be dropped', async () => {
    await write(0, ['tea', 'rum'], plain);
    await write(1, ['gin', 'ale'], first);
    await write(2, ['cola', 'water'], second);

    expect(await sealArchive(folder, both, { rekey: true })).toEqual({ files: 2, lines: 4 });

    expect(await archivedKeys(folder)).toEqual(new Map([['k2', 6]]));
    expect(await read(second)).toEqual(['tea', 'rum', 'gin', 'ale', 'cola', 'water']);
  });

  it('seals each line with the key for its run, and leaves lines of tenants alone', async () => {
    await write(0, ['tea'], plain, 'acme:order');
    await write(0, ['rum'], plain, 'order');
    await write(1, ['gin'], tenants, 'acme:order');
    await write(1, ['ale'], first, 'order');

    expect(await sealArchive(folder, tenants)).toEqual({ files: 2, lines: 2 });
    expect(await archivedKeys(folder)).toEqual(
      new Map([
        ['acme', 2],
        ['k1', 1],
        ['k2', 1],
      ]),
    );

    expect(await sealArchive(folder, tenants, { rekey: true })).toEqual({ files: 1, lines: 1 });
    expect(await archivedKeys(folder)).toEqual(
      new Map([
        ['acme', 2],
        ['k2', 2],
      ]),
    );

    // With the next key of the tenant, its lines move to that one.
    expect(await sealArchive(folder, rotated, { rekey: true })).toEqual({ files: 2, lines: 2 });
    expect(await archivedKeys(folder)).toEqual(
      new Map([
        ['acme/2', 2],
        ['k2', 2],
      ]),
    );
  });

  it('moves no line of an unknown run where tenants have keys', async () => {
    const sealing = protectionOf({ keys: keyRing({ current: 'acme', keys: { acme } }) });
    await write(0, ['tea'], sealing);
    const [name = ''] = await readdir(join(folder, RUN));
    const text = await readFile(join(folder, RUN, name), 'utf8');
    await writeFile(join(folder, RUN, name), text.slice(text.indexOf('\n') + 1));

    expect(await sealArchive(folder, tenants, { rekey: true })).toEqual({ files: 0, lines: 0 });
    expect(await archivedKeys(folder)).toEqual(new Map([['acme', 1]]));
  });

  it('seals all others before it says that the key of a tenant is missing', async () => {
    await write(0, ['tea'], plain, 'acme:order');
    await write(0, ['rum'], plain, 'order');
    const without = protectionOf({
      keys: keyRing({ current: 'k1', keys: { k1 } }),
      keyFor: 'tenant',
    });

    await expect(sealArchive(folder, without)).rejects.toMatchObject({ keyId: 'acme' });
    expect(await archivedKeys(folder)).toEqual(
      new Map<string | null, number>([
        [null, 1],
        ['k1', 1],
      ]),
    );
  });

  it('loses nothing that follows the last end of a line', async () => {
    await write(0, ['tea', 'ale'], plain);
    await write(1, ['gin'], first);
    const files = (await readdir(join(folder, RUN))).map((name) => join(folder, RUN, name));
    const [whole = '', sealed = ''] = files;
    const [, , line = ''] = (await readFile(sealed, 'utf8')).split('\n');
    const cut = line.slice(0, 30);
    await appendFile(whole, '"rum"');
    await appendFile(sealed, cut);

    expect(await sealArchive(folder, first)).toEqual({ files: 2, lines: 4 });

    for (const [file, last] of [
      [whole, '"rum"'],
      [sealed, cut],
    ] as const) {
      const lines = (await readFile(file, 'utf8')).split('\n');
      expect(await sealedLines(first).open(lines.slice(-1))).toEqual([last]);
    }
    expect(await read(first)).toEqual(['tea', 'ale', 'gin']);
  });

  it('keeps every file whole when it is stopped, and goes on the next time', async () => {
    for (let link = 0; link < 4; link++) await write(link, [`a${link}`, `b${link}`], plain);
    const { codec } = first;
    let left = 4;
    const failing = {
      ...first,
      codec: {
        ...codec,
        encode: (...given: Parameters<typeof codec.encode>) => {
          left -= 1;
          if (left < 0) throw new Error('The machine has lost its power.');
          return codec.encode(...given);
        },
      },
    };

    await expect(sealArchive(folder, failing)).rejects.toThrow('lost its power');

    const items = [0, 1, 2, 3].flatMap((link) => [`a${link}`, `b${link}`]);
    expect(await read(first)).toEqual(items);
    expect(await archivedKeys(folder)).toEqual(
      new Map<string | null, number>([
        ['k1', 4],
        [null, 4],
      ]),
    );
    expect(await sealArchive(folder, first)).toEqual({ files: 2, lines: 4 });
    expect(await read(first)).toEqual(items);
  });

  it('loses nothing that workers write meanwhile, and resurrects nothing that is deleted', async () => {
    for (let link = 0; link < 30; link++) await write(link, [`a${link}`, `b${link}`], plain);
    const other = join(folder, 'deleted');
    await mkdir(other);
    for (let link = 0; link < 30; link++) await writeFile(join(other, `${link}-0-0.jsonl`), '1\n');

    const writing = (async () => {
      for (let link = 15; link < 45; link++) await write(link, [`a${link}`, `b${link}`], first);
    })();
    await Promise.all([
      writing,
      sealArchive(folder, both),
      sealArchive(folder, both),
      rm(other, { recursive: true, force: true, maxRetries: 20 }),
    ]);

    const items = Array.from({ length: 45 }, (_, link) => [`a${link}`, `b${link}`]).flat();
    expect(await read(both)).toEqual(items);
    expect((await archivedKeys(folder)).has(null)).toBe(false);
    expect(await readdir(folder)).toEqual([RUN]);
  });

  it('deletes drafts of workers that have died, which may be plain, and no others', async () => {
    await write(0, ['tea'], plain);
    await writeFile(join(folder, RUN, 'transcript-1.jsonl.dead.tmp'), 'camphor');
    await utimes(join(folder, RUN, 'transcript-1.jsonl.dead.tmp'), 1e9, 1e9);
    await writeFile(join(folder, RUN, 'transcript-1.jsonl.alive.tmp'), 'draft');

    await sealArchive(folder, first);

    const left = (await readdir(join(folder, RUN))).filter((name) => name.endsWith('.tmp'));
    expect(left).toEqual(['transcript-1.jsonl.alive.tmp']);
  });
});

describe('everloop archive encrypt', () => {
  const entry = (id: string, key: Buffer): string => `${id}=${key.toString('base64')}`;

  it('encrypts the archive of the data folder', async () => {
    await writeTo(join(folder, 'archive'), ['tea', 'rum']);
    const env = { EVERLOOP_DATA_DIR: folder, EVERLOOP_KEYS: entry('k1', k1) };

    const { exitCode, stdout } = await cli(['archive', 'encrypt'], { env });
    const again = await cli(['archive', 'encrypt', '--rekey', '--json'], { env });

    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: `Encrypted 2 lines of 1 files in ${join(folder, 'archive')}.\n`,
    });
    expect(JSON.parse(again.stdout)).toEqual({ files: 0, lines: 0 });
  });

  it('says which key it lacks', async () => {
    await writeTo(join(folder, 'archive'), ['tea'], { protection: first });
    const env = { EVERLOOP_DATA_DIR: folder, EVERLOOP_KEYS: entry('k2', k2) };

    const lacking = await cli(['archive', 'encrypt', '--rekey'], { env });
    const none = await cli(['archive', 'encrypt'], { env: { EVERLOOP_DATA_DIR: folder } });

    expect([lacking.exitCode, lacking.stderr]).toEqual([
      2,
      `Expected key \`k1\` to encrypt the archive in \`${join(folder, 'archive')}\` again, got keys (k2). Set EVERLOOP_KEYS.\n`,
    ]);
    expect([none.exitCode, none.stderr]).toEqual([
      2,
      'Expected keys to encrypt with, got none. Set EVERLOOP_KEYS to the keys of the workers.\n',
    ]);
  });
});
