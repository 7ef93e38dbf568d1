import { expect, test } from "bun:test";
import { toDigest } from "../../../src/blobs/digest.ts";
import { AppError } from "../../../src/errors.ts";
import { expectedChecksum } from "../../../src/features/clients/checksums.ts";

const BYTES = crypto.getRandomValues(new Uint8Array(60_000));
const DIGEST = toDigest(new Bun.CryptoHasher("sha256").update(BYTES).digest("hex"));

function hex(algorithm: "md5" | "sha1" | "sha256" | "sha3-256"): string {
  return new Bun.CryptoHasher(algorithm).update(BYTES).digest("hex");
}

/** Sends the bytes in pieces, and returns the reason of the rejection, if there is one. */
function verify(header: string): string | undefined {
  const verifier = expectedChecksum(header);
  for (let at = 0; at < BYTES.length; at += 7_001) verifier?.update(BYTES.subarray(at, at + 7_001));
  try {
    verifier?.verify(DIGEST);
    return undefined;
  } catch (error) {
    return error instanceof AppError ? error.reason : "unexpected";
  }
}

test("every known checksum of the received bytes is accepted, and a wrong one rejected", () => {
  const right = {
    SHA256: hex("sha256"),
    SHA1: hex("sha1"),
    MD5: hex("md5"),
    "SHA3-256": hex("sha3-256"),
    ADLER32: Bun.hash.adler32(BYTES).toString(16),
  };
  for (const [kind, value] of Object.entries(right)) {
    expect([kind, verify(`${kind}:${value}`)]).toEqual([kind, undefined]);
    expect([kind, verify(`${kind.toLowerCase()}:${value.toUpperCase()}`)]).toEqual([kind, undefined]);
    const wrong = (value.startsWith("0") ? "1" : "0") + value.slice(1);
    expect([kind, verify(`${kind}:${wrong}`)]).toEqual([kind, "checksum_mismatch"]);
  }
});

test("ADLER32 may lack leading zeros", () => {
  const verifier = expectedChecksum("ADLER32:620062");
  verifier?.update(new Uint8Array([0x61]));
  expect(() => verifier?.verify(DIGEST)).not.toThrow();
});

test("the first known checksum of several counts", () => {
  expect(verify(`CRC32C:12345678 SHA1:${hex("sha1")} MD5:00000000000000000000000000000000`)).toBeUndefined();
});

test("unknown kinds are ignored, and other forms rejected", () => {
  expect(expectedChecksum(null)).toBeUndefined();
  expect(expectedChecksum("")).toBeUndefined();
  expect(expectedChecksum("CRC32C:12345678")).toBeUndefined();
  for (const header of ["SHA1", "SHA1:", "SHA1:xyz", "SHA1:abcd", "SHA256:abcd", "ADLER32:123456789", ":abcd"]) {
    expect(() => expectedChecksum(header)).toThrow(AppError);
  }
});
