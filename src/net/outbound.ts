/**
 * Requests to addresses given by users: webhooks, push targets, and servers to import from. Such an address could make
 * this server connect to hosts that only this machine or its network may reach (SSRF). So the name is resolved here,
 * each address is checked, and the connection goes to the checked address: a different DNS response in between changes
 * nothing (DNS rebinding). Redirects are not followed, and proxies of the environment are not used. Responses are
 * limited to 64 KiB and 15 s; those that the caller reads as a stream, to 60 s of silence.
 * Private addresses and plain http are allowed only for targets that the operator lists in `outboundAllow`.
 */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { dns } from "bun";
import { AppError } from "../errors.ts";
import { isPublicAddress, normalizeAddress } from "../lib/cidr.ts";
import type { AllowedTargets } from "../lib/allowed-targets.ts";
import { type Message, say } from "../translations/say.ts";
import { codeOf, OutboundError, translate } from "./outbound-error.ts";
import { type OutboundConnections, sendTo } from "./outbound-connection.ts";
import { SilenceLimit, streamOf } from "./outbound-stream.ts";
import { hostOf, portOf } from "./target.ts";
import { untilAborted } from "./until-aborted.ts";

/** Returns the addresses of a host name. Rejects if it has none or the name server does not respond. */
type Resolver = (hostname: string) => Promise<readonly string[]>;

/** Options of {@link Outbound}. */
interface OutboundOptions {
  /** Targets that may be private and reached by plain http. */
  readonly allow: Pick<AllowedTargets, "isEmpty" | "has">;
  /** The resolver of the machine by default. */
  readonly resolve?: Resolver | undefined;
  /** Certificates (PEM) that are trusted in place of the usual ones. */
  readonly ca?: string | undefined;
  /** Time limit from the start of a request to the end of its response. */
  readonly timeoutMs?: number | undefined;
  /** Time limit of {@link Outbound.open} for the response to begin, and for each next part of its body. */
  readonly silenceMs?: number | undefined;
}

/** A request to send. */
export interface OutboundRequest {
  readonly method: "POST" | "PUT" | "GET" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** Aborts the request. */
  readonly signal?: AbortSignal | undefined;
}

/** A response. */
export interface OutboundResponse {
  readonly status: number;
  /** The value of a header, by its name in lower case. */
  header(name: string): string | undefined;
  /** The first 64 KiB of the body; less if the connection broke. */
  readonly body: Buffer;
}

/** A request whose response is read as a stream. */
export interface OutboundStreamRequest {
  readonly method: "GET" | "POST" | "PROPFIND" | "REPORT";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** Aborts the request, and the body of its response. */
  readonly signal?: AbortSignal | undefined;
  /** Connections to reuse; without it, the request has its own. */
  readonly connections?: OutboundConnections | undefined;
}

/** A response whose body is read as a stream. Its connection stays open until the body was read or canceled. */
export interface OutboundStreamResponse {
  readonly status: number;
  /** The value of a header, by its name in lower case. */
  header(name: string): string | undefined;
  /** Any length. Errors with an OutboundError if the connection breaks before its end, or if it is silent too long. */
  readonly body: ReadableStream<Uint8Array>;
}

/** Where a request goes. */
interface Target {
  readonly url: URL;
  readonly addresses: readonly string[];
  /** Whether one of the addresses is in a private network. */
  readonly isPrivate: boolean;
}

/** How much of a response's body is read. */
export const RESPONSE_BYTES_MAX = 64 * 1024;
/** Time limit for a request and its response. */
export const OUTBOUND_TIMEOUT_MS = 15_000;
/** Time limit for the beginning and for each next part of a response that is streamed. */
const SILENCE_MS = 60_000;

/** How long the check at registration waits for the name server. */
const CHECK_TIMEOUT_MS = 5_000;
/** How many addresses of one name are tried. */
const ADDRESSES_MAX = 4;
const URL_LENGTH_MAX = 4096;

/** Names that no public name server knows: RFC 6761 (localhost), RFC 6762 (local), RFC 8375, and ICANN's (internal). */
const PRIVATE_NAMES = /(^|\.)(localhost|local|internal|home\.arpa)$/;
/** Connection errors after which the next address of the name is tried: nothing has been sent yet. */
const NOT_CONNECTED = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT"]);

