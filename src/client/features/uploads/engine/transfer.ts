// Sends one file with tus 1.0, in one attempt. The engine decides what to do after a failure.
import { type DetailedError, type HttpRequest, type HttpResponse, Upload } from "tus-js-client";
import { isReadable } from "../../../base/readable-file.ts";
import { TransferError, classifyFailure } from "./failures.ts";

/** What to send, and the callbacks. */
export interface SendRequest {
  readonly file: File;
  /** The URL at which uploads are created. */
  readonly endpoint: string;
  /** The upload's URL if it exists already: sending continues from the server's offset. */
  readonly url: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly chunkSize: number;
  /** One per file, so that a creation whose response was lost isn't repeated. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  /** The bytes sent so far, including the server's offset. */
  readonly onProgress: (sent: number) => void;
  readonly onUrl: (url: string) => void;
}

/** The result of a complete upload. */
export interface SendResult {
  readonly fileId: string | undefined;
}

/** How long a connection may stall, in milliseconds. A laptop that slept leaves such connections. */
const SILENCE_MS_MAX = 60_000;

/** The same after all bytes are sent, while the server finishes a large file. */
const FINISHING_MS_MAX = 600_000;

/** Statuses that need no reason from the body; 0 means that there was no response. */
const STATUSES_WITHOUT_REASON: ReadonlySet<number> = new Set([0, 401, 404, 410]);

/** Files up to this size are sent with the creation, in one request. */
const ONE_REQUEST_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Sends a file, or the rest of it. Resolves when the server has it completely.
 * @throws TransferError with the classified failure; DOMException AbortError if the signal aborted it
 */
export async function sendByTus(request: SendRequest): Promise<SendResult> {
  const { file, signal } = request;
  if (file.size === 0 && !(await isReadable(file))) throw new TransferError({ kind: "unreadable" });
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    let fileId: string | undefined;
    let sentBytes = 0;
    let watchdog: ReturnType<typeof setTimeout> | undefined;
    const end = (): void => {
      clearTimeout(watchdog);
      signal.removeEventListener("abort", abort);
    };
    const giveUp = (reason: unknown): void => {
      end();
      // Ends the running request. Its own error is replaced by this rejection.
      void upload.abort().catch(() => undefined);
      reject(toError(reason));
    };
    const abort = (): void => giveUp(signal.reason);
    const watch = (): void => {
      clearTimeout(watchdog);
      const limit = sentBytes >= file.size ? FINISHING_MS_MAX : SILENCE_MS_MAX;
      watchdog = setTimeout(() => giveUp(new TransferError({ kind: "network" })), limit);
    };
    const upload: Upload = new Upload(file, {
      // With both, the library would start over whenever the URL is rejected.
      ...(request.url === undefined ? { endpoint: request.endpoint } : { uploadUrl: request.url }),
      metadata: request.metadata,
      chunkSize: request.chunkSize,
      uploadDataDuringCreation: file.size <= Math.min(ONE_REQUEST_BYTES_MAX, request.chunkSize),
      // The engine retries and resumes.
      retryDelays: null,
      storeFingerprintForResuming: false,
      onBeforeRequest: (outgoing) => {
        if (outgoing.getMethod() === "POST") outgoing.setHeader("Idempotency-Key", request.idempotencyKey);
        watch();
      },
      onAfterResponse: (_outgoing, response) => {
        fileId = response.getHeader("Larder-File-Id") ?? fileId;
        watch();
      },
      onUploadUrlAvailable: () => {
        if (upload.url !== null) request.onUrl(upload.url);
      },
      onProgress: (sent) => {
        sentBytes = sent;
        watch();
        request.onProgress(sent);
      },
      onSuccess: ({ lastResponse }) => {
        end();
        resolve({ fileId: lastResponse.getHeader("Larder-File-Id") ?? fileId });
      },
      onError: (error) => {
        end();
        resolve(fail(error, file, sentBytes, request.url !== undefined || upload.url !== null));
      },
    });
    signal.addEventListener("abort", abort, { once: true });
    watch();
    upload.start();
  });
}

/**
 * Deletes an upload on the server. Harmless if it is gone. If the server can't be reached, the upload expires
 * automatically.
 */
export async function terminateUpload(url: string): Promise<void> {
  await Upload.terminate(url, { retryDelays: [1000] }).catch(() => undefined);
}

/** @throws TransferError with the classified error of the library */
async function fail(error: Error, file: File, offset: number, hasUrl: boolean): Promise<never> {
  const response = isDetailed(error) ? error.originalResponse : null;
  const status = response?.getStatus() ?? 0;
  // A file that was changed or removed looks like a network failure: the browser only aborts the request.
  if (status === 0 && !(await isReadable(file, offset))) throw new TransferError({ kind: "unreadable" });
  const lacksReason =
    isDetailed(error) && error.originalRequest.getMethod() === "HEAD" && !STATUSES_WITHOUT_REASON.has(status);
  const { body, retryAfter } = lacksReason
    ? await fetchErrorBody(error.originalRequest.getURL())
    : readErrorBody(response);
  throw new TransferError(classifyFailure({ status, body, retryAfter, hasUrl }));
}

/**
 * When all bytes are there, a HEAD request turns the upload into a file. That may be rejected (name conflict, no
 * space), but a response to HEAD has no body to say why.
 * @returns the response to GET instead; empty if GET is no longer rejected
 */
async function fetchErrorBody(url: string): Promise<{ body: string; retryAfter: string | undefined }> {
  try {
    const response = await fetch(url, { headers: { "Tus-Resumable": "1.0.0" } });
    if (response.ok) return { body: "", retryAfter: undefined };
    return { body: await response.text(), retryAfter: response.headers.get("Retry-After") ?? undefined };
  } catch {
    // The connection failed; the next attempt asks again.
    return { body: "", retryAfter: undefined };
  }
}

function readErrorBody(response: HttpResponse | null): { body: string; retryAfter: string | undefined } {
  if (response === null) return { body: "", retryAfter: undefined };
  return { body: response.getBody() || "", retryAfter: response.getHeader("Retry-After") ?? undefined };
}

function isDetailed(error: Error): error is DetailedError {
  return "originalRequest" in error && isRequest(error.originalRequest);
}

function isRequest(value: unknown): value is HttpRequest {
  return typeof value === "object" && value !== null;
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new DOMException("The upload was ended.", "AbortError");
}
