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
