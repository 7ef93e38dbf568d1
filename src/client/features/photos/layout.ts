/** Groups days into chunks that are loaded together. Pure. */

/** A day with its number of photos. */
export interface DayCount {
  readonly date: string;
  readonly count: number;
}

/** Whole days that are loaded together. */
export interface Chunk {
  /** The newest and the oldest of its days. */
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

/** Photos per chunk of records, and of shapes. */
export const CHUNK_PHOTOS = 300;
export const CHUNK_SHAPES = 2_000;

/** Groups days into chunks of about so many photos. */
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

/** The chunk with the next newer or the next older day. */
export function adjacentChunk(chunks: readonly Chunk[], date: string, isNewer: boolean): Chunk | undefined {
  return isNewer ? chunks.findLast(({ from }) => from > date) : chunks.find(({ to }) => to < date);
}
