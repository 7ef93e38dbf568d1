/** One file that is uploaded to a drop box with tus, so that an interruption costs nothing that was stored. */
import { DetailedError, defaultOptions, type HttpResponse, type HttpStack, Upload } from "tus-js-client";
import { isReadable } from "../../base/readable-file.ts";
import { dropBoxText, text } from "../text.ts";
import { messageIn } from "./responses.ts";
import { remembered } from "./remembered.ts";

/** Where files go, and who sends them. */
export interface Destination {
  readonly url: string;
  /** The grant for a link with a password; read again for each request. */
  readonly grant: () => string | undefined;
  readonly sender: () => string;
}

type UploadState = "waiting" | "sending" | "paused" | "failed" | "done";

/** The state of an upload. */
interface UploadStatus {
  readonly state: UploadState;
  readonly sentBytes: number;
  /** What is wrong, or what it waits for, for people to read. */
  readonly problem: string | undefined;
  /** It waits for the password of the link. */
  readonly isLocked: boolean;
}

/**
 * Files up to this size are sent with the first request. A larger one could not be resumed if that were interrupted.
 */
const ONE_REQUEST_BYTES_MAX = 1024 * 1024;

/** Responses to the offset request which mean that the upload no longer exists. */
const EXPIRED_STATUSES: ReadonlySet<number> = new Set([404, 410]);

/** Sends GET where the library sends HEAD, because rejections of HEAD have no message. */
const httpStack: HttpStack = {
  getName: () => defaultOptions.httpStack.getName(),
  createRequest: (method, url) => defaultOptions.httpStack.createRequest(method === "HEAD" ? "GET" : method, url),
};

/** Waits between attempts. They never end: a lost connection returns at some time. */
const RETRY_DELAYS_MS = [500, 1_000, 2_000, 4_000, 8_000, ...Array.from({ length: 500 }, () => 15_000)];

/** Uploads one file. `onChange` is called after each change of {@link FileUpload.status}. */
export class FileUpload {
  readonly file: File;
  /** With the folders that it was in, if any. */
  readonly path: string;
  readonly #destination: Destination;
  readonly #onChange: (upload: FileUpload) => void;
  #upload: Upload | undefined;
  #isPreparing = false;
  /** The bytes that the server has confirmed. */
  #storedBytes = 0;
  #status: UploadStatus = { state: "waiting", sentBytes: 0, problem: undefined, isLocked: false };

  constructor(
    file: File,
    { path, destination, onChange }: { path: string; destination: Destination; onChange: (upload: FileUpload) => void },
  ) {
    this.file = file;
    this.path = path;
    this.#destination = destination;
    this.#onChange = onChange;
  }

  get status(): UploadStatus {
    return this.#status;
  }

