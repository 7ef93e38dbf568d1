import type { Config } from "../config/settings.ts";

/** Where a server of this configuration answers on `port`, base path included, without a slash at the end. */
export function listenAddress({ host, basePath }: Config, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}${basePath}`;
}
