import type { Agent, IncomingMessage, RequestOptions } from "node:http";
import { isIP } from "node:net";
import { OutboundError } from "./outbound-error.ts";
import { hostOf, portOf } from "./target.ts";

const HEADER_BYTES_MAX = 16 * 1024;

/** A request for {@link sendTo}. */
interface SentRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** Connections to reuse; without it, the request has its own. */
  readonly connections?: OutboundConnections | undefined;
}

/** Connections that are reused. Those of each address are separate, so none is reused for an unchecked address. */
export class OutboundConnections {
  readonly #agents = new Map<string, Agent>();

  /** The connections to an address. */
  async agentFor(address: string, isTls: boolean): Promise<Agent> {
    const key = `${isTls ? "https" : "http"} ${address}`;
    const known = this.#agents.get(key);
    if (known !== undefined) return known;
    const { Agent: AgentOfScheme } = isTls ? await import("node:https") : await import("node:http");
    const agent = this.#agents.get(key) ?? new AgentOfScheme({ keepAlive: true });
    this.#agents.set(key, agent);
    return agent;
  }

  /** Closes all connections. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }
}

/**
 * Sends one request to one address. Resolves when the response begins. The connection is free again when the body was
 * read, and it is closed when the body is destroyed or the signal is aborted.
 */
export async function sendTo(
  address: string,
  url: URL,
  request: SentRequest,
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
    // No common pool: it would reuse connections by name, not by checked address.
    agent: (await request.connections?.agentFor(address, isTls)) ?? false,
    maxHeaderSize: HEADER_BYTES_MAX,
    headers: { ...request.headers, host: url.host, "content-length": String(body.byteLength) },
    signal,
    ...(isTls && isIP(hostname) === 0 && { servername: hostname }),
    ...(isTls && ca !== undefined && { ca }),
  };
  const outgoing = begin(options, (incoming) => {
    incoming.on("close", () => {
      if (!incoming.complete) outgoing.destroy();
    });
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
