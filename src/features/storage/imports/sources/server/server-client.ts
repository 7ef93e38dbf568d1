import { setTimeout as delay } from "node:timers/promises";
import { type Backoff, backoffMs } from "../../../../../lib/backoff.ts";
import { parseBoundedJson } from "../../../../../lib/bounded-json.ts";
import { type Clock, systemClock } from "../../../../../lib/clock.ts";
import { OutboundError } from "../../../../../net/outbound-error.ts";
import { OutboundConnections } from "../../../../../net/outbound-connection.ts";
import type { OutboundStreamRequest, OutboundStreamResponse } from "../../../../../net/outbound.ts";
import { SourceError } from "../../source.ts";
import { describeFailure, type FailedAttempt, StatusError, temporaryFailure } from "./failures.ts";
import type { SourceNetwork } from "./network.ts";
import { type Message, say } from "../../../../../translations/say.ts";

/** Options of {@link ServerClient}. */
export interface ServerClientOptions {
  readonly network: SourceNetwork;
  /** Headers that contain the credentials. */
  readonly credentials: Readonly<Record<string, string>>;
  /** The message if the server rejects them. */
  readonly rejection: Message;
  readonly clock?: Clock | undefined;
  /** The delays between attempts. */
  readonly backoff?: Backoff | undefined;
}

/** A request to the server. */
export interface ServerRequest {
  /** GET by default. */
  readonly method?: OutboundStreamRequest["method"];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** How often it is sent if the failures are temporary. */
  readonly attempts?: number;
}

/** A response, and the address that it came from after redirects. */
export interface ServerResponse extends OutboundStreamResponse {
  readonly url: URL;
}

const ATTEMPTS_MAX = 5;
const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 30_000 };
/** A server that asks for a longer wait counts as not available. */
const WAIT_MS_MAX = 5 * 60_000;
const REDIRECTS_MAX = 5;
/** So many failures one after the other are not of single files, but of the server. */
const FAILURES_IN_ROW_MAX = 5;
/** An album of 7,000 photos, as old versions of Immich send it. */
const JSON_BYTES_MAX = 16 * 1024 * 1024;
const JSON_VALUES_MAX = 500_000;

/**
 * Sends requests to one server. The credentials are sent only to the origin of the address that the person entered.
 * Temporary failures are repeated.
 */
export class ServerClient {
  /** The address that the person entered, without search and fragment. Its path ends with a slash. */
  readonly address: URL;
  readonly #options: ServerClientOptions;
  readonly #connections = new OutboundConnections();
  #rejected: SourceError | undefined;
  /** Files and folders in a row that the server failed to deliver. */
  #failuresInRow = 0;

  /** @throws SourceError if the address or the credentials are invalid */
  constructor(address: string, options: ServerClientOptions) {
    this.address = parseAddress(address);
    this.#options = options;
    if (Object.values(options.credentials).every((value) => /^[\x20-\x7e]*$/.test(value))) return;
    throw new SourceError(say`The password or the key has characters that none can have. Copy it again.`, false);
  }

