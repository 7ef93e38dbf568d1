/**
 * Signatures of AWS, version 4, in the Authorization header: the way of signing that every S3-compatible service knows.
 * The digest of the body is signed along, so a service refuses bytes that changed on their way.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
import { createHash, createHmac } from "node:crypto";

/** Who signs, and for which region. */
export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/** What is signed. */
export interface SignableRequest {
  readonly method: string;
  /** As it will be sent: its path and query are escaped already ({@link escapePath}, {@link escapeQuery}). */
  readonly url: URL;
  /** Headers of the request besides Host; names in lower case. All of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
  /** sha256 of the body in hex; of no bytes where there is none. */
  readonly bodyDigest: string;
}

/** sha256 of no bytes. */
export const EMPTY_DIGEST = createHash("sha256").digest("hex");

/** The headers to send: those given, the date, the body's digest and the signature. */
export function signRequest(request: SignableRequest, key: SigningKey, now: Date): Record<string, string> {
  const { method, url, bodyDigest } = request;
  const timestamp = now.toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
  const date = timestamp.slice(0, 8);
  const headers: Record<string, string> = {
    ...request.headers,
    "x-amz-content-sha256": bodyDigest,
    "x-amz-date": timestamp,
  };
  const signed: Record<string, string> = { ...headers, host: url.host };
  const names = Object.keys(signed).toSorted();
  const canonical = [
    method,
    url.pathname,
    url.search.slice(1),
    ...names.map((name) => `${name}:${(signed[name] ?? "").trim().replaceAll(/ +/g, " ")}`),
    "",
    names.join(";"),
    bodyDigest,
  ].join("\n");
  const scope = `${date}/${key.region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", timestamp, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  const signature = hmac(signingKey(key, date), text).toString("hex");
  headers["authorization"] =
    `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${scope},SignedHeaders=${names.join(";")},Signature=${signature}`;
  return headers;
}

/** A path with every character escaped that is not unreserved (RFC 3986 §2.3) or a slash. */
export function escapePath(path: string): string {
  return path.split("/").map(escapeAll).join("/");
}

/** A query string in the order in which it is signed: by name. */
export function escapeQuery(query: Readonly<Record<string, string>>): string {
  return Object.keys(query)
    .toSorted()
    .map((name) => `${escapeAll(name)}=${escapeAll(query[name] ?? "")}`)
    .join("&");
}

/** encodeURIComponent leaves five characters as they are that must be escaped here. */
function escapeAll(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function signingKey({ secretAccessKey, region }: SigningKey, date: string): Buffer {
  return hmac(hmac(hmac(hmac(`AWS4${secretAccessKey}`, date), region), "s3"), "aws4_request");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
