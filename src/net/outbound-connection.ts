import type { IncomingMessage, RequestOptions } from "node:http";
import { isIP } from "node:net";
import { OutboundError } from "./outbound-error.ts";
import { hostOf, portOf } from "./target.ts";

const HEADER_BYTES_MAX = 16 * 1024;

/**
 * Sends one request to one address, over its own connection. Resolves when the response begins. The connection is
 * closed when the body was read or destroyed, or when the signal is aborted.
 */
export async function sendTo(
  address: string,
  url: URL,
  request: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: Uint8Array | undefined;
  },
  signal: AbortSignal,
  ca: string | undefined,
): Promise<IncomingMessage> {
  const hostname = hostOf(url);
  const isTls = url.protocol === "https:";
  const body = request.body ?? new Uint8Array();
  // Loaded at the first use: the start does not need them.
  const { request: begin } = isTls ? await import("node:https") : await import("node:http");
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options: RequestOptions & { ca?: string; servername?: string } = {
    host: hostname,
    port: portOf(url),
    path: `${url.pathname}${url.search}`,
    method: request.method,
    // The connection goes to the checked address, never to a newly resolved one.
    lookup: (_hostname, { all }, callback) => {
      const family = isIP(address);
      if (all === true) callback(null, [{ address, family }]);
      else callback(null, address, family);
    },
    // No pool: it would reuse connections by name, not by checked address.
    agent: false,
    maxHeaderSize: HEADER_BYTES_MAX,
    headers: { ...request.headers, host: url.host, "content-length": String(body.byteLength) },
    signal,
    ...(isTls && isIP(hostname) === 0 && { servername: hostname }),
    ...(isTls && ca !== undefined && { ca }),
  };
  const outgoing = begin(options, (incoming) => {
    incoming.on("close", () => outgoing.destroy());
    // Without a listener, a connection that breaks before the body is read would end the process.
    incoming.on("error", () => undefined);
    resolve(incoming);
  });
  // An unrequested protocol switch: without this listener the promise would never settle.
  outgoing.on("upgrade", (_incoming, socket) => {
    socket.destroy();
    reject(new OutboundError("garbage", "the response is not HTTP (it switches protocols)"));
  });
  outgoing.on("error", reject);
  outgoing.end(body);
  return promise;
}
