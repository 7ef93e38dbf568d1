import { expect, test } from "bun:test";
import { toDigest } from "../../../../src/blobs/digest.ts";
import { readContentDigest } from "../../../../src/features/uploads/chunked/content-digest.ts";
import { UploadSigner } from "../../../../src/features/uploads/chunked/signatures.ts";

const digest = toDigest("ab".repeat(32));
const base64 = Buffer.from(digest, "hex").toString("base64");

test("Content-Digest contains a sha256, alone or among others (RFC 9530)", () => {
  expect(readContentDigest(`sha-256=:${base64}:`)).toBe(digest);
  expect(readContentDigest(`sha-512=:AAAA:,  SHA-256=:${base64}:, md5=:AA==:`)).toBe(digest);
  expect(readContentDigest(null)).toBeUndefined();
  expect(readContentDigest("sha-512=:AAAA:")).toBeUndefined();
  for (const bad of [
    `sha-256=${base64}`,
    "sha-256=::",
    "sha-256=:AAAA:",
    `sha-256=:${base64}`,
    `sha-256=:${base64}:x`,
  ]) {
    expect(() => readContentDigest(bad)).toThrow("Content-Digest");
  }
});

test("a signature is valid only for its scope of its upload", () => {
  const signer = new UploadSigner(Buffer.alloc(32, 1));
  const upload = { publicId: "upl_1", nonce: Buffer.alloc(16, 2) };
  const signature = signer.sign(upload, 7);
  expect(signature).toMatch(/^[A-Za-z0-9_-]{32}$/);
  expect(signer.isValid(upload, 7, signature)).toBe(true);
  const others: [typeof upload, number | "whole"][] = [
    [upload, 8],
    [upload, "whole"],
    [{ ...upload, publicId: "upl_2" }, 7],
    [{ ...upload, nonce: Buffer.alloc(16, 3) }, 7],
  ];
  for (const [other, scope] of others) expect(signer.isValid(other, scope, signature)).toBe(false);
  expect(new UploadSigner(Buffer.alloc(32, 9)).isValid(upload, 7, signature)).toBe(false);
  for (const wrong of ["", "=", `${signature}A`, `${signature}=`, signature.slice(0, -1)]) {
    expect(signer.isValid(upload, 7, wrong)).toBe(false);
  }
});
