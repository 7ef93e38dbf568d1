/**
 * Small objects that servers coordinate by: each request has one attempt, a short timeout that aborts it, and a result by
 * the service's status. Bun's own client can do none of this: it sends no conditions, retries, and can't be aborted. So
 * the requests are plain ones to URLs that Bun has signed. Such a signature does not cover If-None-Match, and needs not to.
 */
import { S3Error } from "./error.ts";
import { openBunClient, type S3Options } from "./options.ts";

/** How long a signed URL is valid. It includes the difference of the clocks that services accept. */
const URL_SECONDS = 1_800;
const CODE_MAX = 100;

/** What a request sends besides its key. */
interface RequestContent {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface SmallResponse {
  readonly status: number;
  readonly text: string;
  readonly isService: boolean;
}

/** Small objects of one bucket. Every call throws {@link S3Error}. */
export class SmallObjects {
  readonly #options: S3Options;
  readonly #bucket: Bun.S3Client;
  readonly #timeoutMs: number;

  /** @param timeoutMs how long a request may take, with its body */
  constructor(options: S3Options, timeoutMs: number) {
    this.#options = options;
    this.#bucket = openBunClient(options);
    this.#timeoutMs = timeoutMs;
  }

  /** Reads an object; undefined if the service says that the key is missing. Any other 404 is an error. */
  async read(key: string): Promise<string | undefined> {
    const { status, text } = await this.#request("GET", key);
    if (status === 200) return text;
    if (status === 404 && codeOf(text) === "NoSuchKey") return undefined;
    throw this.#failure(status, text);
  }

  /**
   * Whether an object exists. A response to HEAD has no error code, so a missing bucket counts as a missing object. This is
   * much faster than {@link read}: Ceph sends the error code 40 ms after the status.
   */
  async exists(key: string): Promise<boolean> {
    const { status, text, isService } = await this.#request("HEAD", key);
    if (status === 200) return true;
    if (status !== 404) throw this.#failure(status, text);
    return isService ? false : (await this.read(key)) !== undefined;
  }

  /** Writes or replaces an object. After an error it may have been written, or may still be. */
  async write(key: string, body: string): Promise<void> {
    const { status, text } = await this.#request("PUT", key, { body });
    if (!isSuccess(status)) throw this.#failure(status, text);
  }

  /**
   * Writes an object unless the key exists: of several calls at a time, at most one creates it. After an error it may
   * have been created, or may still be. A service that does not know conditions rejects the call or replaces the object.
   */
  async createOnce(key: string, body: string): Promise<"created" | "exists"> {
    const { status, text } = await this.#request("PUT", key, { body, headers: { "if-none-match": "*" } });
    if (isSuccess(status)) return "created";
    if (status === 412) return "exists";
    throw this.#failure(status, text);
  }

  /** Deletes an object. Does nothing if it is missing. */
  remove(key: string): Promise<void> {
    return this.prepareRemoval(key, URL_SECONDS)();
  }

  /**
   * Signs the deletion of an object.
   * @param seconds from now on, after which the service rejects a request that was delayed on its way
   * @returns what sends the request
   */
  prepareRemoval(key: string, seconds: number): () => Promise<void> {
    const url = this.#bucket.presign(key, { method: "DELETE", expiresIn: seconds });
    return async () => {
      const { status, text } = await this.#send(url, "DELETE");
      if (!isSuccess(status) && codeOf(text) !== "NoSuchKey") throw this.#failure(status, text);
    };
  }

  #request(method: "GET" | "HEAD" | "PUT", key: string, content?: RequestContent): Promise<SmallResponse> {
    return this.#send(this.#bucket.presign(key, { method, expiresIn: URL_SECONDS }), method, content);
  }

  async #send(url: string, method: string, { body, headers = {} }: RequestContent = {}): Promise<SmallResponse> {
    try {
      const response = await fetch(url, {
        method,
        headers,
        redirect: "manual",
        signal: AbortSignal.timeout(this.#timeoutMs),
        ...(body !== undefined && { body }),
      });
      // Proxies that can't reach the service do not send its header.
      const isService = response.headers.has("x-amz-request-id");
      return { status: response.status, text: await response.text(), isService };
    } catch (error) {
      const isTimeout = error instanceof Error && error.name === "TimeoutError";
      const what = isTimeout ? "did not answer in time" : `can't be reached: ${codeFrom(error)}`;
      throw new S3Error("unreachable", `The service at ${this.#options.endpoint} ${what}.`, { cause: error });
    }
  }

  #failure(status: number, text: string): S3Error {
    const { endpoint, bucket } = this.#options;
    const code = codeOf(text);
    const what = code === undefined ? `status ${status}` : `${code} (status ${status})`;
    if (code === "NoSuchBucket") {
      return new S3Error("refused", `There is no bucket "${bucket}" at ${endpoint}.`, { code });
    }
    // 409: another conditional request for the key is in progress. 501: the service does not know the request.
    const isRejected = status === 501 || (code !== undefined && status < 500 && status !== 409 && status !== 429);
    const message = `The service at ${endpoint} ${isRejected ? "refuses" : "can't serve now"}: ${what}.`;
    return new S3Error(isRejected ? "refused" : "unreachable", message, { code: code ?? String(status) });
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The service's error code in an error response. */
function codeOf(text: string): string | undefined {
  return new RegExp(`<Code>([^<]{1,${CODE_MAX}})</Code>`).exec(text)?.[1];
}

function codeFrom(error: unknown): string {
  if (error instanceof Error && "code" in error) return String(error.code);
  return error instanceof Error ? error.name : String(error);
}
