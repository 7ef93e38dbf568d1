/**
 * What devices change, and how it was before: a device that was stolen, or whose files were encrypted by malice, can be
 * rewound (features/rewind). Only changes made in the name of a device are noted; what people do in a browser or on the
 * command line has its own ways back, and costs nothing here.
 *
 * A row tells three aspects of a node: its place, its labels, its content. Each has a `From`, the state before, and a
 * `To`, by which the next row (or the node as it is) can be compared: where they differ, somebody else changed it in
 * between. Changes that a rewind makes are noted as the rewound device's own, so that the chain goes on; they are
 * `rewound` from the start and never undone.
 *
 * Not noted: folders that a device copies, with all below (nothing is lost by it), and descriptions of the root.
 */
import type { Database } from "bun:sqlite";
import { type Digest, toDigest } from "../../blobs/digest.ts";
import { invariant } from "../../lib/invariant.ts";
import { joinPath } from "../../lib/path.ts";
import type { HistoryLog } from "./history.ts";
import type { StoredNode } from "./node-rows.ts";
import { FILE, FOLDER, parseMetadata, parseTags } from "../model/rows.ts";
import type { TreeNode } from "../model/types.ts";

/** How long changes of devices can be undone. */
export const UNDO_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * `reap`: removed with a deleted folder above it. `restore`: made again by a rewind; the row is that of the former node.
 */
export type UndoWhat = "create" | "change" | "content" | "delete" | "reap" | "restore";

/** Where a node is. */
export interface Place {
  readonly parentId: number;
  readonly name: string;
}

/** Where a node was, with the path of its folder at that time. */
export interface FormerLocation extends Place {
  readonly folder: string;
}

/** Tags, metadata and publicity of a node; folders have metadata alone. */
export interface Labels {
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly isPublic: boolean;
}

/** A content that a deleted file had. */
export interface FormerContent {
  readonly version: number;
  readonly digest: Digest;
  readonly sizeBytes: number;
  readonly mediaType: string;
  readonly createdAtMs: number;
  readonly createdBy: number | null;
}

/** What is needed to make a deleted file again, beyond its place and labels. */
export interface DeletedFile {
  readonly createdAtMs: number;
  readonly originalName: string | null;
  readonly fileModifiedAt: string | null;
  readonly capturedAt: string | null;
  /** The newest first, the present one in front; at most {@link CONTENTS_MAX}. */
  readonly contents: readonly FormerContent[];
}

/** What one change did to a node; absent is what it did not touch. */
export interface UndoDetail {
  /** How the node was called, where nothing else here tells: for saying what was left, should it be gone. */
  readonly seen?: { readonly name: string; readonly folder: string };
  readonly placeFrom?: FormerLocation;
  readonly placeTo?: Place;
  readonly labelsFrom?: Labels;
  /** {@link fingerprint} of the labels. */
  readonly labelsTo?: string;
  /** Numbers of versions. */
  readonly contentFrom?: number;
  readonly contentTo?: number;
  readonly file?: DeletedFile;
  /** The node that a rewind made in place of this one. */
  readonly restored?: { readonly nodeId: number; readonly publicId: string };
}

/** A change to be noted. */
export interface UndoSubject {
  readonly accountId: number;
  readonly seq: number;
  readonly nodeId: number;
  readonly publicId: string;
  /** `nodes.kind` */
  readonly kind: number;
  readonly what: UndoWhat;
}

/** In whose name a folder was deleted, for what is taken apart later. */
export interface Removal {
  readonly deviceId: number;
  readonly atMs: number;
  readonly isRewound: boolean;
  /** Path that the folder had. */
  readonly path: string;
}

/** Contents remembered of a deleted file. */
const CONTENTS_MAX = 100;

/** One text for equal labels, whatever the order of their keys. Empty for none. */
export function fingerprint({ tags, metadata, isPublic }: Labels): string {
  const entries = Object.entries(metadata);
  if (tags.length === 0 && entries.length === 0 && !isPublic) return "";
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return Bun.hash(JSON.stringify([tags, entries, isPublic])).toString(36);
}