  /** Starts or resumes. */
  start(): void {
    this.#setStatus({ state: "sending", problem: undefined, isLocked: false });
    if (this.#upload !== undefined) this.#upload.start();
    // Paused and resumed while the file is still being checked: the check continues with the current state.
    else if (!this.#isPreparing) void this.#start();
  }

  async #start(): Promise<void> {
    this.#isPreparing = true;
    try {
      this.#upload = await this.#prepare();
    } finally {
      this.#isPreparing = false;
    }
    if (this.#status.state !== "sending") return;
    if (this.#upload === undefined) this.#setStatus({ state: "failed", problem: dropBoxText.unreadable });
    else this.#upload.start();
  }

  /** @returns undefined for a file that can't be read */
  async #prepare(): Promise<Upload | undefined> {
    if (!(await isReadable(this.file))) return undefined;
    const upload = this.#make();
    // The file was chosen again after the page was closed: only the rest is sent.
    const [previous] = await upload.findPreviousUploads();
    if (previous !== undefined) upload.resumeFromPreviousUpload(previous);
    return upload;
  }

  /** Pauses. The server stores the uploaded part until it expires. */
  async pause(): Promise<void> {
    if (this.#status.state === "done") return;
    this.#setStatus({ state: "paused", problem: undefined });
    await this.#upload?.abort();
  }

  /** Adds it to the queue again. */
  queue(): void {
    this.#setStatus({ state: "waiting", problem: undefined, isLocked: false });
  }

  /** Rejects it before anything is sent. */
  reject(problem: string): void {
    this.#setStatus({ state: "failed", problem });
  }

  /** Cancels, and deletes what was uploaded. If that fails, the server deletes it when it expires. */
  async cancel(): Promise<void> {
    this.#status = { ...this.#status, state: "paused" };
    await this.#upload?.abort(true).catch(() => undefined);
  }

  #make(): Upload {
    const { file, path } = this;
    const { url, grant, sender } = this.#destination;
    const name = sender().trim();
    return new Upload(file, {
      endpoint: url,
      metadata: {
        filename: file.name,
        filetype: file.type || "application/octet-stream",
        lastModified: String(file.lastModified),
        ...(path !== file.name && { relativePath: path }),
        ...(name !== "" && { sender: name }),
      },
      fingerprint: () => Promise.resolve(["larder", url, path, file.size, file.lastModified].join(" ")),
      urlStorage: remembered,
      removeFingerprintOnSuccess: true,
      httpStack,
      uploadDataDuringCreation: file.size <= ONE_REQUEST_BYTES_MAX,
      retryDelays: RETRY_DELAYS_MS,
      onBeforeRequest: (request) => {
        const given = grant();
        if (given !== undefined) request.setHeader("X-Share-Grant", given);
      },
      onAfterResponse: (request, response) => {
        if (request.getMethod() === "GET" && isUrlStillValid(response.getStatus())) throw new RejectedError(response);
        this.#storedBytes = Number(response.getHeader("Upload-Offset") ?? this.#storedBytes);
      },
      onShouldRetry: (error) => {
        const status = statusOf(error);
        const passes = isPassing(status);
        if (passes) this.#setStatus({ sentBytes: this.#storedBytes, problem: dropBoxText.retrying });
        if (status === undefined || status === 0) void this.#failIfUnreadable();
        return passes;
      },
      onProgress: (sentBytes) => this.#setStatus({ sentBytes, problem: undefined }),
      onSuccess: () => this.#setStatus({ state: "done", sentBytes: file.size, problem: undefined }),
      onError: (error) => {
        const isLocked = statusOf(error) === 401;
        const problem = isLocked ? dropBoxText.locked : describeError(error);
        this.#setStatus({ state: "failed", sentBytes: this.#storedBytes, problem, isLocked });
      },
    });
  }

  /** A file that was changed or removed looks like a lost connection: the browser only aborts the request. */
  async #failIfUnreadable(): Promise<void> {
    if (await isReadable(this.file, this.#storedBytes)) return;
    if (this.#status.state !== "sending") return;
    void this.#upload?.abort();
    this.#setStatus({ state: "failed", problem: dropBoxText.unreadable });
  }

  #setStatus(change: Partial<UploadStatus>): void {
    this.#status = { ...this.#status, ...change };
    this.#onChange(this);
  }
}

/**
 * A rejected offset request. Thrown at the library, which would otherwise forget the upload and send everything again.
 */
class RejectedError extends Error {
  readonly response: HttpResponse;

  constructor(response: HttpResponse) {
    super(`The upload can't be resumed now: status ${response.getStatus()}.`);
    this.response = response;
  }
}

/** Whether the upload may still exist after this response to the offset request. */
function isUrlStillValid(status: number): boolean {
  return (status < 200 || status >= 300) && !EXPIRED_STATUSES.has(status);
}

/** Whether a failure is temporary: no connection, a server that restarts, too many requests. A full disk is not. */
function isPassing(status: number | undefined): boolean {
  if (status === undefined || status === 0) return true;
  // 408: the connection was too slow, or interrupted.
  return status === 408 || status === 409 || status === 423 || status === 429 || (status >= 500 && status !== 507);
}

function responseTo(error: Error | DetailedError): HttpResponse | undefined {
  if (!(error instanceof DetailedError)) return undefined;
  return error.causingError instanceof RejectedError
    ? error.causingError.response
    : (error.originalResponse ?? undefined);
}

function statusOf(error: Error | DetailedError): number | undefined {
  return responseTo(error)?.getStatus();
}

function describeError(error: Error | DetailedError): string {
  const status = statusOf(error);
  if (status === undefined) return text.offline;
  const message = messageIn(responseTo(error)?.getBody() ?? "");
  return message ?? dropBoxText.failedWithStatus({ status: String(status) });
}
