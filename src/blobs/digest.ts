import { AppError } from "../errors.ts";
import { say } from "../translations/say.ts";

/** The sha256 of a blob as 64 lower-case hex digits. The API writes it as `sha256:<hex>`. */
export type Digest = string & { readonly brand: "Digest" };

const HEX = /^[0-9a-f]{64}$/;

/** @throws AppError invalid_field when `text` is not 64 lower-case hex digits. */
export function toDigest(text: string): Digest {
  if (!isDigest(text))
    throw new AppError("invalid_field", say`A SHA-256 digest must have 64 lowercase hexadecimal digits.`);
  return text;
}

/** Whether `text` is 64 lower-case hex digits. */
export function isDigest(text: string): text is Digest {
  return HEX.test(text);
}

/**
 * Reads a digest as the API writes it, `sha256:<64 lower-case hex>`.
 * @throws AppError invalid_field
 */
export function parseChecksum(text: string, field = "checksum"): Digest {
  const hex = text.startsWith("sha256:") ? text.slice("sha256:".length) : "";
  if (!isDigest(hex)) {
    throw new AppError("invalid_field", say`${field} must be "sha256:" followed by 64 lowercase hexadecimal digits.`, {
      field,
    });
  }
  return hex;
}

/** A digest as the API writes it. */
export function toChecksum(digest: Digest): string {
  return `sha256:${digest}`;
}

/** The 32 raw bytes, as the database stores them. */
export function digestToBytes(digest: Digest): Uint8Array {
  return Buffer.from(digest, "hex");
}

/** The digest whose 32 raw bytes these are. */
export function digestFromBytes(bytes: Uint8Array): Digest {
  return toDigest(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex"));
}
