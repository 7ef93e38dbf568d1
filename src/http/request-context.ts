/**
 * One request and what is known of it before any feature sees it: its id, its path, where it came from. Kept beside the
 * request rather than in the framework's context, so that hooks, handlers and the error path all see the same.
 */
import type { BodyKind, BodyPace, BodyPaces } from "./body-pace.ts";
import { type ClientAddresses, rateLimitKey } from "./client-address.ts";

/** Settings that decide where requests come from, and under which address clients reach this server. */
export interface RequestContextSettings {
  readonly addresses: ClientAddresses;
  /** The configured address of this server, without a slash at the end; wins over what requests say. */
  readonly publicUrl: string | undefined;
  /** `""`, or the path below which a proxy serves us, such as `/files`. */
  readonly basePath: string;
  /** Whether this server itself speaks HTTPS. */
  readonly isTls: boolean;
  /** The peer's address of a request, as the socket knows it. */
  readonly peerOf: (request: Request) => string;
  /** Gives the connection of a request its whole idle time again. */
  readonly keepOpen: (request: Request) => void;
  /** The bodies on their way to this server. */
  readonly bodies: BodyPaces;
}

// Letters, digits and what host names, IPv6 literals and ports are made of: nothing that could end a URL early.
const HOST = /^[A-Za-z0-9._:[\]-]+$/;

const idPrefix = `req_${Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString("hex")}`;
let lastNumber = 0;

export class RequestContext {
  readonly request: Request;
  readonly requestId: string;
  readonly startedMs = performance.now();
  /** Undecoded, without the query. */
  readonly path: string;
  /** Without the question mark; empty where there is none. */
  readonly query: string;
  readonly isApi: boolean;
  /** How much of the body had arrived when the client went away; undefined while it has not. */
  brokeOffAtBytes: number | undefined;
  readonly #settings: RequestContextSettings;
  #clientAddress: string | undefined;

  constructor(request: Request, settings: RequestContextSettings) {
    this.request = request;
    this.#settings = settings;
    const { url } = request;
    // "http://host/path?query", or only "/path?query" where the Host header is missing or invalid.
    const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
    const queryStart = url.indexOf("?", start);
    this.path = start < 0 ? "/" : url.slice(start, queryStart < 0 ? undefined : queryStart);
    this.query = queryStart < 0 ? "" : url.slice(queryStart + 1);
    this.isApi = this.path.startsWith("/api/") || this.path === "/api";
    this.requestId = this.#givenRequestId() ?? `${idPrefix}${(++lastNumber).toString(36)}`;
  }

  /** The client's address: the peer's, or what a trusted proxy says of it. */
  get clientAddress(): string {
    this.#clientAddress ??= this.#settings.addresses.addressOf(this.#peer, this.request.headers);
    return this.#clientAddress;
  }

  /** The origin in the client's request, regardless of the public address; undefined without a valid Host. */
  get requestOrigin(): string | undefined {
    const host = this.#host;
    return host === undefined ? undefined : `${this.#scheme}://${host}`;
  }

  /** Whether the client reached us, or the trusted proxy before us, by HTTPS. */
  get isSecure(): boolean {
    const { publicUrl } = this.#settings;
    return publicUrl === undefined ? this.#scheme === "https" : publicUrl.startsWith("https:");
  }

  /** Follows this request's body, for its reader. */
  paceOf(kind: BodyKind): BodyPace {
    const { bodies, keepOpen } = this.#settings;
    return bodies.follow(
      () => rateLimitKey(this.clientAddress),
      kind,
      () => keepOpen(this.request),
    );
  }

  /** What absolute URLs in answers start with: `http://host[:port][/base]`, without a slash at the end. */
  get baseUrl(): string {
    const { publicUrl, basePath } = this.#settings;
    if (publicUrl !== undefined) return publicUrl;
    return `${this.isSecure ? "https" : "http"}://${this.#host ?? "localhost"}${basePath}`;
  }

  /** The Host header, where it is a host: `[` and `a:99999` have the right letters, and are no part of any URL. */
  get #host(): string | undefined {
    const host = this.request.headers.get("host") ?? "";
    return HOST.test(host) && URL.canParse(`http://${host}`) ? host : undefined;
  }

  /** As a trusted proxy reports it, otherwise that of the connection. */
  get #scheme(): "http" | "https" {
    const { addresses, isTls } = this.#settings;
    const forwardedProtocol = addresses.isTrusting ? addresses.protocolOf(this.#peer, this.request.headers) : undefined;
    return forwardedProtocol ?? (isTls ? "https" : "http");
  }

  get #peer(): string {
    return this.#settings.peerOf(this.request);
  }

  /** A well-formed incoming id is kept, so that a trusted proxy's log and ours can be read together. */
  #givenRequestId(): string | undefined {
    if (!this.#settings.addresses.isTrusting) return undefined;
    const given = this.request.headers.get("x-request-id");
    if (given === null || !/^[A-Za-z0-9._-]{1,128}$/.test(given)) return undefined;
    return this.#settings.addresses.isTrusted(this.#peer) ? given : undefined;
  }
}

const exchanges = new WeakMap<Request, RequestContext>();

/** Begins the context of a request that has just arrived. */
export function beginRequestContext(request: Request, settings: RequestContextSettings): RequestContext {
  const requestContext = new RequestContext(request, settings);
  exchanges.set(request, requestContext);
  return requestContext;
}

/** The context of a request in progress. */
export function requestContextOf(request: Request): RequestContext {
  const requestContext = exchanges.get(request);
  if (requestContext === undefined) throw new Error("The request was not begun by the base hooks.");
  return requestContext;
}
