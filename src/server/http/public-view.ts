/**
 * Reports how a request reached the server. `larder doctor` requests this at the public address, through the proxies in
 * front. The response names internal addresses, so the request must have a token made from a secret of the server.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { type ClientAddresses, isForwarded } from "../../http/client-address.ts";
import { requestContextOf } from "../../http/request-context.ts";
import type { Services } from "../composition/services.ts";
import type { AppHost } from "./host.ts";

/** The header for the token of {@link makeProbeToken}. */
export const PROBE_HEADER = "x-larder-doctor";

/** How one request reached the server. */
export interface PublicView {
  /** The client address for rate limits. */
  readonly client: string;
  /** The address of the connection: the last proxy's, or the client's. */
  readonly peer: string;
  /** Whether proxies added headers about the client. */
  readonly isForwarded: boolean;
  /** Whether the headers of this peer are trusted. */
  readonly isTrusted: boolean;
  /** The origin of the request, as the server sees it; null without a valid Host. */
  readonly origin: string | null;
}

const TOKEN_LIFETIME_MS = 300_000;

/** Makes a token for the given time from a secret of the server. */
export function makeProbeToken(secret: Uint8Array, nowMs: number): string {
  return `${nowMs}.${sign(secret, nowMs).toString("base64url")}`;
}

/** Whether a token was made from the same secret within the last five minutes. */
export function isProbeToken(secret: Uint8Array, token: string, nowMs: number): boolean {
  const [, time = "", signature = ""] = /^(\d{1,15})\.([\w-]{43})$/.exec(token) ?? [];
  if (time === "" || Math.abs(nowMs - Number(time)) > TOKEN_LIFETIME_MS) return false;
  return timingSafeEqual(sign(secret, Number(time)), Buffer.from(signature, "base64url"));
}

/** Reports how a request reached the server, if it has a valid token. */
export function publicViews(
  { secrets, clock }: Pick<Services, "secrets" | "clock">,
  host: Pick<AppHost, "peerOf">,
  addresses: ClientAddresses,
) {
  return (request: Request): PublicView | undefined => {
    const token = request.headers.get(PROBE_HEADER);
    if (token === null || !isProbeToken(secrets.link.secret, token, clock.nowMs())) return undefined;
    const { clientAddress, requestOrigin } = requestContextOf(request);
    const peer = host.peerOf(request);
    return {
      client: clientAddress,
      peer,
      isForwarded: isForwarded(request.headers),
      isTrusted: addresses.isTrusted(peer),
      origin: requestOrigin ?? null,
    };
  };
}

function sign(secret: Uint8Array, timeMs: number): Buffer {
  return createHmac("sha256", secret).update(`doctor's look at the public address, ${timeMs}`).digest();
}
