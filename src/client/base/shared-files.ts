/*
 * Files that another app shared with Larder ("Share → Larder"). The service worker receives them and a page uploads
 * them. They are stored in IndexedDB in between, because a page may have to be opened, or the person signed in, before
 * they can be uploaded.
 */
import { type DBSchema, type IDBPDatabase, openDB } from "idb";

interface SharedFilesSchema extends DBSchema {
  files: { key: number; value: { readonly file: File; readonly receivedAtMs: number } };
}

async function openStore(): Promise<IDBPDatabase<SharedFilesSchema>> {
  return openDB<SharedFilesSchema>("larder-shared", 1, {
    upgrade(database) {
      database.createObjectStore("files", { autoIncrement: true });
    },
  });
}

/**
 * Stores files until a page takes them.
 * @throws DOMException if the browser has no room for them
 */
export async function storeSharedFiles(files: readonly File[]): Promise<void> {
  const store = await openStore();
  try {
    const transaction = store.transaction("files", "readwrite");
    const receivedAtMs = Date.now();
    for (const file of files) await transaction.store.add({ file, receivedAtMs });
    await transaction.done;
  } finally {
    store.close();
  }
}

/** Stored files, and the keys to delete them with. */
export interface SharedFiles {
  readonly files: readonly File[];
  readonly keys: readonly number[];
}

/** The stored files in the order in which they came. They stay, also after a reload, until they are deleted. */
export async function listSharedFiles(): Promise<SharedFiles> {
  const store = await openStore();
  try {
    const transaction = store.transaction("files");
    const [records, keys] = await Promise.all([transaction.store.getAll(), transaction.store.getAllKeys()]);
    await transaction.done;
    return { files: records.map(({ file }) => file), keys };
  } finally {
    store.close();
  }
}

/** Deletes files that were uploaded or discarded. Files that came later stay. */
export async function deleteSharedFiles(keys: readonly number[]): Promise<void> {
  const store = await openStore();
  try {
    const transaction = store.transaction("files", "readwrite");
    await Promise.all(keys.map((key) => transaction.store.delete(key)));
    await transaction.done;
  } finally {
    store.close();
  }
}
