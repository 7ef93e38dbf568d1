import type { Config } from "../../config/settings.ts";
import { type BunServer, listenOnPort } from "./bind.ts";

/** The server reads no request bodies on this port. */
const BODY_BYTES_MAX = 1024 * 1024;
const IDLE_SECONDS = 10;

/**
 * Redirects plain HTTP to HTTPS. Rejects requests other than GET and HEAD: their bodies were already sent unencrypted.
 * @param httpsPort the port of the redirect's target
 */
export function listenForRedirects(config: Config, port: number, httpsPort: () => number): BunServer {
  const fetch = (request: Request): Response => {
    const origin = httpsOrigin(request, config, httpsPort());
    if (origin === undefined || (request.method !== "GET" && request.method !== "HEAD")) {
      return new Response("This server accepts https:// only.\n", { status: 403, headers: { connection: "close" } });
    }
    const { url } = request;
    const path = url.startsWith("/") ? url : url.slice(url.indexOf("/", url.indexOf("//") + 2));
    return new Response(null, { status: 308, headers: { location: `${origin}${path}`, connection: "close" } });
  };
  return listenOnPort(config.host, port, "--tls-redirect-port", () =>
    Bun.serve({
      hostname: config.host,
      port,
      development: false,
      reusePort: false,
      idleTimeout: IDLE_SECONDS,
      maxRequestBodySize: BODY_BYTES_MAX,
      fetch,
      error: () => new Response(null, { status: 400 }),
    }),
  );
}

/** The origin for HTTPS: the public address, or the host of the request. */
function httpsOrigin(request: Request, { publicUrl }: Config, port: number): string | undefined {
  if (publicUrl?.startsWith("https:")) return new URL(publicUrl).origin;
  const host = request.headers.get("host") ?? "";
  if (!/^[A-Za-z0-9._:[\]-]+$/.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  const { hostname } = new URL(`http://${host}`);
  return `https://${hostname}${port === 443 ? "" : `:${port}`}`;
}
