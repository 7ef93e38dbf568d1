// One file over tus 1.0, one attempt: what is to be done about a failure is the engine's decision.
import { type DetailedError, type HttpRequest, type HttpResponse, Upload } from "tus-js-client";
import { isReadable } from "../../../base/readable-file.ts";
import { TransferError, classifyFailure } from "./failures.ts";

/** What is sent, and who hears of it. */
export interface SendRequest {
  readonly file: File;
  /** Where uploads are made. */
  readonly endpoint: string;
  /** The upload's address, where it was made before: sending goes on from the server's offset. */
  readonly url: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly chunkSize: number;
  /** One for each file, so that a creation whose answer was lost isn't done twice. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  /** Bytes that are sent, the server's offset included. */
  readonly onProgress: (sent: number) => void;
  readonly onUrl: (url: string) => void;
}

/** What the server said of the whole file. */
export interface SendResult {
  readonly fileId: string | undefined;
}

/** A connection in which nothing moved for so long is given up, in milliseconds: a laptop that slept leaves such. */
const SILENCE_MS_MAX = 60_000;

/** The same once all is sent: a large file is finished by the server in this time. */
const FINISHING_MS_MAX = 600_000;

/** Answers that say all there is to say without a body; 0 is none at all. */
const STATUSES_WITHOUT_REASON: ReadonlySet<number> = new Set([0, 401, 404, 410]);

/** Up to this size the content goes with the creation, in one request. */
const ONE_REQUEST_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Sends a file, or what is left of it, and resolves when the server has it whole.
 *
 * @throws TransferError with what the failure means; DOMException AbortError when the signal ended it
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
      // Ends the request that runs; what it leaves behind is this promise's rejection.
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
      // With both, the library would begin anew by itself on every refusal of the address.
      ...(request.url === undefined ? { endpoint: request.endpoint } : { uploadUrl: request.url }),
      metadata: request.metadata,
      chunkSize: request.chunkSize,
      uploadDataDuringCreation: file.size <= Math.min(ONE_REQUEST_BYTES_MAX, request.chunkSize),
      // The engine repeats and remembers.
      retryDelays: null,
      storeFingerprintForResuming: false,
      onBeforeRequest: (outgoing) => {
        if (outgoing.getMethod() === "POST") outgoing.setHeader("Idempotency-Key", request.idempotencyKey);
        watch();
      },
      onAfterResponse: (_outgoing, answer) => {
        fileId = answer.getHeader("Larder-File-Id") ?? fileId;
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

/** Lets the server forget an upload. Harmless where it is gone, or where the network is away: it expires by itself. */
export async function terminateUpload(url: string): Promise<void> {
  await Upload.terminate(url, { retryDelays: [1000] }).catch(() => undefined);
}

/** @throws TransferError with what the library's error means */
async function fail(error: Error, file: File, offset: number, hasUrl: boolean): Promise<never> {
  const response = isDetailed(error) ? error.originalResponse : null;
  const status = response?.getStatus() ?? 0;
  // A file that was changed or taken away looks like a failed network: the browser only ends the request.
  if (status === 0 && !(await isReadable(file, offset))) throw new TransferError({ kind: "unreadable" });
  const lacksReason =
    isDetailed(error) && error.originalRequest.getMethod() === "HEAD" && !STATUSES_WITHOUT_REASON.has(status);
  const { body, retryAfter } = lacksReason
    ? await fetchErrorBody(error.originalRequest.getURL())
    : readErrorBody(response);
  throw new TransferError(classifyFailure({ status, body, retryAfter, hasUrl }));
}

/**
 * An upload whose bytes are all there becomes a file when it is asked for, and may be refused then (a taken name, no room);
 * an answer to HEAD can't say why. @returns what GET is answered in its place; nothing where it is no refusal any more
 */
async function fetchErrorBody(url: string): Promise<{ body: string; retryAfter: string | undefined }> {
  try {
    const response = await fetch(url, { headers: { "Tus-Resumable": "1.0.0" } });
    if (response.ok) return { body: "", retryAfter: undefined };
    return { body: await response.text(), retryAfter: response.headers.get("Retry-After") ?? undefined };
  } catch {
    // The line broke: the next attempt asks again.
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
