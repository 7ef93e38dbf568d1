import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { EMPTY_DIGEST, escapePath, escapeQuery, signRequest } from "../../../../src/blobs/s3/sign.ts";

// The examples of https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
const key = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
};
const now = new Date("2013-05-24T00:00:00Z");
const host = "https://examplebucket.s3.amazonaws.com";

function signatureOf(
  method: string,
  path: string,
  {
    query = {},
    headers = {},
    body,
  }: { query?: Record<string, string>; headers?: Record<string, string>; body?: string },
): string {
  const url = new URL(host);
  url.pathname = escapePath(path);
  url.search = escapeQuery(query);
  const bodyDigest = body === undefined ? EMPTY_DIGEST : createHash("sha256").update(body).digest("hex");
  const signed = signRequest({ method, url, headers, bodyDigest }, key, now);
  return /Signature=([0-9a-f]{64})$/.exec(signed["authorization"] ?? "")?.[1] ?? "";
}

test.each([
  [
    "a part of an object",
    signatureOf("GET", "/test.txt", { headers: { range: "bytes=0-9" } }),
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  ],
  [
    "a new object, with a character to escape",
    signatureOf("PUT", "/test$file.text", {
      headers: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
      body: "Welcome to Amazon S3.",
    }),
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  ],
  [
    "a query without a value",
    signatureOf("GET", "/", { query: { lifecycle: "" } }),
    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  ],
  [
    "a list",
    signatureOf("GET", "/", { query: { prefix: "J", "max-keys": "2" } }),
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  ],
])("signs as Amazon's examples do: %s", (_name, signature, wanted) => {
  expect(signature).toBe(wanted);
});

test("the signed digest is that of the body", () => {
  const url = new URL(host);
  const signed = signRequest({ method: "PUT", url, headers: {}, bodyDigest: "ab" }, key, now);
  expect(signed["x-amz-content-sha256"]).toBe("ab");
  expect(signed["authorization"]).toContain("SignedHeaders=host;x-amz-content-sha256;x-amz-date");
});