/** Labels of a node as it stands. */
export function labelsOf(node: TreeNode): Labels {
  const { metadata } = node;
  return node.kind === "file"
    ? { tags: node.tags, metadata, isPublic: node.isPublic }
    : { tags: [], metadata, isPublic: false };
}

/** What a change of place or labels did, from the node before and after. */
export function changeOf(before: TreeNode, after: TreeNode): UndoDetail {
  const placeFrom = before.parentId === null ? undefined : { ...placeOf(before), folder: before.folder };
  const isMoved = before.parentId !== after.parentId || before.name !== after.name;
  const [labelsFrom, labelsTo] = [labelsOf(before), fingerprint(labelsOf(after))];
  return {
    ...(isMoved && placeFrom !== undefined
      ? { placeFrom, placeTo: placeOf(after) }
      : { seen: { name: before.name, folder: before.folder } }),
    ...(fingerprint(labelsFrom) !== labelsTo && { labelsFrom, labelsTo }),
  };
}

/** Where a node is that is not a root. */
export function placeOf(node: TreeNode): Place {
  invariant(node.parentId !== null, "a root has no place");
  return { parentId: node.parentId, name: node.name };
}

interface DeletedRow {
  readonly created_at: number;
  readonly original_name: string | null;
  readonly file_modified_at: string | null;
  readonly captured_at: string | null;
  readonly is_public: number;
  readonly metadata: string | null;
  readonly digest: string | null;
}

/** The rows of `undo`. All is called inside a deed. */
export class UndoLog {
  /** The device that is being rewound; its rows go on. Set by {@link TreeWriter.rewinding} alone. */
  rewoundDeviceId: number | null = null;
  readonly #actorDeviceId: () => number | null;
  readonly #history: HistoryLog;
  readonly #insert;
  readonly #deleted;
  readonly #versions;
  readonly #removal;
  readonly #oldest;
  readonly #devices;

