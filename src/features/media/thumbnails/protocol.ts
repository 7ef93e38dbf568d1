import type { Digest } from "../../../blobs/digest.ts";
import type { ThumbnailVariant } from "./sizes.ts";

/** Which decoder a child uses: sharp, Bun's own where sharp can't be loaded, or none at all. */
export type Renderer = "sharp" | "bun" | "none";

/** What the thumbnails of this machine can do; `reason` says why it is not more. */
export interface ThumbnailStatus {
  readonly renderer: Renderer;
  readonly reason?: string;
  /** Version of the libvips in use. */
  readonly libvips?: string;
  readonly heic: boolean;
  readonly ffmpeg: boolean;
}

/**
 * First message of the child: it is ready to receive. What is sent before that may be lost, as Bun does not buffer it.
 */
export interface HelloMessage {
  readonly type: "hello";
}

/** First message of the server, after the child's hello: everything a child needs to know. It reads neither environment nor configuration. */
export interface ConfigureMessage {
  readonly type: "configure";
  /** The directory of the derived store. */
  readonly thumbsDir: string;
  /** Where the executable may put its native libraries; absent when the program runs from source. */
  readonly nativeDir: string | undefined;
  /** A libvips that replaces the embedded one (`LARDER_LIBVIPS`). */
  readonly libvips: string | undefined;
  /** Why sharp is not to be loaded (a child died of it), or undefined. */
  readonly sharpRejection: string | undefined;
  readonly ffmpeg: string | undefined;
  readonly memoryLimitBytes: number;
  readonly timeoutMs: number;
}

/** Render these variants of a content. */
export interface RenderRequest {
  readonly type: "render";
  readonly id: number;
  readonly digest: Digest;
  /** The content; or, where `isDerived`, a larger variant of it that was made before. */
  readonly sourcePath: string;
  readonly isDerived: boolean;
  /** The largest first. */
  readonly variants: readonly ThumbnailVariant[];
}

export type ToChild = ConfigureMessage | RenderRequest;

/** The child has loaded what it could and takes requests from now on. */
export interface ReadyMessage {
  readonly type: "ready";
  readonly status: ThumbnailStatus;
}

/** All variants asked for are in the derived store. */
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
