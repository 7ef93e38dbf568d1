/** Groups days into chunks that are loaded together. Pure. */

/** A day with its number of photos. */
export interface DayCount {
  readonly date: string;
  readonly count: number;
}

/** Days that are loaded together. A day is never split. */
export interface Chunk {
  /** The newest and the oldest of its days. */
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

/** About how many photos a chunk has, for records and for shapes. */
export const CHUNK_PHOTOS = 300;
export const CHUNK_SHAPES = 2_000;

/** Groups days into chunks. @param photos the number of photos at which a chunk ends */
export function chunksOf(days: readonly DayCount[], photos = CHUNK_PHOTOS): Chunk[] {
  const chunks: Chunk[] = [];
  let open: Chunk | undefined;
  for (const { date, count } of days) {
    open = open === undefined ? { from: date, to: date, count } : { ...open, to: date, count: open.count + count };
    if (open.count < photos) continue;
    chunks.push(open);
    open = undefined;
  }
  return open === undefined ? chunks : [...chunks, open];
}

/** The indexes of the chunks that contain a day from `newest` to `oldest`. */
export function chunksBetween(chunks: readonly Chunk[], newest: string, oldest: string): number[] {
  return chunks.flatMap((chunk, index) => (chunk.to <= newest && chunk.from >= oldest ? [index] : []));
}

/** The chunk that contains the newest day before another day. */
export function olderChunk(chunks: readonly Chunk[], date: string): Chunk | undefined {
  return chunks.find(({ to }) => to < date);
}
