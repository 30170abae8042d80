/** The type of a file: by its first bytes, and by the end of its name. */

/** What files of a type begin with: bytes as hexadecimal digits, `?` for any, from the start. */
const BEGINNINGS: readonly (readonly [begins: string, mediaType: string])[] = [
  ['89504e470d0a1a0a', 'image/png'],
  ['ffd8ff', 'image/jpeg'],
  ['47494638', 'image/gif'],
  ['52494646????????57454250', 'image/webp'],
  ['52494646????????57415645', 'audio/wav'],
  ['424d', 'image/bmp'],
  ['49492a00', 'image/tiff'],
  ['4d4d002a', 'image/tiff'],
  ['????????6674797061766966', 'image/avif'],
  ['????????6674797068656963', 'image/heic'],
  ['????????667479704d344120', 'audio/mp4'],
  ['????????66747970', 'video/mp4'],
  ['1a45dfa3', 'video/webm'],
  ['25504446', 'application/pdf'],
  ['494433', 'audio/mpeg'],
  ['fffb', 'audio/mpeg'],
  ['fff3', 'audio/mpeg'],
  ['664c6143', 'audio/flac'],
  ['4f676753', 'audio/ogg'],
];

/** Types by the end of a name, in small letters; for what bytes do not say. */
const ENDS: Readonly<Record<string, string>> = {
  txt: 'text/plain',
  log: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  htm: 'text/html',
  xml: 'text/xml',
  json: 'application/json',
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
  webm: 'video/webm',
};

/** The type that the first bytes of a file tell; undefined: they tell none. */
export function mediaTypeOfBytes(bytes: Uint8Array): string | undefined {
  return BEGINNINGS.find(([begins]) => beginsWith(bytes, begins))?.[1];
}

/** The type that the end of a name tells; undefined: it tells none. */
export function mediaTypeOfName(name: string): string | undefined {
  const end = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(ENDS, end) ? ENDS[end] : undefined;
}

function beginsWith(bytes: Uint8Array, begins: string): boolean {
  if (bytes.length * 2 < begins.length) return false;
  for (let index = 0; index < begins.length; index += 2) {
    const digits = begins.slice(index, index + 2);
    if (digits !== '??' && bytes[index / 2] !== Number.parseInt(digits, 16)) return false;
  }
  return true;
}