  /** @param history told of what devices delete: it may be looked at as it was, and brought back */
  constructor(sqlite: Database, actorDeviceId: () => number | null, history: HistoryLog) {
    this.#actorDeviceId = actorDeviceId;
    this.#history = history;
    this.#insert = sqlite.prepare<undefined, (number | string | null)[]>(
      `INSERT INTO undo (account_id, device_id, seq, at, node_id, public_id, kind, what, before, rewound)
       VALUES (?1, ?2, ?3, ifnull(?4, (SELECT changed_at FROM accounts WHERE id = ?1)), ?5, ?6, ?7, ?8, ?9, ?10)`,
    );
    this.#deleted = sqlite.prepare<DeletedRow, [number]>(
      `SELECT created_at, original_name, file_modified_at, captured_at, is_public, metadata,
         (SELECT lower(hex(digest)) FROM blobs WHERE id = nodes.blob_id) AS digest FROM nodes WHERE id = ?1`,
    );
    this.#versions = sqlite.prepare<FormerContent, [number, number]>(
      `SELECT v.version, lower(hex(b.digest)) AS digest, v.size_bytes AS sizeBytes, v.media_type AS mediaType,
         v.created_at AS createdAtMs, v.created_by AS createdBy
       FROM versions v CROSS JOIN blobs b ON b.id = v.blob_id WHERE v.node_id = ?1 ORDER BY v.version DESC LIMIT ?2`,
    );
    this.#removal = sqlite.prepare<{ deviceId: number; atMs: number; rewound: number; before: string }, [number]>(
      `SELECT device_id AS deviceId, at AS atMs, rewound, before FROM undo INDEXED BY undo_node
       WHERE node_id = ?1 AND what = 'delete' LIMIT 1`,
    );
    this.#devices = sqlite.prepare<{ deviceId: number }, [number]>(
      "SELECT id AS deviceId FROM devices WHERE user_id = ?1",
    );
    this.#oldest = sqlite.prepare<undefined, [number, number, number, number]>(
      `DELETE FROM undo WHERE account_id = ?1 AND device_id = ?2 AND seq IN (
         SELECT seq FROM undo WHERE account_id = ?1 AND device_id = ?2 ORDER BY seq LIMIT ?4) AND at < ?3`,
    );
  }

  /** Notes a change where a device makes it. @param detail asked for only then */
  note(subject: UndoSubject, detail: () => UndoDetail): void {
    const deviceId = this.#deviceId();
    if (deviceId !== null) this.#write(subject, detail(), deviceId, null, this.rewoundDeviceId !== null);
  }

  /** Notes that a node went with a folder that a device had deleted. */
  noteReaped(subject: Omit<UndoSubject, "what">, detail: UndoDetail, removal: Removal): void {
    const { deviceId, atMs, isRewound } = removal;
    this.#write({ ...subject, what: "reap" }, detail, deviceId, atMs, isRewound);
  }

  /** What is needed to make a node again, before it goes; undefined where nobody will ask. @param folder path it is in */
  recall(node: StoredNode, folder: string, removal: Removal | undefined): UndoDetail | undefined {
    if (removal === undefined && this.#deviceId() === null) return undefined;
    return this.describe(node, folder);
  }

  /** In whose name a folder that is being taken apart was deleted; undefined where it was no device. */
  findRemoval(folderId: number): Removal | undefined {
    const row = this.#removal.get(folderId);
    if (row === null) return undefined;
    const { placeFrom } = parseDetail(row.before);
    invariant(placeFrom !== undefined, "a folder that was deleted had a place");
    const { deviceId, atMs, rewound } = row;
    return { deviceId, atMs, isRewound: rewound === 1, path: joinPath(placeFrom.folder, placeFrom.name) };
  }

  /** Everything about a node that goes. */
  describe(node: StoredNode, folder: string): UndoDetail {
    const row = this.#deleted.get(node.id);
    invariant(row !== null && node.parent_id !== null, "a node that is being removed has a row and a place");
    const placeFrom = { parentId: node.parent_id, name: node.name, folder };
    const labelsFrom = {
      tags: parseTags(node.tags),
      metadata: parseMetadata(row.metadata),
      isPublic: row.is_public === 1,
    };
    if (node.kind === FOLDER) return { placeFrom, labelsFrom };
    const {
      version,
      media_type: mediaType,
      content_at: createdAtMs,
      content_by: createdBy,
      size_bytes: sizeBytes,
    } = node;
    invariant(
      version !== null && mediaType !== null && createdAtMs !== null && row.digest !== null,
      "a file has a content, its number, its type and its time",
    );
    const digest = toDigest(row.digest);
    const present = { version, digest, sizeBytes, mediaType, createdAtMs, createdBy };
    const earlier = version > 1 ? this.#versions.all(node.id, CONTENTS_MAX - 1) : [];
    return {
      placeFrom,
      labelsFrom,
      contentFrom: version,
      file: {
        createdAtMs: row.created_at,
        originalName: row.original_name,
        fileModifiedAt: row.file_modified_at,
        capturedAt: row.captured_at,
        contents: [present, ...earlier],
      },
    };
  }

  /** Forgets what is older than the time, up to `limit` rows of each device of an account. @returns how many */
  sweep(accountId: number, olderThanMs: number, limit: number): number {
    let removed = 0;
    for (const { deviceId } of this.#devices.all(accountId)) {
      removed += this.#oldest.run(accountId, deviceId, olderThanMs, limit).changes;
    }
    return removed;
  }

  #deviceId(): number | null {
    return this.rewoundDeviceId ?? this.#actorDeviceId();
  }

  #write(subject: UndoSubject, detail: UndoDetail, deviceId: number, atMs: number | null, isRewound: boolean): void {
    const { accountId, seq, nodeId, publicId, kind, what } = subject;
    const before = JSON.stringify(detail);
    this.#insert.run(accountId, deviceId, seq, atMs, nodeId, publicId, kind, what, before, isRewound ? 1 : 0);
    const { placeFrom } = detail;
    if ((what === "delete" || what === "reap") && placeFrom !== undefined)
      this.#history.noteDeleted(subject, placeFrom);
  }
}

/** The subject of a file's or folder's change. */
export function subjectOf(node: TreeNode, seq: number, what: UndoWhat): UndoSubject {
  const { accountId, id: nodeId, publicId } = node;
  return { accountId, seq, nodeId, publicId, kind: node.kind === "file" ? FILE : FOLDER, what };
}

/** `undo.before` as an object. */
export function parseDetail(json: string): UndoDetail {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this file alone
  return JSON.parse(json) as UndoDetail;
}
