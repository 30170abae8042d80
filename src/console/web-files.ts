/**
 * The pages of the console: files of one folder, which need no token, because they hold no data.
 *
 * I1  Only files that the folder lists are served, by their names: no path leads out of it.
 * I2  Names of assets have a hash of their content, so browsers keep them; the page itself is asked
 *     for each time.
 */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json',
};

/** Serves what a browser loads. */
export interface WebFiles {
  /** An asset by its path, such as `/assets/main-AB12.js`; null: there is none. */
  readonly asset: (path: string) => Promise<Response | null>;
  /** The page, whatever its path. */
  readonly page: () => Promise<Response>;
}

/** Serves `folder`, mounted at `base`; undefined, or a missing folder: a page that says so. */
export function createWebFiles(folder: string | undefined, base: string): WebFiles {
  const known = new Map<string, Buffer<ArrayBuffer>>();
  const read = async (path: string): Promise<Buffer<ArrayBuffer> | null> => {
    const kept = known.get(path);
    if (kept !== undefined || folder === undefined) return kept ?? null;
    const file = await readFile(join(folder, path)).catch(() => null);
    if (file !== null) known.set(path, file);
    return file;
  };
  let listed: Promise<readonly string[]> | undefined;
  const names = (): Promise<readonly string[]> => {
    listed ??= folder === undefined ? Promise.resolve([]) : readdir(join(folder, 'assets'));
    return listed.catch(() => []);
  };
  return {
    asset: async (path) => {
      const name = path.replace(/^\/assets\//, '');
      if (!(await names()).includes(name)) return null;
      const bytes = await read(join('assets', name));
      if (bytes === null) return null;
      const type = TYPES[extname(name)] ?? 'application/octet-stream';
      return new Response(bytes, {
        headers: { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' },
      });
    },
    page: async () => {
      const bytes = await read('index.html');
      const html = bytes?.toString('utf8').replaceAll('%BASE%', base) ?? NO_PAGES;
      return new Response(html, {
        status: bytes === null ? 503 : 200,
        headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' },
      });
    },
  };
}

const NO_PAGES = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Everloop</title>
<h1>The pages of this console are missing</h1>
<p>The server runs, and its API answers. The pages were not built: run <code>npm run build</code>,
then start the console again.</p>
</html>
`;
