/**
 * Password grants: short-lived proofs that a share's password was entered. A grant is bound to its share and to the
 * state of the share. It gives access to nothing else, and ends when the share or its password changes. Nothing is
 * stored.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Share } from "./types.ts";

/** How long a grant is valid, in milliseconds. */
export const GRANT_MS = 3_600_000;

const GRANT = /^([0-9a-z]{1,11})\.([A-Za-z0-9_-]{43})$/;

/** Makes and checks grants. */
export class PasswordGrants {
  readonly #key: Uint8Array;

  /** @param key the link key; the signed text distinguishes grants from other uses of this key */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** A grant that is valid for an hour, or until the share ends. */
  issue(share: Share, nowMs: number): { grant: string; expiresAtMs: number } {
    const expiresAtMs = Math.min(nowMs + GRANT_MS, share.expiresAtMs ?? Number.POSITIVE_INFINITY);
    return {
      grant: `${expiresAtMs.toString(36)}.${this.#sign(share, expiresAtMs).toString("base64url")}`,
      expiresAtMs,
    };
  }

  /** Whether a grant is valid for this share in its current state. */
  isValid(share: Share, grant: string | undefined, nowMs: number): boolean {
    const [, expiry = "", signature = ""] = GRANT.exec(grant ?? "") ?? [];
    const expiresAtMs = Number.parseInt(expiry, 36);
    if (!(expiresAtMs > nowMs)) return false;
    const given = Buffer.from(signature, "base64url");
    const expected = this.#sign(share, expiresAtMs);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  #sign(share: Share, expiresAtMs: number): Buffer {
    const signedText = ["share-grant", share.publicId, share.grantEpoch, expiresAtMs].join("\n");
    return createHmac("sha256", this.#key).update(signedText).digest();
  }
}
