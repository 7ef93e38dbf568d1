/*
 * Files that another app on the device gave to Larder ("Share → Larder"), between the service worker that received them
 * and the page that uploads them. They lie in the browser's own database, because the page may have to be opened, or
 * its account signed in, before they can be sent.
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

/** Keeps files until a page takes them. @throws DOMException where the browser has no room for them */
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

/** Files that wait, and the keys by which they are forgotten. */
export interface SharedFiles {
  readonly files: readonly File[];
  readonly keys: readonly number[];
}

/** The files that wait, in the order in which they came. They go on waiting, also beyond a reload, until they are forgotten. */
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

/** Forgets files that were taken over, or that nobody wants; those that came since stay. */
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
