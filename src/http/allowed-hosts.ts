/**
 * Where requests may go whose address comes with a run: callbacks, and media by URL. Private addresses
 * are allowed: most receivers and stores are services beside the worker.
 *
 * I1  Addresses that only a machine's own network answers, such as the metadata services of clouds,
 *     are never called, whatever the host is named. They are checked as they are connected to, so
 *     a name that changes its address between two look-ups gains nothing.
 * I2  An operator may name the hosts; then no other is called.
 */
import { lookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { embeddedIpv4 } from './embedded-ipv4.ts';

/** The addresses of I1. */
const REFUSED = new BlockList();
// Link-local, with the metadata service of most clouds (RFC 3927, RFC 4291).
REFUSED.addSubnet('169.254.0.0', 16);
REFUSED.addSubnet('fe80::', 10, 'ipv6');
// Metadata of AWS over IPv6, of Alibaba Cloud and of Oracle's, and the host of Azure's machines.
REFUSED.addAddress('fd00:ec2::254', 'ipv6');
REFUSED.addAddress('100.100.100.200');
REFUSED.addAddress('192.0.0.192');
REFUSED.addAddress('168.63.129.16');
// "This network", which connects to the machine itself, and multicast (RFC 6890).
REFUSED.addSubnet('0.0.0.0', 8);
REFUSED.addAddress('::', 'ipv6');
REFUSED.addSubnet('224.0.0.0', 4);
REFUSED.addSubnet('ff00::', 8, 'ipv6');

/**
 * What no gateway leads to on purpose (RFC 6052): the machine itself and private networks. They may
 * be called, but only by their own addresses.
 */
const NOT_BY_GATEWAY = new BlockList();
NOT_BY_GATEWAY.addSubnet('127.0.0.0', 8);
NOT_BY_GATEWAY.addSubnet('10.0.0.0', 8);
NOT_BY_GATEWAY.addSubnet('172.16.0.0', 12);
NOT_BY_GATEWAY.addSubnet('192.168.0.0', 16);
NOT_BY_GATEWAY.addSubnet('100.64.0.0', 10);

/** Another way to write an IPv4 address, which leads through no gateway. */
const MAPPED = new BlockList();
MAPPED.addSubnet('::ffff:0:0', 96, 'ipv6');

/** Whether no request goes to `address`, in whatever form it is written. */
export function isRefusedAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return true;
  if (family === 4) return REFUSED.check(address);
  if (REFUSED.check(address, 'ipv6')) return true;
  if (address === '::1') return false;
  const isMapped = MAPPED.check(address, 'ipv6');
  return embeddedIpv4(address).some(
    (inner) => REFUSED.check(inner) || (!isMapped && NOT_BY_GATEWAY.check(inner)),
  );
}

/**
 * Whether `host` is one of `allowed`: names in full, or `*.example.com` for all below it. Undefined:
 * any host is.
 */
export function isAllowedHost(host: string, allowed: readonly string[] | undefined): boolean {
  if (allowed === undefined) return true;
  const name = host.toLowerCase();
  return allowed.some((entry) => {
    const wanted = entry.toLowerCase();
    return wanted.startsWith('*.') ? name.endsWith(wanted.slice(1)) : name === wanted;
  });
}

/** Looks up a name for a connection; fails if one of its addresses is refused. */
export const checkedLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    if (error !== null) return callback(error, []);
    const addresses = found as LookupAddress[];
    const refused = addresses.find(({ address }) => isRefusedAddress(address));
    if (refused !== undefined) return callback(refusal(refused.address), []);
    const [first] = addresses;
    if (options.all === true || first === undefined) return callback(null, addresses);
    callback(null, first.address, first.family);
  });
};

/**
 * Throws if the host of `url` is an address that is refused: it is no name, so nothing is looked up.
 */
export function checkAddress({ hostname }: URL): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && isRefusedAddress(host)) throw refusal(host);
}

function refusal(address: string): Error {
  return new Error(`no request is sent to ${address}, which is an address of the network itself`);
}
