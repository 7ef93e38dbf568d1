import type { ChecksumVerifier } from "../checksums.ts";
import type { ReadBody } from "../../uploads/chunked/receive-chunk.ts";

/** A durable chunk of an upload. */
export interface ClientChunk {
  /** Orders the chunks. */
  readonly number: number;
  /** As the client wrote it. */
  readonly name: string;
  /** {@link MAIN_FILE}, or the end of the name of a file of its own. */
  readonly file: string;
  readonly offsetBytes: number;
  readonly sizeBytes: number;
}

/** The file to which chunks are appended that arrive in order. */
export const MAIN_FILE = "";

/** A request that carries a chunk. */
export interface ClientChunkRequest {
  /** Content-Length, if present. */
  readonly declaredBytes: number | undefined;
  readonly read: ReadBody;
}

/** What a client expects of the complete file. */
export interface ExpectedFile {
  /** OC-Total-Length, if present. */
  readonly totalBytes: number | undefined;
  readonly checksum: ChecksumVerifier | undefined;
}
