// What is remembered of uploads beyond the page: IndexedDB, so that a reload goes on where it was. A slow or broken
// database never holds an upload up: it is waited for half a minute, beside the sending, then things go on without.
import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { Upload } from "./types.ts";

/** An upload as it is remembered: with its owner, its tab, and the way back to its bytes. */
export interface SavedUpload {
  readonly upload: Upload;
  /** Account that uploads; another who signs in here doesn't get it. */
  readonly userId: string;
  /** Tab that has it in hand. */
  readonly tab: string;
  /** Order of adding. */
  readonly sequence: number;
  readonly handle?: FileSystemFileHandle | undefined;
}

/** What the engine needs of a memory. None of these throws or waits longer than half a minute. */
export interface UploadDatabase {
  put(kept: readonly SavedUpload[]): Promise<void>;
  /** Keeps the bytes of a small file themselves, so that it may change or go on the disk. */
  putBytes(id: string, file: File): Promise<void>;
  findBytes(id: string): Promise<Blob | undefined>;
  remove(ids: readonly string[]): Promise<void>;
  all(): Promise<SavedUpload[]>;
}

interface Schema extends DBSchema {
  uploads: { key: string; value: SavedUpload & { id: string } };
  files: { key: string; value: Blob };
}

/** Nothing that is sent waits for this memory: only what was left behind is found later where it is slow. */
const TIMEOUT_MS = 30_000;

/** Bytes kept in the browser are copies: only small files are, and not many. */
export const SAVED_FILE_BYTES_MAX = 4 * 1024 * 1024;
/** All kept bytes together. */
export const SAVED_BYTES_MAX = 256 * 1024 * 1024;

/** Opens the memory of this browser. Where there is none (private windows), nothing is remembered and nothing fails. */
export function openUploadDatabase(databaseName = "larder-uploads"): UploadDatabase {
  const opening = openDB<Schema>(databaseName, 1, {
    upgrade(database) {
      database.createObjectStore("uploads", { keyPath: "id" });
      database.createObjectStore("files");
    },
    terminated() {
      // The browser closed it: later calls fail and count as forgotten.
    },
  }).catch(() => undefined);

  async function withDatabase<T>(fallback: T, use: (database: IDBPDatabase<Schema>) => Promise<T>): Promise<T> {
    const timeout = new Promise<T>((resolve) => setTimeout(() => resolve(fallback), TIMEOUT_MS));
    const work = opening.then((database) => (database === undefined ? fallback : use(database))).catch(() => fallback);
    return Promise.race([work, timeout]);
  }

  return {
    put: (kept) =>
      withDatabase(undefined, async (database) => {
        const transaction = database.transaction("uploads", "readwrite");
        for (const one of kept) void transaction.store.put({ ...one, id: one.upload.id });
        await transaction.done;
      }),
    putBytes: (id, file) =>
      withDatabase(undefined, async (database) => {
        // A File would be kept as a note of where it lies.
        await database.put("files", new Blob([await file.arrayBuffer()]), id);
      }),
    findBytes: (id) => withDatabase<Blob | undefined>(undefined, (database) => database.get("files", id)),
    remove: (ids) =>
      withDatabase(undefined, async (database) => {
        const transaction = database.transaction(["uploads", "files"], "readwrite");
        for (const id of ids) {
          void transaction.objectStore("uploads").delete(id);
          void transaction.objectStore("files").delete(id);
        }
        await transaction.done;
      }),
    all: () =>
      withDatabase<SavedUpload[]>([], async (database) => {
        const kept: SavedUpload[] = await database.getAll("uploads");
        return kept.sort((a, b) => a.sequence - b.sequence);
      }),
  };
}
