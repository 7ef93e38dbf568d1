/** The parts of the address of a request. */

/** The host as in DNS and certificates: without the brackets of IPv6, and without a trailing dot. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

/** The port, also if the address has none. */
export function portOf({ port, protocol }: URL): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}
