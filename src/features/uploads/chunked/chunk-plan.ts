/** Divides files into chunks, and tracks which of them are stored. */
import { AppError } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** The size if the client names none. */
export const CHUNK_BYTES_DEFAULT = 8 * MIB;
/** The limits of a chunk's size. */
export const CHUNK_BYTES_MIN = KIB;
export const CHUNK_BYTES_MAX = 64 * MIB;
/** The maximum number of chunks of a file. */
export const CHUNKS_MAX = 10_000;

/** A file in chunks, all of the same size except the last. An empty file has none. */
export interface ChunkPlan {
  readonly sizeBytes: number;
  readonly chunkSizeBytes: number;
  readonly totalChunks: number;
}

/** The bytes of one chunk within its file. */
export interface ChunkSpan {
  readonly index: number;
  readonly offset: number;
  readonly lengthBytes: number;
}

/** The chunk size that a client requests. @throws AppError chunk_size */
export function checkChunkSize(sizeBytes: number | undefined): number {
  if (sizeBytes === undefined) return CHUNK_BYTES_DEFAULT;
  if (Number.isInteger(sizeBytes) && sizeBytes >= CHUNK_BYTES_MIN && sizeBytes <= CHUNK_BYTES_MAX) return sizeBytes;
  throw new AppError(
    "chunk_size",
    say`A chunk must have ${CHUNK_BYTES_MIN} to ${CHUNK_BYTES_MAX} bytes. Choose another size, or leave it out.`,
    { field: "uploadOptions.chunkSize", min: CHUNK_BYTES_MIN, max: CHUNK_BYTES_MAX },
  );
}

/** @throws AppError chunk_size if there would be too many chunks; names the smallest possible size */
export function planChunks(sizeBytes: number, chunkSizeBytes: number): ChunkPlan {
  const totalChunks = Math.ceil(sizeBytes / chunkSizeBytes);
  if (totalChunks <= CHUNKS_MAX) return { sizeBytes, chunkSizeBytes, totalChunks };
  const smallest = Math.ceil(sizeBytes / CHUNKS_MAX);
  const advice =
    smallest <= CHUNK_BYTES_MAX
      ? say`Choose chunks of at least ${smallest} bytes.`
      : say`A chunked upload can have at most ${CHUNKS_MAX * CHUNK_BYTES_MAX} bytes.`;
  throw new AppError(
    "chunk_size",
    say`The file would have ${totalChunks} chunks, but at most ${CHUNKS_MAX} are allowed. ${advice}`,
    {
      field: "uploadOptions.chunkSize",
      min: smallest,
      limit: CHUNKS_MAX,
    },
  );
}

/** The position of a chunk; undefined for an index that the file does not have. */
export function spanOf(plan: ChunkPlan, index: number): ChunkSpan | undefined {
  if (!Number.isInteger(index) || index < 0 || index >= plan.totalChunks) return undefined;
  const offset = index * plan.chunkSizeBytes;
  return { index, offset, lengthBytes: Math.min(plan.chunkSizeBytes, plan.sizeBytes - offset) };
}

/** The stored chunks of a file. */
export class ChunkSet {
  readonly #plan: ChunkPlan;
  readonly #fileExists: Uint8Array;
  #first = 0;
  /** Number of stored chunks, and their bytes. */
  count = 0;
  bytes = 0;

  constructor(plan: ChunkPlan, stored: Iterable<number> = []) {
    this.#plan = plan;
    this.#fileExists = new Uint8Array(plan.totalChunks);
    for (const index of stored) this.add(index);
  }

  has(index: number): boolean {
    return this.#fileExists[index] === 1;
  }

  /** Adds a stored chunk; adding it again changes nothing. */
  add(index: number): void {
    const span = spanOf(this.#plan, index);
    if (span === undefined || this.has(index)) return;
    this.#fileExists[index] = 1;
    this.count++;
    this.bytes += span.lengthBytes;
    while (this.has(this.#first)) this.#first++;
  }

  /** Removes a chunk. */
  remove(index: number): void {
    const span = spanOf(this.#plan, index);
    if (span === undefined || !this.has(index)) return;
    this.#fileExists[index] = 0;
    this.count--;
    this.bytes -= span.lengthBytes;
    this.#first = Math.min(this.#first, index);
  }

  /** Whether all chunks are stored. */
  get isWhole(): boolean {
    return this.count === this.#plan.totalChunks;
  }

  /** Number of stored bytes from the start of the file without a gap. */
  get prefixBytes(): number {
    return Math.min(this.#first * this.#plan.chunkSizeBytes, this.#plan.sizeBytes);
  }

  /** The indexes of the stored chunks (true) or of the missing ones (false), ascending. */
  list(fileExists: boolean): number[] {
    const expected = fileExists ? 1 : 0;
    const found: number[] = [];
    for (let index = 0; index < this.#fileExists.length; index++)
      if (this.#fileExists[index] === expected) found.push(index);
    return found;
  }
}
