import { DerivedStore } from "../../../blobs/derived.ts";
import { ContentFault } from "../processes/content-fault.ts";
import { preloadReplacedLibvips, setNativeOptions } from "./native.ts";
import type { ConfigureMessage, FromChild, RenderRequest, ToChild } from "./protocol.ts";
import { PictureRenderer } from "./render.ts";
import { denyNetwork } from "../processes/sandbox.ts";
import { describe, requireParent, yieldToOthers } from "../processes/serve-requests.ts";

/**
 * The child process that makes thumbnails: `larder thumbnail-worker`, started only by the server. It receives messages
 * over IPC (protocol.ts), writes thumbnails into the derived store, and ends with its parent.
 *
 * Returns at once; the process lives until the channel closes. Without a channel it ends with code 2.
 */
export function runThumbnailChild(): void {
  requireParent("thumbnail-worker");
  // Before anything is decoded. ffmpeg, which it may start, has no network either.
  const unconfined = denyNetwork({ mayStartPrograms: true });
  const worker = new ThumbnailChild((message) => process.send?.(message), unconfined);
  process.on("message", (message: ToChild) => worker.receive(message));
  process.send?.({ type: "hello" } satisfies FromChild);
}

class ThumbnailChild {
  readonly #send: (message: FromChild) => void;
  readonly #unconfined: string | undefined;
  #derived: DerivedStore | undefined;
  #renderer: PictureRenderer | undefined;

  /** @param unconfined why the network could not be denied, or undefined */
  constructor(send: (message: FromChild) => void, unconfined: string | undefined) {
    this.#send = send;
    this.#unconfined = unconfined;
  }

  receive(message: ToChild): void {
    // A rejected promise here is a bug. It ends the process, and the server counts it as a crash.
    if (message.type === "configure") void this.#configure(message);
    else void this.#render(message);
  }

  async #configure(message: ConfigureMessage): Promise<void> {
    yieldToOthers();
    this.#derived = new DerivedStore(message.thumbsDir);
    const { sharpRejection, ffmpeg, timeoutMs, memoryLimitBytes } = message;
    const rejection = sharpRejection ?? setUpLibraries(message);
    this.#renderer = await PictureRenderer.load({ sharpRejection: rejection, ffmpeg, timeoutMs, memoryLimitBytes });
    yieldToOthers();
    const unconfined = this.#unconfined;
    this.#send({
      type: "ready",
      status: { ...this.#renderer.status, ...(unconfined !== undefined && { unconfined }) },
    });
  }

  async #render(request: RenderRequest): Promise<void> {
    try {
      if (this.#renderer === undefined || this.#derived === undefined)
        throw new Error("asked before it was configured");
      const derived = this.#derived;
      const rendered = await this.#renderer.render(request);
      await Promise.all(rendered.map(({ variant, bytes }) => derived.put(request.digest, variant, bytes)));
      this.#send({ type: "rendered", id: request.id });
    } catch (error) {
      const isContentFault = error instanceof ContentFault;
      this.#send({ type: "failed", id: request.id, reason: describe(error), isContentFault });
    }
  }
}

/** Sets where sharp's libraries are stored and loaded from. @returns why sharp can't be used, or undefined */
function setUpLibraries(message: ConfigureMessage): string | undefined {
  try {
    setNativeOptions({ directory: message.nativeDir, libvips: message.libvips });
    if (!Bun.isStandaloneExecutable) preloadReplacedLibvips();
    return undefined;
  } catch (error) {
    return describe(error);
  }
}
