/**
 * Requests to addresses that users gave: web hooks and push targets. Such an address may lead anywhere, so that it could
 * make this server talk to what only this machine or its network may reach. Therefore: the name is resolved here, each
 * address is checked, and the connection goes to the very address that was checked; a second answer of the name server
 * in between changes nothing (D59). Redirects are not followed, proxies of the environment not used, answers read to
 * 64 KiB and 15 s at most. Only what the operator lists (`outboundAllow`) may be private, or plain http.
 */
import { type IncomingMessage, type RequestOptions, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { dns } from "bun";
import { AppError } from "../errors.ts";
import { isPublicAddress, normalizeAddress } from "../lib/cidr.ts";
import type { AllowedTargets } from "../lib/allowed-targets.ts";
import { untilAborted } from "./until-aborted.ts";

/** The addresses of a host name. Rejects where it has none or the name server doesn't answer. */
export type Resolver = (hostname: string) => Promise<readonly string[]>;

/** How requests are made. */
export interface OutboundOptions {
  /** What may be reached though it is private, and by plain http. */
  readonly allow: Pick<AllowedTargets, "isEmpty" | "has">;
  /** The resolver of the machine by default. */
  readonly resolve?: Resolver | undefined;
  /** Certificates (PEM) that are trusted in place of the usual ones. */
  readonly ca?: string | undefined;
  /** Time from the begin of a request to the end of its answer. */
  readonly timeoutMs?: number | undefined;
}

/** What is sent. */
export interface OutboundRequest {
  readonly method: "POST" | "PUT" | "GET" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** Gives the request up. */
  readonly signal?: AbortSignal | undefined;
}

/** What came back. */
export interface OutboundResponse {
  readonly status: number;
  /** The value of a header, by its name in lower case. */
  header(name: string): string | undefined;
  /** The first 64 KiB of the body; less where it broke off. */
  readonly body: Buffer;
}

/**
 * Why there is no answer.
 * - forbidden: the target may not be reached, now or ever.
 * - unreachable: no such name, nobody listens, the connection broke, the certificate isn't right.
 * - timeout: no whole answer in time.
 * - aborted: the caller's signal.
 * - garbage: what came back is no HTTP.
 */
export type OutboundFailure = "forbidden" | "unreachable" | "timeout" | "aborted" | "garbage";

/** A request that brought no answer. The message may be logged: it names neither the address nor anything sent. */
export class OutboundError extends Error {
  override readonly name = "OutboundError";

  constructor(
    readonly failure: OutboundFailure,
    message: string,
    /** The target is not of the internet: how it failed would tell its user what there is in the operator's network. */
    readonly isPrivate = false,
  ) {
    super(message);
  }
}

/** How much of an answer's body is read. */
export const RESPONSE_BYTES_MAX = 64 * 1024;
/** Time for a request and its answer. */
export const OUTBOUND_TIMEOUT_MS = 15_000;

/** How long the check at registration waits for the name server. */
const CHECK_TIMEOUT_MS = 5_000;
/** How many addresses of one name are tried. */
const ADDRESSES_MAX = 4;
const HEADER_BYTES_MAX = 16 * 1024;
const URL_LENGTH_MAX = 4096;

/** Names that no public name server knows: RFC 6761 (localhost), RFC 6762 (local), RFC 8375, and ICANN's (internal). */
const PRIVATE_NAMES = /(^|\.)(localhost|local|internal|home\.arpa)$/;
/** Failures to connect at which the next address of the name is tried: nothing was sent yet. */
const NOT_CONNECTED = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT"]);

/** Sends requests to where users want them, as far as that is allowed. */
export class Outbound {
  readonly #allow: OutboundOptions["allow"];
  readonly #resolve: Resolver;
  readonly #ca: string | undefined;
  readonly #timeoutMs: number;

  constructor({ allow, resolve = resolveByMachine, ca, timeoutMs = OUTBOUND_TIMEOUT_MS }: OutboundOptions) {
    this.#allow = allow;
    this.#resolve = resolve;
    this.#ca = ca;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Refuses an address that can't be sent to, as far as that can be told beforehand. A name that can't be resolved now
   * passes: each request checks again.
   * @param field which field of the request it stands in
   * @throws AppError forbidden_target with `details.field`
   */
  async checkTarget(address: string, field: string): Promise<void> {
    try {
      const url = parseTarget(address);
      this.#checkScheme(url);
      const hostname = hostOf(url);
      if (this.#allow.isEmpty && PRIVATE_NAMES.test(hostname)) throw forbidden("is a private network name");
      const addresses = await this.#findAddresses(hostname);
      if (addresses !== undefined) this.#permitted(url, addresses);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      throw new AppError(
        "forbidden_target",
        `The address in ${field} is not allowed: it ${error.message}. Use a public https:// address, or ask ` +
          "the administrator to allow it (LARDER_OUTBOUND_ALLOW).",
        { field },
        error,
      );
    }
  }

  /**
   * Sends one request and reads its answer, whatever its status; redirects are answers like others.
   * @throws OutboundError where there is none
   */
  async send(address: string, request: OutboundRequest): Promise<OutboundResponse> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const signal = request.signal === undefined ? timeout : AbortSignal.any([timeout, request.signal]);
    const url = parseTarget(address);
    this.#checkScheme(url);
    let isPrivate = false;
    try {
      const addresses = await untilAborted(this.#addressesOf(hostOf(url)), signal);
      const permitted = this.#permitted(url, addresses);
      isPrivate = !permitted.every(isPublicAddress);
      return await untilAborted(this.#sendToOneOf(permitted, url, request, signal), signal);
    } catch (error) {
      if (request.signal?.aborted) throw new OutboundError("aborted", "the request was canceled");
      const known = timeout.aborted
        ? new OutboundError("timeout", `no complete response within ${this.#timeoutMs} ms`)
        : translate(error);
      throw isPrivate ? new OutboundError(known.failure, known.message, true) : known;
    }
  }

  async #sendToOneOf(
    addresses: readonly string[],
    url: URL,
    request: OutboundRequest,
    signal: AbortSignal,
  ): Promise<OutboundResponse> {
    let failure: unknown;
    for (const address of addresses.slice(0, ADDRESSES_MAX)) {
      try {
        // One after the other: the next one only where nobody took the connection.
        // oxlint-disable-next-line no-await-in-loop
        return await exchange(address, url, request, signal, this.#ca);
      } catch (error) {
        if (!NOT_CONNECTED.has(codeOf(error))) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  #checkScheme(url: URL): void {
    if (url.protocol === "http:" && this.#allow.isEmpty) throw forbidden("must begin with https://");
  }

  /** Those of a host's addresses that may be connected to. @throws OutboundError forbidden where there is none */
  #permitted(url: URL, addresses: readonly string[]): readonly string[] {
    const normal = addresses.map(normalizeAddress).filter((address) => address !== undefined);
    const port = portOf(url);
    const allowed = normal.filter((address) => this.#allow.has(address, port));
    // Allowed ones first would change the resolver's order; plain http has only them.
    const permitted =
      url.protocol === "http:"
        ? allowed
        : normal.filter((address) => isPublicAddress(address) || allowed.includes(address));
    if (permitted.length > 0) return permitted;
    throw url.protocol === "http:" && normal.some(isPublicAddress)
      ? forbidden("must begin with https://")
      : forbidden("resolves to a private or reserved network address");
  }

  /** As {@link #addressesOf}, undefined where they can't be told now. */
  async #findAddresses(hostname: string): Promise<readonly string[] | undefined> {
    try {
      return await untilAborted(this.#addressesOf(hostname), AbortSignal.timeout(CHECK_TIMEOUT_MS));
    } catch {
      // Whatever the name server's trouble is: the name may be right, and every request asks again.
      return undefined;
    }
  }

  async #addressesOf(hostname: string): Promise<readonly string[]> {
    if (isIP(hostname) !== 0) return [hostname];
    // RFC 6761 §6.3: never asked of a name server.
    if (/(^|\.)localhost$/.test(hostname)) return ["127.0.0.1", "::1"];
    return this.#resolve(hostname);
  }
}

/**
 * By the hosts file and the name servers of the machine. Not by the C library's resolver: that takes a thread for each
 * name, of the few that read files and check passwords, and a name server may let it wait for many seconds.
 */
async function resolveByMachine(hostname: string): Promise<string[]> {
  const found = await dns.lookup(hostname, { backend: "c-ares" });
  return found.map(({ address }) => address);
}

/** @throws OutboundError forbidden for what is no plain http(s) address */
function parseTarget(address: string): URL {
  const url = address.length > URL_LENGTH_MAX ? null : URL.parse(address);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw forbidden("must be a URL that begins with https://");
  }
  if (url.username !== "" || url.password !== "") throw forbidden("must not contain a user name or password");
  return url;
}

/** The host as resolvers and certificates know it: without the brackets of IPv6, and the last dot of a name. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

function portOf({ port, protocol }: URL): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

function forbidden(message: string): OutboundError {
  return new OutboundError("forbidden", message);
}

/** One request to one address, over a connection of its own. */
function exchange(
  address: string,
  url: URL,
  { method, headers, body = new Uint8Array() }: OutboundRequest,
  signal: AbortSignal,
  ca: string | undefined,
): Promise<OutboundResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<OutboundResponse>();
  const hostname = hostOf(url);
  const isTls = url.protocol === "https:";
  const options: RequestOptions & { ca?: string; servername?: string } = {
    host: hostname,
    port: portOf(url),
    path: `${url.pathname}${url.search}`,
    method,
    // The whole point: whatever the name is, the connection goes to the address that was checked.
    lookup: (_hostname, { all }, callback) => {
      const family = isIP(address);
      if (all === true) callback(null, [{ address, family }]);
      else callback(null, address, family);
    },
    // No pool: a kept connection would belong to a name, not to an address.
    agent: false,
    maxHeaderSize: HEADER_BYTES_MAX,
    headers: { ...headers, host: url.host, "content-length": String(body.byteLength) },
    signal,
    ...(isTls && isIP(hostname) === 0 && { servername: hostname }),
    ...(isTls && ca !== undefined && { ca }),
  };
  const outgoing = (isTls ? httpsRequest : httpRequest)(options, (incoming) => {
    readBody(incoming)
      .then((read) => {
        outgoing.destroy();
        resolve({ status: incoming.statusCode ?? 0, header: (name) => headerOf(incoming, name), body: read });
      })
      .catch(reject);
  });
  // Nobody asked for another protocol; without this listener such an answer would never be heard of.
  outgoing.on("upgrade", (_incoming, socket) => {
    socket.destroy();
    reject(new OutboundError("garbage", "the response is not HTTP (it switches protocols)"));
  });
  outgoing.on("error", reject);
  outgoing.end(body);
  return promise;
}

/** Reads up to the bound, and no further. A body that breaks off is what it is by then: the status has come. */
function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const finish = () => resolve(Buffer.concat(chunks).subarray(0, RESPONSE_BYTES_MAX));
  incoming.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    sizeBytes += chunk.byteLength;
    if (sizeBytes < RESPONSE_BYTES_MAX) return;
    finish();
    incoming.destroy();
  });
  incoming.on("end", finish);
  incoming.on("error", (error) => (codeOf(error) === "ABORT_ERR" ? reject(error) : finish()));
  return promise;
}

function headerOf(incoming: IncomingMessage, name: string): string | undefined {
  const value = incoming.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Only the code is told: messages of the platform hold names and addresses. */
function translate(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = codeOf(error);
  if (code.startsWith("HPE_")) return new OutboundError("garbage", `the response is not HTTP (${code})`);
  return new OutboundError("unreachable", `no connection (${code === "" ? "unknown cause" : code})`);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
