/**
 * How this server is seen from outside. `larder doctor` asks for it at the public address, through whatever proxies are
 * in front; only who can read the server's secrets is told, since it names addresses that are nobody else's business.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { type ClientAddresses, isForwarded } from "../../http/client-address.ts";
import { requestContextOf } from "../../http/request-context.ts";
import type { Services } from "../composition/services.ts";
import type { AppHost } from "./host.ts";

/** The header that carries the pass of {@link makePass}. */
export const PASS_HEADER = "x-larder-doctor";

/** How one request reached the server. */
export interface PublicView {
  /** The address that the request counts for. */
  readonly client: string;
  /** The address at the other end of the connection: the last proxy's, or the client's own. */
  readonly peer: string;
  /** Whether proxies added headers about the client. */
  readonly isForwarded: boolean;
  /** Whether those of this peer are believed. */
  readonly isTrusted: boolean;
  /** The origin under which the server was asked, as far as it knows; null without a valid Host. */
  readonly origin: string | null;
}

const PASS_LIFETIME_MS = 300_000;

/** A pass of the given moment, made from a secret of the server. */
export function makePass(secret: Uint8Array, nowMs: number): string {
  return `${nowMs}.${sign(secret, nowMs).toString("base64url")}`;
}

/** Whether a pass was made from the same secret, within five minutes of now. */
export function isPass(secret: Uint8Array, pass: string, nowMs: number): boolean {
  const [, time = "", signature = ""] = /^(\d{1,15})\.([\w-]{43})$/.exec(pass) ?? [];
  if (time === "" || Math.abs(nowMs - Number(time)) > PASS_LIFETIME_MS) return false;
  return timingSafeEqual(sign(secret, Number(time)), Buffer.from(signature, "base64url"));
}

/** Tells for a request how it reached the server, if it has a pass; undefined otherwise. */
export function publicViews(
  { secrets, clock }: Pick<Services, "secrets" | "clock">,
  host: Pick<AppHost, "peerOf">,
  addresses: ClientAddresses,
) {
  return (request: Request): PublicView | undefined => {
    const pass = request.headers.get(PASS_HEADER);
    if (pass === null || !isPass(secrets.link.secret, pass, clock.nowMs())) return undefined;
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