  /** Continues only if the server has not rejected the credentials. @throws SourceError */
  checkAccess(): void {
    if (this.#rejected !== undefined) throw this.#rejected;
  }

  /** Closes all connections. */
  close(): void {
    this.#connections.close();
  }

  /** Call this when the server delivered a file or the list of a folder. */
  noteDelivery(): void {
    this.#failuresInRow = 0;
  }

  /**
   * The failure of a single file or folder. Some always fail: those on a disk that the server has lost, for example.
   * @throws the given error if it is not about a single one, or if too many fail
   */
  singleFailure(error: unknown): SourceError {
    if (!(error instanceof StatusError)) throw error;
    if (!error.isTemporary) return error;
    if (++this.#failuresInRow >= FAILURES_IN_ROW_MAX) throw error;
    return new SourceError(say`The server can't deliver it (status ${error.status}). Import again later.`, false);
  }

  /**
   * Sends a request, and follows redirects to the same origin. The caller must read or cancel the body.
   * @returns a response with any status that is not temporary
   * @throws SourceError if there is none, or if the server rejects the credentials
   */
  async send(url: URL, request: ServerRequest): Promise<ServerResponse> {
    for (let failures = 1; ; failures++) {
      request.signal.throwIfAborted();
      // Sequentially: each attempt follows the failure of the previous one.
      const result = await this.#attempt(url, request);
      if ("status" in result) return result;
      if (failures >= (request.attempts ?? ATTEMPTS_MAX)) throw result.error;
      await this.wait(failures, result, request.signal);
    }
  }

  /** Waits before the next attempt. @throws SourceError if the server asks to wait too long */
  async wait(failures: number, { error, afterMs }: FailedAttempt, signal: AbortSignal): Promise<void> {
    const waitMs = afterMs ?? backoffMs(failures, this.#options.backoff ?? BACKOFF);
    if (waitMs > WAIT_MS_MAX) throw error;
    await delay(waitMs, undefined, { signal });
  }

  /** Does something with a response, again if the response breaks off in the middle. @throws SourceError */
  async complete<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    for (let failures = 1; ; failures++) {
      try {
        // Sequentially: each attempt follows the failure of the previous one.
        return await work();
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error;
        signal.throwIfAborted();
        const failure = describeFailure(error);
        if (!failure.isTemporary || failures >= ATTEMPTS_MAX) throw failure;
        await this.wait(failures, { error: failure }, signal);
      }
    }
  }

  /**
   * Sends a request, and reads the JSON of its response.
   * @param endpoint as it is named in messages
   * @throws StatusError for other statuses than 200 and 201
   * @throws SourceError for what is no JSON, and if there is no response
   */
  readJson(url: URL, endpoint: string, request: ServerRequest): Promise<unknown> {
    return this.complete(request.signal, async () => {
      const { status, body } = await this.send(url, request);
      if (status === 200 || status === 201) return parseJson(await readText(body, endpoint), endpoint);
      await body.cancel();
      throw new StatusError(status, say`The server responded with status ${status} to ${endpoint}.`);
    });
  }

  async #attempt(address: URL, request: ServerRequest): Promise<ServerResponse | FailedAttempt> {
    let url = address;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      const response = await this.#sendOnce(url, request);
      if (!("status" in response)) return response;
      const target = redirectOf(response, url);
      if (target === undefined) return { ...response, url };
      await response.body.cancel();
      if (target.origin !== url.origin) {
        const message = say`The server redirects to ${target.origin}. Enter the address that the browser shows there.`;
        throw new SourceError(message, false);
      }
      url = target;
    }
    throw new SourceError(say`The server redirects too often. Check its address.`, false);
  }

  async #sendOnce(url: URL, request: ServerRequest): Promise<OutboundStreamResponse | FailedAttempt> {
    const { network, credentials, clock = systemClock } = this.#options;
    if (url.origin !== this.address.origin) throw new Error("A request to another origin.");
    try {
      const response = await network.open(url.href, {
        method: request.method ?? "GET",
        headers: { "User-Agent": "Larder", "Accept-Encoding": "identity", ...request.headers, ...credentials },
        ...(request.body !== undefined && { body: Buffer.from(request.body) }),
        signal: request.signal,
        connections: this.#connections,
      });
      const failure = temporaryFailure(response, clock.nowMs());
      if (failure === undefined && response.status !== 401) return response;
      await response.body.cancel();
      if (failure !== undefined) return failure;
      this.#rejected = new SourceError(this.#options.rejection, false);
      throw this.#rejected;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      request.signal.throwIfAborted();
      const failure = describeFailure(error);
      if (!failure.isTemporary) throw failure;
      return { error: failure };
    }
  }
}

/** @throws SourceError if it is no address of a server */
function parseAddress(address: string): URL {
  const url = URL.parse(address.trim());
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new SourceError(say`The address of the server must begin with https://.`, false);
  }
  if (url.username !== "" || url.password !== "") {
    throw new SourceError(say`The address of the server must not contain a user name or a password.`, false);
  }
  url.search = "";
  url.hash = "";
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url;
}

/** Where a response redirects to with the same method. */
function redirectOf(response: OutboundStreamResponse, url: URL): URL | undefined {
  if (![301, 302, 307, 308].includes(response.status)) return undefined;
  return URL.parse(response.header("location") ?? "", url.href) ?? undefined;
}

async function readText(body: ReadableStream<Uint8Array>, endpoint: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const part of body) {
    parts.push(part);
    sizeBytes += part.byteLength;
    if (sizeBytes > JSON_BYTES_MAX) {
      throw notReadable(endpoint);
    }
  }
  return Buffer.concat(parts).toString("utf8");
}

function parseJson(text: string, endpoint: string): unknown {
  try {
    return parseBoundedJson(text, { values: JSON_VALUES_MAX });
  } catch {
    throw notReadable(endpoint);
  }
}

function notReadable(endpoint: string): SourceError {
  return new SourceError(say`The response of the server to ${endpoint} is not valid JSON, or is too long.`, false);
}
