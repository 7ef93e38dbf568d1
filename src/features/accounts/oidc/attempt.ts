/**
 * The browser stores the sign-in that it began, in a cookie that only this server can read or make. So nobody can fill
 * our memory by beginning sign-ins, and a response of the provider is worthless in any other browser.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import type { Attempt } from "./types.ts";

const IV_BYTES = 12;
const TAG_BYTES = 16;
const SEALED_CHARACTERS_MAX = 4_000;

/** Encrypts and decrypts attempts (AES-256-GCM). */
export class AttemptSeal {
  readonly #key: Buffer;

  /** @param secret of this server; the key is derived from it for this purpose only */
  constructor(secret: Uint8Array) {
    this.#key = createHmac("sha256", secret).update("larder: openid connect sign-in in progress").digest();
  }

  seal(attempt: Attempt): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, iv);
    const sealed = Buffer.concat([cipher.update(JSON.stringify(attempt), "utf8"), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64url");
  }

  /** @returns undefined for text that this server did not encrypt, and for an expired attempt */
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
      return undefined; // not ours, or changed: the same response as for none
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by `seal` alone
    const attempt = JSON.parse(text) as Attempt;
    return attempt.expiresAtMs > nowMs ? attempt : undefined;
  }
}

/**
 * A path of this server to which a browser may be sent; anything that could lead elsewhere is rejected.
 * @returns undefined if it is not such a path
 */
export function readReturnPath(text: string): string | undefined {
  // Characters that browsers treat as a slash, or remove, are treated the same here (WHATWG URL).
  if (text.length > 1_024 || !text.startsWith("/") || /[\\\p{Cc}]|^\/\//u.test(text)) return undefined;
  const origin = "http://larder.invalid";
  const url = URL.parse(text, origin);
  return url?.origin === origin && !url.pathname.startsWith("//") ? url.pathname + url.search + url.hash : undefined;
}
