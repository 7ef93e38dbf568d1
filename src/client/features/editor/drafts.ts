/*
 * Unsaved changes of texts, in IndexedDB: they survive a crash of the browser, a reload, and the end of a session. Each
 * account has its own. Signing out deletes them, as others may use the browser.
 */
import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { TextFormat } from "./text-format.ts";

/** The unsaved text of a file. */
export interface Draft {
  readonly text: string;
  readonly format: TextFormat;
  /** The ETag of the content that was edited. */
  readonly etag: string;
  readonly changedAtMs: number;
}

interface DraftsSchema extends DBSchema {
  drafts: { key: [userId: string, fileId: string]; value: Draft };
}

/** The drafts of a file, for one account. */
export interface DraftStore {
  /** Undefined without a draft, and if the browser stores nothing. */
  find(): Promise<Draft | undefined>;
  /** @throws DOMException if the browser stores nothing, or has no space */
  save(draft: Draft): Promise<void>;
  delete(): Promise<void>;
}

/** Drafts older than this are deleted when another one is saved. */
const AGE_MS_MAX = 30 * 86_400_000;

/** The draft store of a file. */
export function draftsOf(userId: string, fileId: string): DraftStore {
  const key: [string, string] = [userId, fileId];
  return {
    find: async () => {
      try {
        return await inStore((store) => store.get("drafts", key));
      } catch {
        return undefined; // Storage is switched off.
      }
    },
    save: (draft) =>
      inStore(async (store) => {
        const transaction = store.transaction("drafts", "readwrite");
        for await (const cursor of transaction.store) {
          if (cursor.value.changedAtMs < draft.changedAtMs - AGE_MS_MAX) await cursor.delete();
        }
        await transaction.store.put(draft, key);
        await transaction.done;
      }),
    delete: () => inStore((store) => store.delete("drafts", key)),
  };
}

/** The drafts of an account; of none if the browser stores nothing. */
export async function countDrafts(userId: string): Promise<number> {
  try {
    return await inStore((store) => store.count("drafts", allOf(userId)));
  } catch {
    return 0; // Storage is switched off.
  }
}

/** @throws DOMException if the browser stores nothing */
export function deleteDrafts(userId: string): Promise<void> {
  return inStore((store) => store.delete("drafts", allOf(userId)));
}

/** In the order of IndexedDB, lists come after all strings. */
function allOf(userId: string): IDBKeyRange {
  return IDBKeyRange.bound([userId], [userId, []]);
}

async function inStore<T>(action: (store: IDBPDatabase<DraftsSchema>) => Promise<T>): Promise<T> {
  const store = await openDB<DraftsSchema>("larder-drafts", 1, {
    upgrade(database) {
      database.createObjectStore("drafts");
    },
  });
  try {
    return await action(store);
  } finally {
    store.close();
  }
}
