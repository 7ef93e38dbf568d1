import { networkInterfaces } from "node:os";
import type { Config } from "../../config/settings.ts";

/** The URL of a server with this configuration and port, with the base path, without a slash at the end. */
export function listenAddress({ host, basePath, socket, tls }: Config, port: number): string {
  if (socket !== null) return `unix:${socket}`;
  return `${tls.certFile === null ? "http" : "https"}://${hostInUrl(host)}:${port}${basePath}`;
}

/** A host as part of a URL: IPv6 in brackets. */
export function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** The host with which this machine reaches a server that listens on `host`. */
export function reachableHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}

/**
 * The addresses at which a browser can open a server without a public address: first that for other machines, if the server
 * listens on all addresses of this one. Its own `0.0.0.0` leads nowhere from another machine.
 */
export function browserAddresses(
  config: Config,
  port: number,
  interfaces = networkInterfaces(),
): [string, ...string[]] {
  const { host, socket } = config;
  const here = listenAddress({ ...config, host: reachableHost(host) }, port);
  const isOnNetwork = socket === null && reachableHost(host) !== host;
  const network = isOnNetwork ? networkAddress(interfaces) : undefined;
  return network === undefined ? [here] : [listenAddress({ ...config, host: network }, port), here];
}

/** The first IPv4 address of this machine in a network. A server on `::` accepts IPv4 too. */
function networkAddress(interfaces: ReturnType<typeof networkInterfaces>): string | undefined {
  const addresses = Object.values(interfaces).flatMap((list) => list ?? []);
  return addresses.find(({ internal, family }) => !internal && family === "IPv4")?.address;
}
