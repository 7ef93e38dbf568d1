/**
 * The context of a request: its id, its path, and its client. It is attached to the request instead of the framework's
 * context, so that hooks, handlers, and error handlers all have the same.
 */
import type { BodyKind, BodyPace, BodyPaces } from "./body-pace.ts";
import { type ClientAddresses, rateLimitKey } from "./client-address.ts";

/** Settings that determine the client of a request, and the address of this server. */
export interface RequestContextSettings {
  readonly addresses: ClientAddresses;
  /** The configured address of this server, without a slash at the end; takes precedence over the Host of requests. */
  readonly publicUrl: string | undefined;
  /** `""`, or the path under which a proxy serves this server, such as `/files`. */
  readonly basePath: string;
  /** Whether this server has a certificate, without a proxy. */
  readonly isTls: boolean;
  /** The address of the client's end of the connection. */
  readonly peerOf: (request: Request) => string;
  /** Restarts the idle timeout of a request's connection. */
  readonly keepOpen: (request: Request) => void;
  /** The request bodies that are being received. */
  readonly bodies: BodyPaces;
}

/** The characters of host names, IPv6 literals and ports: none of them can end a URL early. */
const HOST = /^[A-Za-z0-9._:[\]-]+$/;

/** The latest Host header, and whether it is valid. */
let lastHost = "";
let isLastHostValid = false;

const idPrefix = `req_${Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString("hex")}`;
let lastNumber = 0;

/** The status and headers of a response, as the framework stores them until it is made. */
export interface ResponseState {
  status?: number | string;
  headers: Record<string, string | number>;
}

class RequestContext {
  readonly request: Request;
  readonly requestId: string;
  readonly startedMs = performance.now();
  /** Undecoded, without the query. */
  readonly path: string;
  /** Without the question mark; empty if there is none. */
  readonly query: string;
  readonly isApi: boolean;
  /** Received bytes of the body when the client disconnected; undefined if it did not. */
  brokeOffAtBytes: number | undefined;
  /** Set by the first hook. */
  set: ResponseState = { headers: {} };
  /** The headers that any response has, also one that replaces the response of the handler; undefined if none may. */
  commonHeaders: Readonly<ResponseState["headers"]> | undefined;
  readonly #settings: RequestContextSettings;
  #clientAddress: string | undefined;

  constructor(request: Request, settings: RequestContextSettings) {
    this.request = request;
    this.#settings = settings;
    const { url } = request;
    // "http://host/path?query", or only "/path?query" if the Host header is missing or invalid.
    const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
    const queryStart = url.indexOf("?", start);
    this.path = start < 0 ? "/" : url.slice(start, queryStart < 0 ? undefined : queryStart);
    this.query = queryStart < 0 ? "" : url.slice(queryStart + 1);
    this.isApi = this.path.startsWith("/api/") || this.path === "/api";
    this.requestId = this.#givenRequestId() ?? `${idPrefix}${(++lastNumber).toString(36)}`;
  }

  /** The client's address: the peer's, or the one that a trusted proxy reports. */
  get clientAddress(): string {
    this.#clientAddress ??= this.#settings.addresses.addressOf(this.#peer, this.request.headers);
    return this.#clientAddress;
  }

  /** The origin in the client's request, regardless of the public address; undefined without a valid Host. */
  get requestOrigin(): string | undefined {
    const host = this.#host;
    return host === undefined ? undefined : `${this.#scheme}://${host}`;
  }

  /** Whether the client used HTTPS to reach this server, or the trusted proxy in front. */
  get isSecure(): boolean {
    const { publicUrl } = this.#settings;
    return publicUrl === undefined ? this.#scheme === "https" : publicUrl.startsWith("https:");
  }

  /** The limits for the body of this request, for its reader. */
  beginBody(kind: BodyKind): BodyPace {
    const { bodies, keepOpen } = this.#settings;
    return bodies.follow(
      () => rateLimitKey(this.clientAddress),
      kind,
      () => keepOpen(this.request),
    );
  }

  /** The start of absolute URLs in responses: `http://host[:port][/base]`, without a slash at the end. */
  get baseUrl(): string {
    const { publicUrl, basePath } = this.#settings;
    if (publicUrl !== undefined) return publicUrl;
    return `${this.isSecure ? "https" : "http"}://${this.#host ?? "localhost"}${basePath}`;
  }

  /** The Host header if it is valid. `[` and `a:99999` have valid characters, but can't be part of a URL. */
  get #host(): string | undefined {
    const host = this.request.headers.get("host") ?? "";
    // Most requests name the same host.
    if (host !== lastHost) {
      isLastHostValid = HOST.test(host) && URL.canParse(`http://${host}`);
      lastHost = host;
    }
    return isLastHostValid ? host : undefined;
  }

  /** The scheme that a trusted proxy reports; otherwise that of the connection. */
  get #scheme(): "http" | "https" {
    const { addresses, isTls } = this.#settings;
    const forwardedProtocol = addresses.isTrusting
      ? addresses.protocolOf(() => this.#peer, this.request.headers)
      : undefined;
    return forwardedProtocol ?? (isTls ? "https" : "http");
  }

  get #peer(): string {
    return this.#settings.peerOf(this.request);
  }

  /** The id from a trusted proxy, if it is valid, so that its log and ours can be compared. */
  #givenRequestId(): string | undefined {
    if (!this.#settings.addresses.isTrusting) return undefined;
    const given = this.request.headers.get("x-request-id");
    if (given === null || !/^[A-Za-z0-9._-]{1,128}$/.test(given)) return undefined;
    return this.#settings.addresses.isTrusted(this.#peer) ? given : undefined;
  }
}

const contexts = new WeakMap<Request, RequestContext>();

/** Creates the context of a request, unless it has one. */
export function beginRequestContext(request: Request, settings: RequestContextSettings): RequestContext {
  const found = contexts.get(request);
  if (found !== undefined) return found;
  const requestContext = new RequestContext(request, settings);
  contexts.set(request, requestContext);
  return requestContext;
}

/** The context of a request in progress. */
export function requestContextOf(request: Request): RequestContext {
  const requestContext = contexts.get(request);
  if (requestContext === undefined) throw new Error("The request was not begun by the base hooks.");
  return requestContext;
}
