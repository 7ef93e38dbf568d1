import type { Digest } from "../../../blobs/digest.ts";
import type { ThumbnailVariant } from "./sizes.ts";

/** The decoder of a child: sharp; Bun's own if sharp can't be loaded; or none. */
export type Renderer = "sharp" | "bun" | "none";

/** Which thumbnails this machine can make; `reason` is why not all of them. */
export interface ThumbnailStatus {
  readonly renderer: Renderer;
  readonly reason?: string;
  /** Version of the libvips in use. */
  readonly libvips?: string;
  /** Why the processes that read files could not be denied the network, if so. */
  readonly unconfined?: string;
  readonly heic: boolean;
  readonly ffmpeg: boolean;
}

/**
 * First message of the child: it is ready to receive. Earlier messages to it may be lost, because Bun does not buffer
 * them.
 */
export interface HelloMessage {
  readonly type: "hello";
}

/** First message of the server, after the child's hello. The child reads neither environment nor configuration. */
export interface ConfigureMessage {
  readonly type: "configure";
  /** The directory of the derived store. */
  readonly thumbsDir: string;
  /** Where the executable may put its native libraries; absent when the program runs from source. */
  readonly nativeDir: string | undefined;
  /** A libvips that replaces the embedded one (`LARDER_LIBVIPS`). */
  readonly libvips: string | undefined;
  /** Why sharp must not be loaded (a child crashed while loading it), or undefined. */
  readonly sharpRejection: string | undefined;
  readonly ffmpeg: string | undefined;
  readonly memoryLimitBytes: number;
  readonly timeoutMs: number;
}

/** Render these variants of a blob. */
export interface RenderRequest {
  readonly type: "render";
  readonly id: number;
  readonly digest: Digest;
  /** The blob or, if `isDerived`, an existing larger variant of it. */
  readonly sourcePath: string;
  readonly isDerived: boolean;
  /** The largest first. */
  readonly variants: readonly ThumbnailVariant[];
}

export type ToChild = ConfigureMessage | RenderRequest;

/** The child has loaded its libraries and takes requests from now on. */
export interface ReadyMessage {
  readonly type: "ready";
  readonly status: ThumbnailStatus;
}

/** All requested variants are in the derived store. */
export interface RenderedMessage {
  readonly type: "rendered";
  readonly id: number;
}

/** No variant could be made. `isContentFault` distinguishes a permanent fault of the file from one of the machine. */
export interface RenderFailedMessage {
  readonly type: "failed";
  readonly id: number;
  readonly reason: string;
  readonly isContentFault: boolean;
}

export type FromChild = HelloMessage | ReadyMessage | RenderedMessage | RenderFailedMessage;
