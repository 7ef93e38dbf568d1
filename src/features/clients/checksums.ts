/** The header `OC-Checksum`: a checksum that a sync client computed, in the form `SHA1:…`. */
import { toDigest, type Digest } from "../../blobs/digest.ts";
import { AppError, invalidField } from "../../errors.ts";
import { say } from "../../translations/say.ts";

/** Compares received bytes with the checksum that the client sent. */
export interface ChecksumVerifier {
  /** Whether it needs the bytes. False for SHA-256, because the store computes that digest anyway. */
  readonly isComputed: boolean;
  /** Adds the next bytes. */
  update(bytes: Uint8Array): void;
  /**
   * Call it once, after the last bytes.
   * @param digest the SHA-256 of all bytes
   * @throws AppError checksum_mismatch
   */
  verify(digest: Digest): void;
}

/** A checksum in hexadecimal form, over all bytes that it was given. */
interface Hasher {
  update(bytes: Uint8Array): unknown;
  digest(encoding: "hex"): string;
}

/** Checksums that the ownCloud and Nextcloud clients can send, and the number of their hexadecimal digits. */
const HASHERS: Readonly<Record<string, { readonly digits: number; readonly make: () => Hasher }>> = {
  MD5: { digits: 32, make: () => new Bun.CryptoHasher("md5") },
  SHA1: { digits: 40, make: () => new Bun.CryptoHasher("sha1") },
  "SHA3-256": { digits: 64, make: () => new Bun.CryptoHasher("sha3-256") },
  ADLER32: { digits: 8, make: () => new Adler32() },
};

/**
 * The verifier for the header `OC-Checksum`; undefined without the header, and for a kind of checksum that this server
 * does not know. Several checksums are separated by spaces; the first known one counts.
 * @throws AppError invalid_field for a header that has another form
 */
export function expectedChecksum(header: string | null): ChecksumVerifier | undefined {
  for (const entry of header?.trim().split(/\s+/) ?? []) {
    if (entry === "") return undefined;
    const [, kind = "", expected = ""] = /^([A-Za-z0-9-]+):([0-9a-fA-F]+)$/.exec(entry) ?? [];
    if (kind === "") throw malformed();
    const verifier = verifierOf(kind.toUpperCase(), expected.toLowerCase());
    if (verifier !== undefined) return verifier;
  }
  return undefined;
}

function verifierOf(kind: string, expected: string): ChecksumVerifier | undefined {
  if (kind === "SHA256") {
    if (expected.length !== 64) throw malformed();
    const digest = toDigest(expected);
    return { isComputed: false, update: () => undefined, verify: (actual) => check(kind, digest, actual) };
  }
  const known = HASHERS[kind];
  if (known === undefined) return undefined;
  // ownCloud's client sends ADLER32 without leading zeros.
  const padded = kind === "ADLER32" ? expected.padStart(known.digits, "0") : expected;
  if (padded.length !== known.digits) throw malformed();
  const hasher = known.make();
  return {
    isComputed: true,
    update: (bytes) => void hasher.update(bytes),
    verify: () => check(kind, padded, hasher.digest("hex")),
  };
}

function malformed(): AppError {
  return invalidField(
    "OC-Checksum",
    say`OC-Checksum must be the name of a checksum, a colon, and hexadecimal digits, such as SHA1:2fd4e1c6.`,
  );
}

/** @throws AppError checksum_mismatch */
function check(kind: string, expected: string, actual: string): void {
  if (expected === actual) return;
  throw new AppError("checksum_mismatch", say`The uploaded data does not match its checksum. Send the file again.`, {
    field: "OC-Checksum",
    expected: `${kind}:${expected}`,
    actual: `${kind}:${actual}`,
  });
}

/** Adler-32 (RFC 1950, section 8.2) over bytes that arrive in pieces, which the function of the runtime does not support. */
class Adler32 implements Hasher {
  #a = 1;
  #b = 0;

  update(bytes: Uint8Array): void {
    let a = this.#a;
    let b = this.#b;
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(at + ADLER_STEP_BYTES, bytes.length);
      for (; at < end; at++) {
        a += bytes[at] ?? 0;
        b += a;
      }
      a %= ADLER_MODULUS;
      b %= ADLER_MODULUS;
    }
    this.#a = a;
    this.#b = b;
  }

  digest(): string {
    return (this.#b * 65_536 + this.#a).toString(16).padStart(8, "0");
  }
}

const ADLER_MODULUS = 65_521;
/** So many bytes can be added before the sums exceed 32 bits. */
const ADLER_STEP_BYTES = 5_552;