/** Sends requests to addresses given by users, if they are allowed. */
export class Outbound {
  readonly #allow: OutboundOptions["allow"];
  readonly #resolve: Resolver;
  readonly #ca: string | undefined;
  readonly #timeoutMs: number;
  readonly #silenceMs: number;

  constructor({ allow, resolve = resolveByMachine, ca, timeoutMs, silenceMs }: OutboundOptions) {
    this.#allow = allow;
    this.#resolve = resolve;
    this.#ca = ca;
    this.#timeoutMs = timeoutMs ?? OUTBOUND_TIMEOUT_MS;
    this.#silenceMs = silenceMs ?? SILENCE_MS;
  }

  /**
   * Rejects an address that is not allowed, as far as that is known before sending. A name that can't be resolved now
   * passes, because each request checks again.
   * @param field the field of the request that has the address
   * @throws AppError forbidden_target with `details.field`
   */
  async checkTarget(address: string, field: string): Promise<void> {
    try {
      const url = parseTarget(address);
      this.#checkScheme(url);
      const hostname = hostOf(url);
      if (this.#allow.isEmpty && PRIVATE_NAMES.test(hostname)) throw forbidden(say`is a private network name`);
      const addresses = await this.#findAddresses(hostname);
      if (addresses !== undefined) this.#permitted(url, addresses);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      throw new AppError(
        "forbidden_target",
        say`The address in ${field} is not allowed: it ${error.text}. Use a public https:// address, or ask the administrator to allow it (LARDER_OUTBOUND_ALLOW).`,
        { field },
        error,
      );
    }
  }

  /**
   * Returns the address of a host to connect to, for protocols other than HTTP.
   * @throws OutboundError forbidden | unreachable
   */
  async resolveHost(host: string, port: number): Promise<string> {
    const url = URL.parse(`https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`);
    if (url === null) throw new OutboundError("unreachable", "no such name");
    const addresses = await this.#findAddresses(hostOf(url));
    const [address] = addresses === undefined ? [] : this.#permitted(url, addresses);
    if (address === undefined) throw new OutboundError("unreachable", "no such name");
    return address;
  }

