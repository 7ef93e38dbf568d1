/**
 * Finds the address of the client, with or without proxies.
 *
 * Any client can send a forwarding header. So it counts only if the peer of the connection is a listed proxy. Each
 * entry was written by the host to its right. So the list is read from the right while the writers are listed proxies:
 * the first address that is no proxy is the client. Entries further left can be forged.
 *
 * If a proxy sends both headers, X-Forwarded-For counts: nginx, Caddy and Traefik write that one, and pass on a
 * `Forwarded` that the client forged.
 */
import { addressBlock, CidrList, isLoopback, normalizeAddress } from "../lib/cidr.ts";
import type { Log } from "../lib/log.ts";

/** The headers of a request. */
type RequestHeaders = Pick<Headers, "get">;

/** Headers that proxies add to a request. If one is present, the peer may not be the client. */
const FORWARDING_HEADERS = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-port",
  "x-forwarded-server",
  "x-real-ip",
  "x-client-ip",
  "true-client-ip",
  "cf-connecting-ip",
  "via",
] as const;

/** Longer than any real chain of proxies. A longer list is not read to its end. */
const HOPS_MAX = 32;

/** The key of an address for rate limits. IPv6 uses the /64, because one home or server has that many addresses. */
export function rateLimitKey(address: string): string {
  return addressBlock(address);
}

/** Whether the request came, or claims to have come, through a proxy. */
export function isForwarded(headers: RequestHeaders): boolean {
  return FORWARDING_HEADERS.some((name) => headers.get(name) !== null);
}

/**
 * Whether the request comes from this machine. The peer must be a loopback address. There must be no sign of a proxy,
 * whose clients all look like loopback. And the Host must name this machine: a web page whose host name resolves to
 * 127.0.0.1 (DNS rebinding) can send requests from the operator's browser, but they have its own name as Host.
 */
export function isLocalRequest(peer: string, headers: RequestHeaders): boolean {
  return isLoopback(peer) && !isForwarded(headers) && isLoopbackHost(headers.get("host"));
}

/** Whether a Host header names this machine (RFC 6761 §6.3), with or without a port. */
function isLoopbackHost(host: string | null): boolean {
  const name = host === null ? undefined : URL.parse(`http://${host}`)?.hostname.replace(/^\[(.*)\]$/, "$1");
  if (name === undefined) return false;
  return /(^|\.)localhost\.?$/.test(name) || isLoopback(name);
}

/** The peer of requests through a Unix socket, which have no address. */
export const LOCAL_PEER = "local";

/** Finds client addresses. One per server: it warns once about headers that it does not trust. */
export class ClientAddresses {
  readonly #trusted: CidrList;
  readonly #log: Log;
  readonly #isSocket: boolean;
  #hasWarned = false;

  /**
   * @param trustedProxies address blocks of the proxies in front of this server
   * @param isSocket whether the server listens only on a Unix socket: its only peer is the operator's proxy
   * @throws Error that names the invalid entry
   */
  constructor(trustedProxies: readonly string[], log: Log, isSocket = false) {
    this.#trusted = CidrList.parse(trustedProxies);
    this.#log = log;
    this.#isSocket = isSocket;
  }

  /** Whether any proxy is trusted. */
  get isTrusting(): boolean {
    return this.#isSocket || !this.#trusted.isEmpty;
  }

  /** Whether forwarding headers and the X-Request-Id of this peer are trusted. */
  isTrusted(peer: string): boolean {
    return this.#trusted.has(peer) || (this.#isSocket && peer === LOCAL_PEER);
  }

  /**
   * The client's address in its normalized form.
   * @param peer the address of the connection, or {@link LOCAL_PEER}
   */
  addressOf(peer: string, headers: RequestHeaders): string {
    const forwardedFor = headers.get("x-forwarded-for");
    const forwarded = headers.get("forwarded");
    const own = normalizeAddress(peer) ?? peer;
    if (forwardedFor === null && forwarded === null) return own;
    if (!this.isTrusted(own)) {
      this.#warn(own);
      return own;
    }
    return this.#walk(own, forwardedFor === null ? forwardedNodes(forwarded ?? "") : forwardedFor.split(","));
  }

  /**
   * The client's scheme, as a trusted proxy reports it; otherwise undefined.
   * @param peerOf finds the address of the connection; called only for a request with such a header, as it takes a
   *   system call
   */
  protocolOf(peerOf: () => string, headers: RequestHeaders): "http" | "https" | undefined {
    const forwardedProto = headers.get("x-forwarded-proto");
    const forwarded = forwardedProto === null ? headers.get("forwarded") : null;
    if ((forwardedProto === null && forwarded === null) || !this.isTrusted(peerOf())) return undefined;
    const value =
      forwardedProto === null
        ? forwardedElements(forwarded ?? "")
            .at(-1)
            ?.get("proto")
        : forwardedProto.split(",").at(-1);
    const scheme = value?.trim().toLowerCase();
    return scheme === "http" || scheme === "https" ? scheme : undefined;
  }

  /** From the right, the first address that is not a trusted proxy. Stops at an invalid entry. */
  #walk(peer: string, nodes: readonly string[]): string {
    let address = peer;
    for (let i = nodes.length - 1, hops = 0; i >= 0 && hops < HOPS_MAX; i--, hops++) {
      const next = parseNode(nodes[i] ?? "");
      if (next === undefined) return address;
      address = next;
      if (!this.#trusted.has(address)) return address;
    }
    return address;
  }

  #warn(peer: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#log.warn(
      "Ignored a forwarding header from an address that is not in trustedProxies. " +
        "If this is your reverse proxy, add its address there; until then, all its users count as one client. " +
        "Logged once.",
      { peer },
    );
  }
}

/** Reads an address with or without a port, IPv6 in brackets or bare; undefined for names and for "unknown". */
function parseNode(text: string): string | undefined {
  const node = text.trim();
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(node);
  if (bracketed !== null) return normalizeAddress(bracketed[1] ?? "");
  const withPort = /^([\d.]+):\d{1,5}$/.exec(node);
  return normalizeAddress(withPort?.[1] ?? node);
}

/** The `for` of each element of a Forwarded header; an empty text if it is missing. */
function forwardedNodes(header: string): string[] {
  return forwardedElements(header).map((element) => element.get("for") ?? "");
}

/** RFC 7239 §4: elements separated by commas, pairs by semicolons, values tokens or quoted strings. */
function forwardedElements(header: string): Map<string, string>[] {
  return splitOutsideQuotes(header, ",").map((element) => {
    const pairs = new Map<string, string>();
    for (const pair of splitOutsideQuotes(element, ";")) {
      const cut = pair.indexOf("=");
      if (cut < 0) continue;
      const name = pair.slice(0, cut).trim().toLowerCase();
      // A repeated name in one element is malformed (RFC 7239 §4). Neither value is used.
      pairs.set(name, pairs.has(name) ? "" : unquote(pair.slice(cut + 1).trim()));
    }
    return pairs;
  });
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '"') isQuoted = !isQuoted;
    else if (character === "\\" && isQuoted) i++;
    else if (character === separator && !isQuoted) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

function unquote(value: string): string {
  if (!value.startsWith('"')) return value;
  return value.endsWith('"') && value.length > 1 ? value.slice(1, -1).replaceAll(/\\(.)/g, "$1") : "";
}
