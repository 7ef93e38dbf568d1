// Classifies failed upload requests. Responses of proxies are distinguished from Larder's by their form: Larder's have
// an envelope.
import { messageForReason } from "../../../api/http.ts";
import { text } from "../text.ts";

/** The parts of a failed response that matter; `status` is 0 if there was no response. */
interface FailedResponse {
  readonly status: number;
  readonly body: string;
  readonly retryAfter: string | undefined;
  /** Whether the upload already had a URL. */
  readonly hasUrl: boolean;
}

/** What a failure means. Waits come from the server; messages are meant for people. */
export type Failure =
  | { readonly kind: "network" }
  | { readonly kind: "busy"; readonly message: string; readonly retryAfterSeconds: number | undefined }
  | { readonly kind: "unexpected"; readonly message: string }
  | { readonly kind: "signedOut" }
  | { readonly kind: "nameTaken" }
  | { readonly kind: "offsetMismatch" }
  | { readonly kind: "expired" }
  | { readonly kind: "bodyTooLarge" }
  | { readonly kind: "proxyTimeout"; readonly message: string }
  | { readonly kind: "unreadable" }
  | { readonly kind: "rejected"; readonly message: string };

/** Carries a {@link Failure} through a rejected promise. */
export class TransferError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.kind);
    this.name = "TransferError";
    this.failure = failure;
  }
}

/**
 * Maximum request sizes: the first, unless a proxy rejects it, then the next. The last is below nginx's default of 1
 * MiB.
 */
export const CHUNK_SIZES = [64 * 1024 * 1024, 8 * 1024 * 1024, 768 * 1024] as const;

/** The next smaller request size; undefined if there is none. */
export function smallerChunk(chunkSize: number): number | undefined {
  return CHUNK_SIZES.find((size) => size < chunkSize);
}

/** Classifies a failed request of an upload, which decides what to do next. */
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
    // With 503, the server says so only in the body.
    const waitSeconds = retryAfterSeconds ?? readSeconds(String(field(error.details, "retryAfter")));
    return { kind: "busy", message, retryAfterSeconds: waitSeconds };
  }
  // The file was uploaded and can't be stored yet. It is tried again until the lock ends.
  if (reason === "locked") return { kind: "busy", message: messageForReason(reason) ?? message, retryAfterSeconds };
  if (reason === "name_taken") return { kind: "nameTaken" };
  if (hasUrl && (status === 404 || status === 410)) return { kind: "expired" };
  if (hasUrl && (status === 409 || status === 460)) return { kind: "offsetMismatch" };
  if (status >= 500 && status !== 507) return { kind: "unexpected", message };
  return { kind: "rejected", message };
}

/** A response that Larder did not write: a proxy's error page, or the empty response of a server that is starting. */
function classifyForeignResponse(status: number, retryAfterSeconds: number | undefined, hasUrl: boolean): Failure {
  if (status === 413) return { kind: "bodyTooLarge" };
  if (status === 408 || status === 504 || status === 522 || status === 524) {
    return { kind: "proxyTimeout", message: text.proxyTimeout({ status }) };
  }
  if (status === 401) return { kind: "signedOut" };
  if (status === 429 || status >= 500) return { kind: "busy", message: text.proxyAway({ status }), retryAfterSeconds };
  // tus responses to HEAD have no body.
  if (hasUrl && (status === 404 || status === 410)) return { kind: "expired" };
  if (hasUrl && (status === 409 || status === 460)) return { kind: "offsetMismatch" };
  return { kind: "rejected", message: text.proxyRejected({ status }) };
}

/** The server reports limits in bytes; people read larger units. */
function limitMessage({ reason, details }: EnvelopeError): string | undefined {
  const [limit, used, required] = ["limit", "used", "required"].map((name) => field(details, name));
  if (typeof limit !== "number") return undefined;
  if (reason === "file_too_large") return text.fileTooLarge({ limit });
  // For quotas other than bytes, the server's message has the number.
  if (
    reason !== "quota_exceeded" ||
    field(details, "of") !== undefined ||
    typeof used !== "number" ||
    typeof required !== "number"
  )
    return undefined;
  return text.quotaExceeded({ required, left: Math.max(limit - used, 0), quota: limit });
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