  /**
   * Rejects a host that is not allowed, as far as that is known now; {@link resolveHost} checks again.
   * @throws AppError forbidden_target with `details.field`
   */
  async checkHost(host: string, port: number, field: string): Promise<void> {
    try {
      if (this.#allow.isEmpty && PRIVATE_NAMES.test(host)) throw forbidden(say`is a private network name`);
      await this.resolveHost(host, port);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      if (error.failure !== "forbidden") return;
      throw new AppError(
        "forbidden_target",
        say`The address in ${field} is not allowed: it ${error.text}. Use a public address, or ask the operator to set it in larder.toml or to allow it (LARDER_OUTBOUND_ALLOW).`,
        { field },
        error,
      );
    }
  }

  /**
   * Sends one request and reads its response, with any status. Redirects are not followed.
   * @throws OutboundError if there is no response
   */
  async send(address: string, request: OutboundRequest): Promise<OutboundResponse> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const signal = request.signal === undefined ? timeout : AbortSignal.any([timeout, request.signal]);
    let isPrivate = false;
    try {
      const target = await this.#resolveTarget(address, signal);
      isPrivate = target.isPrivate;
      const incoming = await untilAborted(this.#sendToOneOf(target, request, signal), signal);
      const body = await untilAborted(readBody(incoming), signal);
      return { status: incoming.statusCode ?? 0, header: (name) => headerOf(incoming, name), body };
    } catch (error) {
      if (request.signal?.aborted) throw new OutboundError("aborted", "the request was canceled");
      const known = timeout.aborted
        ? new OutboundError("timeout", `no complete response within ${this.#timeoutMs} ms`)
        : translate(error);
      throw known.withPrivacy(isPrivate);
    }
  }

  /**
   * Sends one request and resolves when its response begins, with any status. The body is a stream, which the caller
   * must read or cancel. Redirects are not followed.
   * @throws OutboundError if there is no response
   */
  async open(address: string, request: OutboundStreamRequest): Promise<OutboundStreamResponse> {
    const limit = new SilenceLimit(this.#silenceMs, request.signal);
    let isPrivate = false;
    const explain = (error: unknown) => limit.explain(error).withPrivacy(isPrivate);
    limit.start();
    try {
      const target = await this.#resolveTarget(address, limit.signal);
      isPrivate = target.isPrivate;
      const incoming = await untilAborted(this.#sendToOneOf(target, request, limit.signal), limit.signal);
      limit.stop();
      return {
        status: incoming.statusCode ?? 0,
        header: (name) => headerOf(incoming, name),
        body: streamOf(incoming, limit, explain),
      };
    } catch (error) {
      limit.end();
      throw explain(error);
    }
  }

  /** The addresses of a target that may be connected to. @throws OutboundError forbidden */
  async #resolveTarget(address: string, signal: AbortSignal): Promise<Target> {
    const url = parseTarget(address);
    this.#checkScheme(url);
    const addresses = this.#permitted(url, await untilAborted(this.#addressesOf(hostOf(url)), signal));
    return { url, addresses, isPrivate: !addresses.every(isPublicAddress) };
  }

  async #sendToOneOf(
    { url, addresses }: Target,
    request: OutboundRequest | OutboundStreamRequest,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    let failure: unknown;
    for (const address of addresses.slice(0, ADDRESSES_MAX)) {
      try {
        // Sequentially: the next address only if nothing accepted the connection.
        return await sendTo(address, url, request, signal, this.#ca);
      } catch (error) {
        if (!NOT_CONNECTED.has(codeOf(error))) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  #checkScheme(url: URL): void {
    if (url.protocol === "http:" && this.#allow.isEmpty) throw forbidden(say`must begin with https://`);
  }

  /** The addresses of a host that may be connected to. @throws OutboundError forbidden if there is none */
  #permitted(url: URL, addresses: readonly string[]): readonly string[] {
    const normal = addresses.map(normalizeAddress).filter((address) => address !== undefined);
    const port = portOf(url);
    const allowed = normal.filter((address) => this.#allow.has(address, port));
    // The resolver's order stays. Plain http may use only explicitly allowed addresses.
    const permitted =
      url.protocol === "http:"
        ? allowed
        : normal.filter((address) => isPublicAddress(address) || allowed.includes(address));
    if (permitted.length > 0) return permitted;
    throw url.protocol === "http:" && normal.some(isPublicAddress)
      ? forbidden(say`must begin with https://`)
      : forbidden(say`resolves to a private or reserved network address`);
  }

  /** Like {@link #addressesOf}; undefined if the name can't be resolved now. */
  async #findAddresses(hostname: string): Promise<readonly string[] | undefined> {
    try {
      return await untilAborted(this.#addressesOf(hostname), AbortSignal.timeout(CHECK_TIMEOUT_MS));
    } catch {
      // The name may be right although the name server failed: every request resolves it again.
      return undefined;
    }
  }

  async #addressesOf(hostname: string): Promise<readonly string[]> {
    if (isIP(hostname) !== 0) return [hostname];
    // RFC 6761 §6.3: never sent to a name server.
    if (/(^|\.)localhost$/.test(hostname)) return ["127.0.0.1", "::1"];
    return this.#resolve(hostname);
  }
}

/**
 * Resolves with the hosts file and the name servers of the machine, but not with the C library's resolver: it would
 * block one of the few threads that read files and hash passwords, for many seconds if a name server is slow.
 */
async function resolveByMachine(hostname: string): Promise<string[]> {
  const found = await dns.lookup(hostname, { backend: "c-ares" });
  return found.map(({ address }) => address);
}

/** @throws OutboundError forbidden for what is no plain http(s) address */
function parseTarget(address: string): URL {
  const url = address.length > URL_LENGTH_MAX ? null : URL.parse(address);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw forbidden(say`must be a URL that begins with https://`);
  }
  if (url.username !== "" || url.password !== "") throw forbidden(say`must not contain a user name or password`);
  return url;
}

function forbidden(what: Message): OutboundError {
  return new OutboundError("forbidden", what);
}

/** Reads the body up to the limit. An interrupted body is returned as far as it came, because the status is known. */
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
