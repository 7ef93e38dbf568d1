import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { DerivedStore } from "../../../blobs/derived.ts";
import type { Digest } from "../../../blobs/digest.ts";
import type { Log } from "../../../lib/log.ts";

/** Failures of blobs that no thumbnail can be made of, stored in the database. */
export interface FailureStore {
  /** The last failure of this blob; `program` is the version in which it failed. */
  find(digest: Digest): { readonly reason: string; readonly program: string } | undefined;
  /** Stores the failure, replacing an earlier one. */
  record(digest: Digest, reason: string, program: string): void;
}

/** Limits and paths. */
export interface ThumbnailConfig {
  /** How many pictures are decoded concurrently: 1 or 2. */
  readonly concurrency: number;
  /** A rendering that takes longer is ended with its process. */
  readonly timeoutMs: number;
  /** A process that holds more resident memory is ended. */
  readonly memoryLimitBytes: number;
  /**
   * Folder for the native libraries of the executable: `LARDER_NATIVE_DIR` or `<data>/native`. If absent, they are
   * loaded from memory.
   */
  readonly nativeDir?: string;
  /** `LARDER_LIBVIPS`: a libvips-cpp that replaces the embedded one. */
  readonly libvips?: string;
  /** How long a scheduled job waits while {@link ThumbnailServiceOptions.isBusy}; default 1 s. */
  readonly patienceMs?: number;
  /** How long an idle process stays; default 60 s. */
  readonly idleMs?: number;
}

/** Dependencies of {@link ThumbnailService}. */
export interface ThumbnailServiceOptions {
  readonly blobs: Pick<BlobStore, "pathOf" | "fetchLocal">;
  readonly derived: DerivedStore;
  readonly failures: FailureStore;
  readonly log: Log;
  readonly config: ThumbnailConfig;
  /** Executable and arguments that run `runThumbnailChild()`. */
  readonly childCommand: readonly string[];
  /** The environment of the server. The child gets only the variables that a program needs, and no secrets. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Whether uploads are in progress: scheduled work then waits up to `patienceMs`. */
  readonly isBusy?: () => boolean;
}

/** Result of {@link ThumbnailService.get}. */
export type ThumbnailResult =
  | { readonly state: "ready"; readonly path: string; readonly sizeBytes: number }
  | { readonly state: "pending" }
  | { readonly state: "none"; readonly reason: string };
