/** The signatures in the addresses of chunks. Each allows writing one chunk of one upload, and nothing else. */
import { createHmac, timingSafeEqual } from "node:crypto";

/** The target of an address: one chunk, or the whole file. */
export type UploadScope = number | "whole";

/** 192 bits. */
const SIGNATURE_BYTES = 24;

/** Makes and checks signatures with the server's key. Each upload has a nonce, so its signatures end with it. */
export class UploadSigner {
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** URL-safe text. */
  sign(upload: { readonly publicId: string; readonly nonce: Uint8Array }, scope: UploadScope): string {
    return this.#bytes(upload, scope).toString("base64url");
  }

  /** Compares in constant time. */
  isValid(
    upload: { readonly publicId: string; readonly nonce: Uint8Array },
    scope: UploadScope,
    signature: string,
  ): boolean {
    const given = Buffer.from(signature, "base64url");
    // Base64 has several spellings of the same bytes; only the issued one is valid.
    return (
      given.toString("base64url") === signature &&
      given.length === SIGNATURE_BYTES &&
      timingSafeEqual(given, this.#bytes(upload, scope))
    );
  }

  #bytes({ publicId, nonce }: { publicId: string; nonce: Uint8Array }, scope: UploadScope): Buffer {
    return createHmac("sha256", this.#secret)
      .update(`larder upload\nPUT\n${publicId}\n${scope}\n`)
      .update(nonce)
      .digest()
      .subarray(0, SIGNATURE_BYTES);
  }
}
