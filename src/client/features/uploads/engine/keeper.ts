// What is remembered of uploads beyond the page: IndexedDB, so that a reload goes on where it was. A slow or broken
// database never holds an upload up: it is waited for half a minute, beside the sending, then things go on without.
import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { Upload } from "./types.ts";

/** An upload as it is remembered: with its owner, its tab, and the way back to its bytes. */
export interface KeptUpload {
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
export interface UploadKeeper {
  put(kept: readonly KeptUpload[]): Promise<void>;
  /** Keeps the bytes of a small file themselves, so that it may change or go on the disk. */
  putBytes(id: string, file: File): Promise<void>;
  findBytes(id: string): Promise<Blob | undefined>;
  remove(ids: readonly string[]): Promise<void>;
  all(): Promise<KeptUpload[]>;
}

interface Schema extends DBSchema {
  uploads: { key: string; value: KeptUpload & { id: string } };
  files: { key: string; value: Blob };
}

/** Nothing that is sent waits for this memory: only what was left behind is found later where it is slow. */
const PATIENCE_MS = 30_000;

/** Bytes kept in the browser are copies: only small files are, and not many. */
export const KEPT_FILE_BYTES_MAX = 4 * 1024 * 1024;
/** All kept bytes together. */
export const KEPT_BYTES_MAX = 256 * 1024 * 1024;

/** Opens the memory of this browser. Where there is none (private windows), nothing is remembered and nothing fails. */
export function openKeeper(databaseName = "larder-uploads"): UploadKeeper {
  const opening = openDB<Schema>(databaseName, 1, {
    upgrade(database) {
      database.createObjectStore("uploads", { keyPath: "id" });
      database.createObjectStore("files");
    },
    terminated() {
      // The browser closed it: later calls fail and count as forgotten.
    },
  }).catch(() => undefined);

  async function within<T>(fallback: T, use: (database: IDBPDatabase<Schema>) => Promise<T>): Promise<T> {
    const patience = new Promise<T>((resolve) => setTimeout(() => resolve(fallback), PATIENCE_MS));
    const work = opening.then((database) => (database === undefined ? fallback : use(database))).catch(() => fallback);
    return Promise.race([work, patience]);
  }

  return {
    put: (kept) =>
      within(undefined, async (database) => {
        const transaction = database.transaction("uploads", "readwrite");
        for (const one of kept) void transaction.store.put({ ...one, id: one.upload.id });
        await transaction.done;
      }),
    putBytes: (id, file) =>
      within(undefined, async (database) => {
        // A File would be kept as a note of where it lies.
        await database.put("files", new Blob([await file.arrayBuffer()]), id);
      }),
    findBytes: (id) => within<Blob | undefined>(undefined, (database) => database.get("files", id)),
    remove: (ids) =>
      within(undefined, async (database) => {
        const transaction = database.transaction(["uploads", "files"], "readwrite");
        for (const id of ids) {
          void transaction.objectStore("uploads").delete(id);
          void transaction.objectStore("files").delete(id);
        }
        await transaction.done;
      }),
    all: () =>
      within<KeptUpload[]>([], async (database) => {
        const kept: KeptUpload[] = await database.getAll("uploads");
        return kept.sort((a, b) => a.sequence - b.sequence);
      }),
  };
}
