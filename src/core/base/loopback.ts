/** Addresses that only programs on the same machine can reach. */

/** Whether `host` is this machine, and only this machine can reach it. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}
