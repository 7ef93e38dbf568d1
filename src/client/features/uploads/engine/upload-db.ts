// Uploads saved in IndexedDB, so that a reload resumes them. A slow or broken database never delays an upload: calls
// run next to the sending and give up after half a minute.
import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { Upload } from "./types.ts";
import { writeStored } from "../../../base/stored.ts";
import { UPLOAD_DATABASE, UPLOADS_STORED } from "./upload-db-name.ts";

/** A saved upload with its account, its tab, and the handle of its file. */
export interface SavedUpload {
  readonly upload: Upload;
  /** The account that uploads; other accounts in this browser don't see it. */
  readonly userId: string;
  /** The tab that owns it. */
  readonly tab: string;
  /** The order of adding. */
  readonly sequence: number;
  readonly handle?: FileSystemFileHandle | undefined;
}

/** The database of saved uploads. No call throws, or takes longer than half a minute. */
export interface UploadDatabase {
  put(saved: readonly SavedUpload[]): Promise<void>;
  /** Saves the bytes of a small file, so that the file on disk may change or be removed. */
  putBytes(id: string, file: File): Promise<void>;
  findBytes(id: string): Promise<Blob | undefined>;
  remove(ids: readonly string[]): Promise<void>;
  all(): Promise<SavedUpload[]>;
}

interface Schema extends DBSchema {
  uploads: { key: string; value: SavedUpload & { id: string } };
  files: { key: string; value: Blob };
}

/** Sending never waits for the database. If it is slow, interrupted uploads are only found later. */
const TIMEOUT_MS = 30_000;

/** Saved bytes are copies, so only small files are saved, and not many. */
export const SAVED_FILE_BYTES_MAX = 4 * 1024 * 1024;
/** The limit for all saved bytes together. */
export const SAVED_BYTES_MAX = 256 * 1024 * 1024;

/** Opens the database. In private windows, which have none, nothing is saved and nothing fails. */
export function openUploadDatabase(databaseName = UPLOAD_DATABASE): UploadDatabase {
  const opening = openDB<Schema>(databaseName, 1, {
    upgrade(database) {
      database.createObjectStore("uploads", { keyPath: "id" });
      database.createObjectStore("files");
      // Pages in other tabs load their part that takes over uploads.
      writeStored(UPLOADS_STORED, "yes");
    },
    terminated() {
      // The browser closed it. Later calls fail and count as empty.
    },
  }).catch(() => undefined);

  async function withDatabase<T>(fallback: T, use: (database: IDBPDatabase<Schema>) => Promise<T>): Promise<T> {
    const timeout = new Promise<T>((resolve) => setTimeout(() => resolve(fallback), TIMEOUT_MS));
    const work = opening.then((database) => (database === undefined ? fallback : use(database))).catch(() => fallback);
    return Promise.race([work, timeout]);
  }

  return {
    put: (saved) =>
      withDatabase(undefined, async (database) => {
        const transaction = database.transaction("uploads", "readwrite");
        for (const one of saved) void transaction.store.put({ ...one, id: one.upload.id });
        await transaction.done;
      }),
    putBytes: (id, file) =>
      withDatabase(undefined, async (database) => {
        // A File would be saved as a reference to the file on disk.
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
        const saved: SavedUpload[] = await database.getAll("uploads");
        return saved.sort((a, b) => a.sequence - b.sequence);
      }),
  };
}
