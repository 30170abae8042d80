/** Files of the command line as media of a task. */
import { open } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { MediaPart } from '../../core/base/message.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { mediaTypeOfBytes, mediaTypeOfName } from '../../core/text/media-type.ts';

/** The most bytes of all files of a command; what a start may have depends on the blob store. */
const MAX_BYTES = 12_000_000;

/** The files that a command names. */
export interface FileFlags {
  /** Paths of files of any type. */
  readonly file: readonly string[];
  /** Paths of pictures. */
  readonly image: readonly string[];
}

/** The media of the files, in their order, pictures first; undefined: there are none. */
export async function readFiles(
  { file, image }: FileFlags,
  cwd: string,
): Promise<readonly MediaPart[] | undefined> {
  const media: MediaPart[] = [];
  let left = MAX_BYTES;
  for (const [option, path] of [
    ...image.map((it) => ['--image', it] as const),
    ...file.map((it) => ['--file', it] as const),
  ]) {
    const bytes = await readAtMost(option, resolve(cwd, path), left);
    left -= bytes.length;
    const mediaType = typeOf(basename(path), bytes);
    if (option === '--image' && mediaType?.startsWith('image/') !== true) {
      throw unfit(
        option,
        'a picture',
        `\`${path}\`, which is none`,
        'Give other files by `--file`.',
      );
    }
    if (mediaType === undefined) {
      const got = `\`${path}\`, whose type neither its bytes nor its name tell`;
      throw unfit(option, 'a file of a known type', got, 'Name it with its end, such as `.pdf`.');
    }
    media.push({ type: 'media', mediaType, data: bytes.toString('base64') });
  }
  return media.length === 0 ? undefined : media;
}

/** The type that bytes or the name tell; a file of text is a text, whatever its name. */
function typeOf(name: string, bytes: Buffer): string | undefined {
  const known = mediaTypeOfBytes(bytes) ?? mediaTypeOfName(name);
  if (known !== undefined) return known;
  return isText(bytes) ? 'text/plain' : undefined;
}

function isText(bytes: Buffer): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder('utf8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

async function readAtMost(option: string, path: string, left: number): Promise<Buffer> {
  const unread = (got: string): UsageError =>
    unfit(option, 'the path of a file', got, 'Correct the path.');
  const handle = await open(path).catch((cause: unknown) => {
    throw Object.assign(unread(`\`${path}\`, which cannot be read`), { cause });
  });
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw unread(`\`${path}\`, which is no file`);
    if (stat.size > left) {
      const expected = `files of at most ${MAX_BYTES} bytes together`;
      throw unfit(
        option,
        expected,
        'more',
        'Name a larger file by its URL, in a tool or in the task.',
      );
    }
    const bytes = Buffer.alloc(stat.size);
    const { bytesRead } = await handle.read(bytes, 0, stat.size, 0);
    return bytes.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function unfit(option: string, expected: string, got: string, what: string): UsageError {
  return new UsageError(
    'argument',
    `Expected \`${option}\` to be ${expected}, got ${got}. ${what}`,
  );
}
