/** IPv4 addresses within IPv6 addresses: a gateway or the system itself may lead there. */
import { isIPv6 } from 'node:net';

/** Where a form of IPv6 address has its IPv4 address: the bits that tell the form, and four bytes. */
interface EmbeddedForm {
  /** The first bytes, in hex. */
  readonly prefix: string;
  readonly at: readonly [number, number, number, number];
  /** Whether its bits are inverted. */
  readonly isInverted?: true;
}

const LAST = [12, 13, 14, 15] as const;

const FORMS: readonly EmbeddedForm[] = [
  // IPv4-mapped and IPv4-compatible (RFC 4291), and IPv4-translated (RFC 2765).
  { prefix: '00000000000000000000ffff', at: LAST },
  { prefix: '000000000000000000000000', at: LAST },
  { prefix: '0000000000000000ffff0000', at: LAST },
  // NAT64: its known prefix (RFC 6052), and the local one (RFC 8215) at each length.
  { prefix: '0064ff9b0000000000000000', at: LAST },
  { prefix: '0064ff9b0001', at: LAST },
  { prefix: '0064ff9b0001', at: [9, 10, 11, 12] },
  { prefix: '0064ff9b0001', at: [7, 9, 10, 11] },
  { prefix: '0064ff9b0001', at: [6, 7, 9, 10] },
  // 6to4 (RFC 3056), and server and client of Teredo (RFC 4380).
  { prefix: '2002', at: [2, 3, 4, 5] },
  { prefix: '20010000', at: [4, 5, 6, 7] },
  { prefix: '20010000', at: LAST, isInverted: true },
];

/** The IPv4 addresses that `address` may stand for; none if it is no IPv6 address. */
export function embeddedIpv4(address: string): readonly string[] {
  const bytes = bytesOf(address);
  if (bytes === undefined) return [];
  const hex = Buffer.from(bytes).toString('hex');
  const forms = FORMS.filter(({ prefix }) => hex.startsWith(prefix));
  // ISATAP (RFC 5214), below any prefix.
  if (/^.{16}0[02]005efe/.test(hex)) forms.push({ prefix: '', at: LAST });
  return forms.map(({ at, isInverted }) =>
    at.map((place) => (bytes[place] ?? 0) ^ (isInverted === true ? 0xff : 0)).join('.'),
  );
}

function bytesOf(address: string): readonly number[] | undefined {
  const [plain = ''] = address.split('%');
  if (!isIPv6(plain)) return undefined;
  // As the parser of addresses writes it: hex alone, and one `::` at most.
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const before = groupsOf(head);
  const after = groupsOf(tail ?? '');
  const left = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return [...before, ...left, ...after].flatMap((group) => [group >> 8, group & 0xff]);
}

function groupsOf(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}
