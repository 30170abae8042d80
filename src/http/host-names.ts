/** Hosts as they stand in addresses and in the header `Host`. */

/** `host` as an address has it: one of IPv6 in brackets. */
export function hostText(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** The name or address in a `Host`, in small letters, without its port and brackets. */
export function hostName(header: string): string {
  return header
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
}
