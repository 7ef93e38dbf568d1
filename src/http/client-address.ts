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

/** What is needed of a request's headers. */
export type RequestHeaders = Pick<Headers, "get">;

/** Everything that proxies add to a request; one of these means that the peer may not be the client. */
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

/** No chain of proxies is that long: a longer list is not read to its end. */
const HOPS_MAX = 32;

/**
 * The name an address is counted by: IPv6 by its /64, since a home or a hoster's machine has that many to choose from.
 */
export function rateLimitKey(address: string): string {
  return addressBlock(address);
}

/** Whether the request came, or claims to have come, through a proxy. */
export function isForwarded(headers: RequestHeaders): boolean {
  return FORWARDING_HEADERS.some((name) => headers.get(name) !== null);
}

/**
 * Whether the request was made on this machine itself: a loopback peer, no sign of a proxy, behind which everybody is
 * loopback, and a Host that names this machine. A page whose own name was made to lead to 127.0.0.1 (DNS rebinding) has
 * the operator's browser as its loopback peer; its name stands in Host.
 */
export function isLocalRequest(peer: string, headers: RequestHeaders): boolean {
  return isLoopback(peer) && !isForwarded(headers) && isLoopbackHost(headers.get("host"));
}

/** Whether a Host header is a name or an address of this machine itself (RFC 6761 §6.3), with or without a port. */
function isLoopbackHost(host: string | null): boolean {
  const name = host === null ? undefined : URL.parse(`http://${host}`)?.hostname.replace(/^\[(.*)\]$/, "$1");
  if (name === undefined) return false;
  return /(^|\.)localhost\.?$/.test(name) || isLoopback(name);
}

/** What the peer of a request is called that came through a Unix socket, where there are no addresses. */
export const LOCAL_PEER = "local";

/** Finds client addresses. One a server: it warns once of headers that it doesn't believe. */
export class ClientAddresses {
  readonly #trusted: CidrList;
  readonly #log: Log;
  readonly #isSocket: boolean;
  #hasWarned = false;

  /**
   *
   * @param trustedProxies address blocks of the proxies in front of this server
   * @param isSocket whether the server listens only on a Unix socket: its only peer is the operator's proxy
   * @throws Error that names the entry that is no address block
   */
  constructor(trustedProxies: readonly string[], log: Log, isSocket = false) {
    this.#trusted = CidrList.parse(trustedProxies);
    this.#log = log;
    this.#isSocket = isSocket;
  }

  /** Whether any proxy is trusted at all; where none is, nobody needs to look. */
  get isTrusting(): boolean {
    return this.#isSocket || !this.#trusted.isEmpty;
  }

  /** Whether forwarding headers, and an X-Request-Id, of this peer are believed. */
  isTrusted(peer: string): boolean {
    return this.#trusted.has(peer) || (this.#isSocket && peer === LOCAL_PEER);
  }

  /**
   * The client's address in its one form. `peer` is the address at the other end of the connection; a peer that has
   * none (a local socket) keeps its name.
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

  /** The client's scheme, as a trusted proxy reports it; otherwise undefined. */
  protocolOf(peer: string, headers: RequestHeaders): "http" | "https" | undefined {
    const forwardedProto = headers.get("x-forwarded-proto");
    const forwarded = forwardedProto === null ? headers.get("forwarded") : null;
    if ((forwardedProto === null && forwarded === null) || !this.isTrusted(peer)) return undefined;
    const value =
      forwardedProto === null
        ? forwardedElements(forwarded ?? "")
            .at(-1)
            ?.get("proto")
        : forwardedProto.split(",").at(-1);
    const scheme = value?.trim().toLowerCase();
    return scheme === "http" || scheme === "https" ? scheme : undefined;
  }

  /** From the right, the first address that is no trusted proxy; the last good one where an entry can't be read. */
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

/** An address with or without port, IPv6 in brackets or bare. Names, "unknown" and hidden nodes are none. */
function parseNode(text: string): string | undefined {
  const node = text.trim();
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(node);
  if (bracketed !== null) return normalizeAddress(bracketed[1] ?? "");
  const withPort = /^([\d.]+):\d{1,5}$/.exec(node);
  return normalizeAddress(withPort?.[1] ?? node);
}

/** The `for` of each element of a Forwarded header; an element without one can't be read. */
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
      // A name given twice in one element is malformed (RFC 7239 §4): neither value is believed.
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
