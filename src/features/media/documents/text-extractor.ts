import type { Digest } from "../../../blobs/digest.ts";
import { KeyedMutex } from "../../../lib/keyed-mutex.ts";
import type { Log } from "../../../lib/log.ts";
import type { RequestProcess, RequestResult } from "../processes/request-process.ts";
import { type DocumentReply, type DocumentRequest, documentFormat, type ExtractedText } from "./types.ts";

/** The process that reads documents. */
export type DocumentProcess = RequestProcess<DocumentRequest, DocumentReply>;

/** Dependencies of {@link TextExtractor}. */
export interface TextExtractorOptions {
  readonly process: Pick<DocumentProcess, "request" | "close">;
  /** The path of a blob on this disk; undefined if it is not available now. */
  readonly findPath: (digest: Digest) => Promise<string | undefined>;
  /** Whether uploads are in progress: the next file then waits a while. */
  readonly isBusy: () => boolean;
  readonly log: Log;
}

/** How long a file waits for uploads to end. With endless uploads the work is late, but not starved. */
const PATIENCE_MS = 3_000;
const BUSY_REST_MS = 50;
/** A process that crashes can be the fault of the machine. The second crash in a row is the fault of the file. */
const ATTEMPTS_MAX = 2;

/** Reads the text of files: one at a time, in a process of its own, at the lowest priority. */
export class TextExtractor {
  readonly #options: TextExtractorOptions;
  readonly #turns = new KeyedMutex<"one">();
  readonly #closing = new AbortController();

  constructor(options: TextExtractorOptions) {
    this.#options = options;
  }

  /** Whether files of this media type can have text. Reads no file and starts nothing. */
  canExtract(mediaType: string): boolean {
    return documentFormat(mediaType) !== undefined;
  }

  /**
   * Reads the text of a blob. `none` is final: store it with EXTRACTOR_VERSION, and do not ask again before that changes.
   * @param isUrgent whether a person waits for it: it then doesn't wait for uploads to end
   * @throws the reason of `signal`, or an error if the blob cannot be read now; ask again later
   */
  async extract(digest: Digest, mediaType: string, signal: AbortSignal, isUrgent = false): Promise<ExtractedText> {
    if (!this.canExtract(mediaType)) return { kind: "none", reason: `no text is read from ${mediaType}` };
    const either = AbortSignal.any([signal, this.#closing.signal]);
    return this.#turns.run("one", async () => {
      if (!isUrgent) await this.#waitForUploads(either);
      either.throwIfAborted();
      const sinceMs = performance.now();
      const path = await this.#options.findPath(digest);
      if (path === undefined) throw new Error("The blob is not available now.");
      const text = await this.#read({ path, mediaType }, digest, either);
      return text.kind === "none" ? text : { ...text, readMs: Math.ceil(performance.now() - sinceMs) };
    });
  }

  /** Ends the process, and every call. */
  close(): void {
    this.#closing.abort(new Error("The server is stopping."));
    this.#options.process.close();
  }

  async #waitForUploads(signal: AbortSignal): Promise<void> {
    const sinceMs = performance.now();
    while (this.#options.isBusy() && performance.now() - sinceMs < PATIENCE_MS && !signal.aborted) {
      await Bun.sleep(BUSY_REST_MS);
    }
  }

  async #read(request: DocumentRequest, digest: Digest, signal: AbortSignal): Promise<TextOrNone> {
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      const result = await this.#options.process.request(request, signal);
      signal.throwIfAborted();
      const text = this.#toText(result, attempt);
      if (text === undefined) continue;
      if (text.kind === "none") this.#options.log.debug("No text can be read.", { digest, reason: text.reason });
      return text;
    }
  }

  /** The text; undefined if the file is to be read once more. @throws Error if the machine is at fault */
  #toText(result: RequestResult<DocumentReply>, attempt: number): TextOrNone | undefined {
    if ("reply" in result) {
      const { reply, parts } = result;
      return reply.kind === "none" ? reply : { ...reply, text: iterate(parts) };
    }
    if (result.loss === "limit") return { kind: "none", reason: result.reason };
    if (result.loss !== "crash") throw new Error(result.reason);
    return attempt < ATTEMPTS_MAX ? undefined : { kind: "none", reason: result.reason };
  }
}

type TextOrNone =
  | Exclude<ExtractedText, { readonly kind: "text" }>
  | Omit<Extract<ExtractedText, { readonly kind: "text" }>, "readMs">;

async function* iterate(parts: readonly string[]): AsyncGenerator<string> {
  yield* parts;
}
