/**
 * Where callbacks may go. Who writes a definition or starts a run chooses the address, and no model
 * does, so private addresses are allowed: most receivers are services beside the worker.
 *
 * I1  Addresses that only a machine's own network answers, such as the metadata services of clouds,
 *     are never called, whatever the host is named. They are checked as they are connected to, so
 *     a name that changes its address between two look-ups gains nothing.
 * I2  An operator may name the hosts; then no other is called.
 */
import { lookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** The addresses of I1. IPv4 addresses written as IPv6 match their rules as well. */
const REFUSED = new BlockList();
// Link-local, with the metadata service of most clouds (RFC 3927, RFC 4291).
REFUSED.addSubnet('169.254.0.0', 16);
REFUSED.addSubnet('fe80::', 10, 'ipv6');
// Metadata of AWS over IPv6, of Alibaba Cloud, and the host of Azure's machines.
REFUSED.addAddress('fd00:ec2::254', 'ipv6');
REFUSED.addAddress('100.100.100.200');
REFUSED.addAddress('168.63.129.16');
// "This network", which connects to the machine itself, and multicast (RFC 6890).
REFUSED.addSubnet('0.0.0.0', 8);
REFUSED.addAddress('::', 'ipv6');
REFUSED.addSubnet('224.0.0.0', 4);
REFUSED.addSubnet('ff00::', 8, 'ipv6');

/** Whether callbacks never go to `address`. */
export function isRefusedAddress(address: string): boolean {
  const family = isIP(address);
  return family === 0 || REFUSED.check(address, family === 6 ? 'ipv6' : 'ipv4');
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

function refusal(address: string): Error {
  return new Error(
    `callbacks are not sent to ${address}, which is an address of the network itself`,
  );
}
