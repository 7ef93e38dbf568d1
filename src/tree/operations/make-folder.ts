import type { Transaction } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { newId } from "../../lib/id.ts";
import { invariant } from "../../lib/invariant.ts";
import { joinPath, ROOT_PATH, segmentsOf } from "../../lib/path.ts";
import { say } from "../../translations/say.ts";
import { isShortened, ROOT_NAME } from "../tables/folder-paths.ts";
import { EMPTY_PATH, pathTooLong, rejectTooLong, sizeOfStep, type PathSize, sizeOfPath } from "../tables/heights.ts";
import { FILE, FOLDER, parseMetadata } from "../model/rows.ts";
import type { TreeStore } from "../tables/store.ts";
import { fingerprint } from "../tables/undo.ts";

/** Creates the root of a new account. @returns its row id */
export function createAccountRoot(store: TreeStore, accountId: number): number {
  const nowMs = store.clock.nowMs();
  const insert = store.sqlite.prepare<{ id: number }, [string, number, string, number]>(
    `INSERT INTO nodes (public_id, account_id, parent_id, kind, name, sort_key, created_at, modified_at, seq, created_seq,
       size_bytes, file_at, natural_key) VALUES (?1, ?2, NULL, 0, ?3, ?3, ?4, ?4, 0, 0, 0, ?4, ?3) RETURNING id`,
  );
  const row = insert.get(newId("fold", nowMs), accountId, ROOT_NAME, nowMs);
  invariant(row !== null, "an inserted root has an id");
  store.sqlite.run("INSERT INTO folders (node_id, bytes, tree_bytes, tree_rev) VALUES (?1, 0, 0, ?2)", [row.id, nowMs]);
  store.sqlite.run("UPDATE accounts SET root_id = ?2 WHERE id = ?1", [accountId, row.id]);
  return row.id;
}

/**
 * The folder at a path. Creates it and its missing ancestors, each with a journal row.
 * @returns its row id
 * @throws AppError not_a_folder if a file is in the way; path_too_long if it is missing and would be too deep
 */
export function ensureFolderId(store: TreeStore, tx: Transaction, accountId: number, path: string): number {
  const known = store.paths.findId(accountId, path);
  if (known !== undefined) return known;
  // A shortened path stands for a folder that is too deep; resolved literally, it would create folders at the top.
  if (isShortened(path)) throw pathTooLong();
  const rootId = store.paths.rootOf(accountId);
  // The account was erased while the request was running.
  if (rootId === undefined) throw new AppError("revoked_token", say`This account no longer exists.`);
  let id = rootId;
  let at = ROOT_PATH;
  let below = sizeOfPath(path);
  rejectTooLong(below);
  for (const name of segmentsOf(path)) {
    at = joinPath(at, name);
    const step = sizeOfStep(name);
    below = { levels: below.levels - step.levels, bytes: below.bytes - step.bytes };
    const holder = store.names.find(id, name);
    if (holder?.kind === FILE) {
      throw new AppError("not_a_folder", say`"${at}" is a file. Choose a folder.`, { field: "folder", path: at });
    }
    id = holder?.id ?? insertFolder(store, tx, { accountId, parentId: id, name, metadata: null, below });
  }
  return id;
}

/** A folder to be inserted. */
interface InsertedFolder {
  readonly accountId: number;
  readonly parentId: number;
  readonly name: string;
  readonly metadata: string | null;
  /** What the same transaction will create below it. */
  readonly below?: PathSize;
}

/** Creates a folder in another; its name must be free. @returns its row id */
export function insertFolder(
  store: TreeStore,
  tx: Transaction,
  { accountId, parentId, name, metadata, below = EMPTY_PATH }: InsertedFolder,
): number {
  store.locks.requireUnlocked(accountId, parentId);
  const nowMs = store.clock.nowMs();
  const seq = store.accounts.take(accountId, { folders: 1 });
  const row = { ...folderRow(accountId, parentId, name, nowMs, seq), metadata, below };
  const id = store.nodes.insert(tx, row);
  store.accounts.record(accountId, seq, id);
  store.undo.note({ accountId, seq, nodeId: id, publicId: row.publicId, kind: FOLDER, what: "create" }, () => ({
    placeTo: { parentId, name },
    labelsTo: fingerprint({ tags: [], metadata: parseMetadata(metadata), isPublic: false }),
  }));
  store.paths.freeze();
  return id;
}

/** The row of a new, empty folder without metadata. */
export function folderRow(accountId: number, parentId: number | null, name: string, nowMs: number, seq: number) {
  return {
    publicId: newId("fold", nowMs),
    accountId,
    parentId,
    kind: FOLDER,
    name,
    createdAtMs: nowMs,
    modifiedAtMs: nowMs,
    seq,
    sizeBytes: 0,
    mediaType: null,
    blobId: null,
    contentBy: null,
    contentDeviceId: null,
    originalName: null,
    fileModifiedAt: null,
    capturedAt: null,
    isPublic: false,
    tags: null,
    metadata: null,
  };
}
