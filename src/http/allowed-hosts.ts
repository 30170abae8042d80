/**
 * Where requests may go whose address comes with a run: callbacks, and media by URL.
 *
 * I1  Addresses that only a machine's own network answers, such as the metadata services of clouds,
 *     are never called, whatever the host is named. They are checked as they are connected to, so
 *     a name that changes its address between two look-ups gains nothing.
 * I2  An operator may name the hosts; then no other is called.
 * I3  Private addresses are called where code writes the address (callbacks), since most receivers are
 *     services beside the worker. Where people and tools write it (media), an operator names the hosts.
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

/** The machine itself and private networks. No gateway leads there on purpose (RFC 6052). */
const PRIVATE = new BlockList();
PRIVATE.addSubnet('127.0.0.0', 8);
PRIVATE.addSubnet('10.0.0.0', 8);
PRIVATE.addSubnet('172.16.0.0', 12);
PRIVATE.addSubnet('192.168.0.0', 16);
PRIVATE.addSubnet('100.64.0.0', 10);
PRIVATE.addAddress('::1', 'ipv6');
PRIVATE.addSubnet('fc00::', 7, 'ipv6');
PRIVATE.addSubnet('fec0::', 10, 'ipv6');

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
    (inner) => REFUSED.check(inner) || (!isMapped && PRIVATE.check(inner)),
  );
}

/** Whether `address` is refused, or leads to the machine itself or to a private network. */
export function isNotPublic(address: string): boolean {
  if (isRefusedAddress(address)) return true;
  if (isIP(address) === 4) return PRIVATE.check(address);
  return PRIVATE.check(address, 'ipv6') || embeddedIpv4(address).some((one) => PRIVATE.check(one));
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

/** Whether an address is not called. */
export type IsRefused = (address: string) => boolean;

/** Looks up names for connections; fails if one of the addresses of a name is refused. */
export function lookupWithout(isRefused: IsRefused): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, []);
      const addresses = found as LookupAddress[];
      const refused = addresses.find(({ address }) => isRefused(address));
      if (refused !== undefined) return callback(refusal(refused.address), []);
      const [first] = addresses;
      if (options.all === true || first === undefined) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}

/**
 * Throws if the host of `url` is an address that is refused: it is no name, so nothing is looked up.
 */
export function checkAddress({ hostname }: URL, isRefused: IsRefused): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && isRefused(host)) throw refusal(host);
}

function refusal(address: string): Error {
  const what = isRefusedAddress(address) ? 'an address of the network itself' : 'a private address';
  return new Error(`no request is sent to ${address}, which is ${what}`);
}
