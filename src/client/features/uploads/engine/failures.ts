// What an upload's failed request means. A proxy's own page is told from Larder's answer by its form: ours are envelopes.
import { text } from "../text.ts";

/** An answer that was no success, as far as judging it goes; `status` 0 where none came. */
export interface FailedResponse {
  readonly status: number;
  readonly body: string;
  readonly retryAfter: string | undefined;
  /** Whether the upload had an address at the server already. */
  readonly hasUrl: boolean;
}

/** What follows from a failure. Seconds are told by the server; messages are words for people. */
export type Failure =
  | { readonly kind: "network" }
  | { readonly kind: "busy"; readonly message: string; readonly retryAfterSeconds: number | undefined }
  | { readonly kind: "unexpected"; readonly message: string }
  | { readonly kind: "signedOut" }
  | { readonly kind: "taken"; readonly message: string }
  | { readonly kind: "outOfStep" }
  | { readonly kind: "gone" }
  | { readonly kind: "bodyTooLarge" }
  | { readonly kind: "proxyTimeout"; readonly message: string }
  | { readonly kind: "unreadable" }
  | { readonly kind: "refused"; readonly message: string };

/** Carries a {@link FailedEntry} through a rejected promise. */
export class TransferError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.kind);
    this.name = "TransferError";
    this.failure = failure;
  }
}

/** Bodies of one request: the first unless a proxy refuses it, then the next. The last is below nginx's default of 1 MiB. */
export const CHUNK_SIZES = [64 * 1024 * 1024, 8 * 1024 * 1024, 768 * 1024] as const;

/** The next smaller body of one request; undefined where there is none. */
export function smallerChunk(chunkSize: number): number | undefined {
  return CHUNK_SIZES.find((size) => size < chunkSize);
}

/** Says what a failed request of an upload means, and so what to do next. */
export function classifyFailure(response: FailedResponse): Failure {
  const { status, hasUrl } = response;
  if (status === 0) return { kind: "network" };
  const error = readEnvelope(response.body);
  const retryAfterSeconds = readSeconds(response.retryAfter);
  if (error === undefined) return classifyForeignResponse(status, retryAfterSeconds, hasUrl);
  const { reason } = error;
  const message = limitMessage(error) ?? error.message;
  if (status === 401) return { kind: "signedOut" };
  if (status === 429 || status === 503 || status === 423 || reason === "idempotency_key") {
    // With 503 the server says so in the body alone.
    const waitSeconds = retryAfterSeconds ?? readSeconds(String(field(error.details, "retryAfter")));
    return { kind: "busy", message, retryAfterSeconds: waitSeconds };
  }
  if (reason === "name_taken") return { kind: "taken", message };
  if (hasUrl && (status === 404 || status === 410)) return { kind: "gone" };
  if (hasUrl && (status === 409 || status === 460)) return { kind: "outOfStep" };
  if (status >= 500 && status !== 507) return { kind: "unexpected", message };
  return { kind: "refused", message };
}

/** An answer that Larder did not write: a proxy's page, or the empty answer of a server that is just starting. */
function classifyForeignResponse(status: number, retryAfterSeconds: number | undefined, hasUrl: boolean): Failure {
  if (status === 413) return { kind: "bodyTooLarge" };
  if (status === 408 || status === 504 || status === 522 || status === 524) {
    return { kind: "proxyTimeout", message: text.proxyTimeout(status) };
  }
  if (status === 401) return { kind: "signedOut" };
  if (status === 429 || status >= 500) return { kind: "busy", message: text.proxyAway(status), retryAfterSeconds };
  // tus answers without a body where HEAD asks.
  if (hasUrl && (status === 404 || status === 410)) return { kind: "gone" };
  if (hasUrl && (status === 409 || status === 460)) return { kind: "outOfStep" };
  return { kind: "refused", message: text.proxyRejected(status) };
}

/** The server tells limits in bytes; people read them in larger units (D23: rule, limit and value). */
function limitMessage({ reason, details }: EnvelopeError): string | undefined {
  const [limit, used, required] = ["limit", "used", "required"].map((name) => field(details, name));
  if (typeof limit !== "number") return undefined;
  if (reason === "file_too_large") return text.fileTooLarge(limit);
  // Of another quota than that of bytes, the server names the number.
  if (
    reason !== "quota_exceeded" ||
    field(details, "of") !== undefined ||
    typeof used !== "number" ||
    typeof required !== "number"
  )
    return undefined;
  return text.quotaExceeded(required, Math.max(limit - used, 0), limit);
}

interface EnvelopeError {
  readonly message: string;
  readonly reason: string | undefined;
  readonly details: unknown;
}

function readEnvelope(body: string): EnvelopeError | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return undefined;
  }
  const error = field(parsed, "error");
  const message = field(error, "message");
  const details = field(error, "details");
  const reason = field(details, "reason");
  if (typeof message !== "string") return undefined;
  return { message, reason: typeof reason === "string" ? reason : undefined, details };
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function readSeconds(header: string | undefined): number | undefined {
  if (header === undefined || !/^\d{1,6}$/.test(header.trim())) return undefined;
  return Number(header);
}
