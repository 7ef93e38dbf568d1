/**
 * A sign-in in progress is kept by the browser that began it, in a cookie that only this server can read or make. So
 * nobody can fill our memory by beginning sign-ins, and a response of the provider is worth nothing in any other
 * browser.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import type { Attempt } from "./types.ts";

const IV_BYTES = 12;
const TAG_BYTES = 16;
const SEALED_CHARACTERS_MAX = 4_000;

/** Seals and opens attempts (AES-256-GCM). */
export class AttemptSeal {
  readonly #key: Buffer;

  /** @param secret of this server; the key is made from it, for this use alone */
  constructor(secret: Uint8Array) {
    this.#key = createHmac("sha256", secret).update("larder: openid connect sign-in in progress").digest();
  }

  seal(attempt: Attempt): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, iv);
    const sealed = Buffer.concat([cipher.update(JSON.stringify(attempt), "utf8"), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64url");
  }

  /**  @returns undefined for text that this server did not seal, and for an expired attempt */
  open(sealed: string, nowMs: number): Attempt | undefined {
    if (sealed.length > SEALED_CHARACTERS_MAX) return undefined;
    const bytes = Buffer.from(sealed, "base64url");
    if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv("aes-256-gcm", this.#key, bytes.subarray(0, IV_BYTES));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    let text: string;
    try {
      text = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
    } catch {
      return undefined; // not ours, or changed: the response is the same as for none
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by `seal` alone
    const attempt = JSON.parse(text) as Attempt;
    return attempt.expiresAtMs > nowMs ? attempt : undefined;
  }
}

/**
 * A path of this very server, as a browser may be sent to it; anything that could lead elsewhere is rejected.
 * @returns undefined where it is none
 */
export function readReturnPath(text: string): string | undefined {
  // Characters that browsers treat as a slash, or drop, are treated alike here (WHATWG URL).
  if (text.length > 1_024 || !text.startsWith("/") || /[\\\p{Cc}]|^\/\//u.test(text)) return undefined;
  const origin = "http://larder.invalid";
  const url = URL.parse(text, origin);
  return url?.origin === origin && !url.pathname.startsWith("//") ? url.pathname + url.search + url.hash : undefined;
}
