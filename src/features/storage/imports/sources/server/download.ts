import { OutboundError } from "../../../../../net/outbound-error.ts";
import { SourceError } from "../../source.ts";
import { describeFailure, StatusError } from "./failures.ts";
import type { ServerClient, ServerResponse } from "./server-client.ts";
import { type Message, say } from "../../../../../translations/say.ts";

/** What is known of a file before its download. */
export interface ExpectedContent {
  /** Undefined if unknown, or not reliable. */
  readonly sizeBytes?: number | undefined;
  readonly checksum?: Checksum | undefined;
}

/** A checksum of a file's content. */
export interface Checksum {
  readonly algorithm: "sha1" | "sha256" | "md5";
  /** In lower case. */
  readonly hex: string;
}

/** Reads a body. */
interface BodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** How often a download is continued without receiving anything in between. */
const RESUMES_MAX = 5;

/**
 * Downloads a file. A lost connection is continued where it broke, if it is certain that the content is still the same.
 * The stream errors at its end if the content is incomplete or differs from what is expected.
 * @throws SourceError if the server doesn't send the file
 */
export async function download(
  client: ServerClient,
  url: URL,
  expected: ExpectedContent,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const response = await begin(client, url, signal);
  const running = new Download(client, response, expected, signal);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const part = await running.next();
          if (part === undefined) controller.close();
          else controller.enqueue(part);
        } catch (error) {
          controller.error(error);
        }
      },
      cancel: () => running.cancel(),
    },
    { highWaterMark: 0 },
  );
}

async function begin(client: ServerClient, url: URL, signal: AbortSignal): Promise<ServerResponse> {
  try {
    const response = await client.send(url, { signal });
    if (response.status === 200) {
      client.noteDelivery();
      return response;
    }
    await response.body.cancel();
    throw describeStatus(response.status);
  } catch (error) {
    throw client.singleFailure(error);
  }
}

/** A download in progress. */
class Download {
  readonly #client: ServerClient;
  readonly #url: URL;
  readonly #expected: ExpectedContent;
  readonly #signal: AbortSignal;
  readonly #hasher: Bun.CryptoHasher | undefined;
  /** A strong validator of the content. */
  readonly #etag: string | undefined;
  readonly #sizeBytes: number | undefined;
  #reader: BodyReader;
  #receivedBytes = 0;
  #failures = 0;

  constructor(client: ServerClient, response: ServerResponse, expected: ExpectedContent, signal: AbortSignal) {
    this.#client = client;
    this.#url = response.url;
    this.#expected = expected;
    this.#signal = signal;
    this.#hasher = expected.checksum && new Bun.CryptoHasher(expected.checksum.algorithm);
    const etag = response.header("etag");
    this.#etag = etag?.startsWith('"') === true ? etag : undefined;
    const length = response.header("content-length");
    this.#sizeBytes = length === undefined ? undefined : Number(length);
    this.#reader = response.body.getReader();
  }

  /** The next part; undefined at the end. @throws SourceError */
  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      try {
        const { value } = await this.#reader.read();
        if (value === undefined) return this.#finish();
        this.#failures = 0;
        this.#receivedBytes += value.byteLength;
        this.#hasher?.update(value);
        return value;
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error;
        await this.#resume(error);
      }
    }
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }

  /** Requests the rest after a lost connection. */
  async #resume(cause: OutboundError): Promise<void> {
    this.#signal.throwIfAborted();
    const error = new SourceError(say`The connection was lost during a download. Try again later.`, true, { cause });
    // Without one of both, the rest could be that of another content.
    const isCertain = this.#etag !== undefined || this.#expected.checksum !== undefined;
    this.#failures++;
    if (!isCertain || this.#failures > RESUMES_MAX) throw error;
    if (!describeFailure(cause).isTemporary) throw describeFailure(cause);
    await this.#client.wait(this.#failures, { error }, this.#signal);
    const headers = {
      Range: `bytes=${this.#receivedBytes}-`,
      ...(this.#etag !== undefined && { "If-Range": this.#etag }),
    };
    const response = await this.#client.send(this.#url, { headers, signal: this.#signal });
    const isRest = response.header("content-range")?.startsWith(`bytes ${this.#receivedBytes}-`) === true;
    if (response.status !== 206 || !isRest) {
      await response.body.cancel();
      throw error;
    }
    this.#reader = response.body.getReader();
  }

  /** Checks the whole content. @throws SourceError if it is not the expected one */
  #finish(): undefined {
    const { sizeBytes = this.#sizeBytes, checksum } = this.#expected;
    if (this.#sizeBytes !== undefined && this.#receivedBytes !== this.#sizeBytes) {
      throw new SourceError(say`The server sent less than the whole file. Import it again later.`, false);
    }
    if (sizeBytes !== undefined && this.#receivedBytes !== sizeBytes) {
      throw new SourceError(say`The file has another size than in the list: it changed. Import it again later.`, false);
    }
    if (checksum !== undefined && this.#hasher?.digest("hex") !== checksum.hex) {
      const message = say`The content differs from the ${checksum.algorithm.toUpperCase()} checksum of the server: the file is damaged there.`;
      throw new SourceError(message, false);
    }
    return undefined;
  }
}

function describeStatus(status: number): StatusError {
  const message = REASONS[status] ?? say`The server responded with status ${status} to the download. Try again later.`;
  return new StatusError(status, message);
}

const REASONS: Readonly<Record<number, Message>> = {
  403: say`The server does not allow the download of this file.`,
  404: say`The server does not have the file any more.`,
  423: say`The file is locked on the server. Import it again later.`,
};
