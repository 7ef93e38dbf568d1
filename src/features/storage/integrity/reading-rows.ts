import type { Database } from "bun:sqlite";
import { type Digest, digestFromBytes } from "../../../blobs/digest.ts";

/** A blob that is to be read again. */
export interface DueContent {
  readonly id: number;
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** When it was last read and found whole, or stored. */
  readonly readAtMs: number;
}

interface DueRow extends Omit<DueContent, "digest"> {
  readonly digest: Uint8Array;
}

const READ_AT = "coalesce(verified_at, created_at)";

/** Lists blobs that are to be read again, the least recently read first. */
export class ReadingRows {
  readonly #due;
  readonly #damaged;
  readonly #oldest;

  constructor(sqlite: Database) {
    // Both name their index, because the planner chooses another one in a small database.
    this.#due = sqlite.prepare<DueRow, [number, number, number, number]>(
      `SELECT id, digest, size_bytes AS sizeBytes, ${READ_AT} AS readAtMs FROM blobs INDEXED BY blobs_reading
       WHERE damaged_at IS NULL AND ${READ_AT} BETWEEN ?1 AND ?3 AND (${READ_AT}, id) > (?1, ?2)
       ORDER BY ${READ_AT}, id LIMIT ?4`,
    );
    this.#damaged = sqlite.prepare<DueRow, [number, number, number]>(
      `SELECT id, digest, size_bytes AS sizeBytes, damaged_at AS readAtMs FROM blobs INDEXED BY blobs_damaged
       WHERE damaged_at IS NOT NULL AND (damaged_at, id) > (?1, ?2) ORDER BY damaged_at, id LIMIT ?3`,
    );
    this.#oldest = sqlite.prepare<{ readAtMs: number }, []>(
      `SELECT ${READ_AT} AS readAtMs FROM blobs INDEXED BY blobs_reading WHERE damaged_at IS NULL
       ORDER BY ${READ_AT}, id LIMIT 1`,
    );
  }

  /** Blobs that were last read at `untilMs` or before. @param after the last one of the previous page */
  listDue(untilMs: number, limit: number, after?: DueContent): DueContent[] {
    return this.#due.all(after?.readAtMs ?? 0, after?.id ?? 0, untilMs, limit).map(toContent);
  }

  /** Blobs whose last reading is dated after `sinceMs`. @param after the last one of the previous page */
  listAhead(sinceMs: number, limit: number, after?: DueContent): DueContent[] {
    const [last, end] = [after ?? { readAtMs: sinceMs, id: Number.MAX_SAFE_INTEGER }, Number.MAX_SAFE_INTEGER];
    return this.#due.all(last.readAtMs, last.id, end, limit).map(toContent);
  }

  /** Blobs that the last reading found damaged or missing. @param after the last one of the previous page */
  listDamaged(limit: number, after?: DueContent): DueContent[] {
    return this.#damaged.all(after?.readAtMs ?? 0, after?.id ?? 0, limit).map(toContent);
  }

  /** The oldest time at which a blob was last read; undefined in an empty store. */
  oldestReadingMs(): number | undefined {
    return this.#oldest.get()?.readAtMs;
  }
}

function toContent(row: DueRow): DueContent {
  return { ...row, digest: digestFromBytes(row.digest) };
}
