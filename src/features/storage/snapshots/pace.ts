/**
 * How often the database is copied while it keeps changing. A small one is copied often, because a copy of the data
 * directory is no newer than its last snapshot; a large one seldom, because each copy writes all of it. Pure.
 */

const SMALL_BYTES = 1024 * 1024;
const LARGE_BYTES = 64 * SMALL_BYTES;
/** With a check each second and the time of copying, a snapshot exists within 20 s of a change. */
const SMALL_REST_MS = 15_000;
/** A snapshot of a large database exists within a minute. */
const LARGE_REST_MS = 45_000;
const URGENT_REST_MS = 2_000;
const URGENT_REST_MS_MAX = 60_000;
const URGENT_BYTES_PER_MS = 5_000;

/**
 * Milliseconds between the beginnings of two snapshots: 15 s up to 1 MiB, 45 s at 64 MiB, then with the square of the
 * size. At most some 130 GB a day are written, by a database of just 64 MiB that changes all day; by one of 1 GiB, 150
 * GB.
 */
export function restMs(sizeBytes: number, everyMs: number): number {
  if (sizeBytes <= SMALL_BYTES) return Math.min(everyMs, SMALL_REST_MS);
  if (sizeBytes <= LARGE_BYTES) {
    const share = (sizeBytes - SMALL_BYTES) / (LARGE_BYTES - SMALL_BYTES);
    return Math.min(everyMs, SMALL_REST_MS + share * (LARGE_REST_MS - SMALL_REST_MS));
  }
  return Math.min(everyMs, LARGE_REST_MS * (sizeBytes / LARGE_BYTES) ** 2);
}

/** The interval for changes that a copy must have soon. Users can cause such changes, so this is bounded as well. */
export function urgentRestMs(sizeBytes: number, everyMs: number): number {
  const rest = Math.min(URGENT_REST_MS_MAX, Math.max(URGENT_REST_MS, sizeBytes / URGENT_BYTES_PER_MS));
  return Math.min(rest, restMs(sizeBytes, everyMs));
}
