/**
 * Changes made by devices, and the state before each. If a device is stolen, or malware encrypts its files, its changes
 * can be undone (features/mobile/rewind). Only changes made in the name of a device are recorded. Changes made in a
 * browser or on the command line can be reverted by other means and cost nothing here.
 *
 * A row describes four aspects of a node: location, labels, content, date. Each has a `From` (the state before) and a
 * `To` to compare with the next row, or with the node as it is now. If they differ, somebody else changed the node in
 * between. Changes made by a rewind are recorded as changes of the rewound device, so that the sequence stays complete.
 * They are marked `rewound` from the start and are never undone.
 *
 * Not recorded: folders that a device copies, with everything below (a copy loses nothing), and metadata of the root.
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

/** `reap`: deleted with a folder above it. `restore`: created again by a rewind; the row refers to the former node. */
export type UndoWhat = "create" | "change" | "content" | "delete" | "reap" | "restore";

/** Folder and name of a node. */
interface NodeLocation {
  readonly parentId: number;
  readonly name: string;
}

/** Former folder and name of a node, with the path of the folder at that time. */
export interface FormerLocation extends NodeLocation {
  readonly folder: string;
}

/** Tags, metadata and public flag of a node; folders have metadata only. */
export interface Labels {
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly isPublic: boolean;
}

/** A version of a deleted file. */
export interface FormerContent {
  readonly version: number;
  readonly digest: Digest;
  readonly sizeBytes: number;
  readonly mediaType: string;
  readonly createdAtMs: number;
  readonly createdBy: number | null;
}

/** The data for creating a deleted file again, in addition to location and labels. */
export interface DeletedFile {
  readonly createdAtMs: number;
  readonly originalName: string | null;
  readonly fileModifiedAt: string | null;
  readonly capturedAt: string | null;
  /** Newest first, beginning with the last content; at most {@link CONTENTS_MAX}. */
  readonly contents: readonly FormerContent[];
}

/** The effect of one change on a node; an absent field was not changed. Stored as JSON in `undo.before`. */
export interface UndoDetail {
  /** Name of the node if no other field has it: for reports about a node that is gone by then. */
  readonly seen?: { readonly name: string; readonly folder: string };
  readonly placeFrom?: FormerLocation;
  readonly placeTo?: NodeLocation;
  readonly labelsFrom?: Labels;
  /** {@link fingerprint} of the labels. */
  readonly labelsTo?: string;
  /** Version numbers. */
  readonly contentFrom?: number;
  readonly contentTo?: number;
  /** The file's own date as it was sent; null for none. Undefined in rows of versions before 0032_folder_states. */
  readonly dateFrom?: string | null;
  readonly dateTo?: string | null;
  readonly file?: DeletedFile;
  /** The node that a rewind created to replace this one. */
  readonly restored?: { readonly nodeId: number; readonly publicId: string };
}

/** A change to be recorded. */
interface UndoSubject {
  readonly accountId: number;
  readonly seq: number;
  readonly nodeId: number;
  readonly publicId: string;
  /** `nodes.kind` */
  readonly kind: number;
  readonly what: UndoWhat;
}

/** The device that deleted a folder, for rows that are deleted later. */
export interface Removal {
  readonly deviceId: number;
  readonly atMs: number;
  readonly isRewound: boolean;
  /** Former path of the folder. */
  readonly path: string;
}

/** Versions recorded of a deleted file. */
const CONTENTS_MAX = 100;

/** A hash of labels, independent of the order of their keys. Empty for no labels. */
export function fingerprint({ tags, metadata, isPublic }: Labels): string {
  const entries = Object.entries(metadata);
  if (tags.length === 0 && entries.length === 0 && !isPublic) return "";
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return Bun.hash(JSON.stringify([tags, entries, isPublic])).toString(36);
}

/** The current labels of a node. */
export function labelsOf(node: TreeNode): Labels {
  const { metadata } = node;
  return node.kind === "file"
    ? { tags: node.tags, metadata, isPublic: node.isPublic }
    : { tags: [], metadata, isPublic: false };
}

/** The change of location or labels between two states of a node. */
export function changeOf(before: TreeNode, after: TreeNode): UndoDetail {
  const placeFrom = before.parentId === null ? undefined : { ...locationOf(before), folder: before.folder };
  const isMoved = before.parentId !== after.parentId || before.name !== after.name;
  const [labelsFrom, labelsTo] = [labelsOf(before), fingerprint(labelsOf(after))];
  return {
    ...(isMoved && placeFrom !== undefined
      ? { placeFrom, placeTo: locationOf(after) }
      : { seen: { name: before.name, folder: before.folder } }),
    ...(fingerprint(labelsFrom) !== labelsTo && { labelsFrom, labelsTo }),
    ...(before.kind === "file" && after.kind === "file" && before.fileModifiedAt !== after.fileModifiedAt
      ? { dateFrom: before.fileModifiedAt, dateTo: after.fileModifiedAt }
      : {}),
  };
}

/** Folder and name of a node that is not a root. */
export function locationOf(node: TreeNode): NodeLocation {
  invariant(node.parentId !== null, "a root has no location");
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

/** The rows of `undo`. All methods run inside a transaction. */
export class UndoLog {
  /** The device that is being rewound; new rows are recorded as its own. Only {@link TreeWriter.rewinding} sets it. */
  rewoundDeviceId: number | null = null;
  readonly #actorDeviceId: () => number | null;
  readonly #history: HistoryLog;
  readonly #insert;
  readonly #selectForDeletion;
  readonly #versions;
  readonly #removal;
  readonly #deleteOldest;
  readonly #devices;

  /** @param history also records what devices delete: it can be viewed and restored */
  constructor(sqlite: Database, actorDeviceId: () => number | null, history: HistoryLog) {
    this.#actorDeviceId = actorDeviceId;
    this.#history = history;
    this.#insert = sqlite.prepare<undefined, (number | string | null)[]>(
      `INSERT INTO undo (account_id, device_id, seq, at, node_id, public_id, kind, what, before, rewound)
       VALUES (?1, ?2, ?3, ifnull(?4, (SELECT changed_at FROM accounts WHERE id = ?1)), ?5, ?6, ?7, ?8, ?9, ?10)`,
    );
    this.#selectForDeletion = sqlite.prepare<DeletedRow, [number]>(
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
    this.#deleteOldest = sqlite.prepare<undefined, [number, number, number, number]>(
      `DELETE FROM undo WHERE account_id = ?1 AND device_id = ?2 AND seq IN (
         SELECT seq FROM undo WHERE account_id = ?1 AND device_id = ?2 ORDER BY seq LIMIT ?4) AND at < ?3`,
    );
  }

  /** Records a change made by a device. @param detail called only then */
  note(subject: UndoSubject, detail: () => UndoDetail): void {
    const deviceId = this.#deviceId();
    if (deviceId !== null) this.#write(subject, detail(), deviceId, null, this.rewoundDeviceId !== null);
  }

  /** Records that a node was deleted with a folder that a device deleted. */
  noteReaped(subject: Omit<UndoSubject, "what">, detail: UndoDetail, removal: Removal): void {
    const { deviceId, atMs, isRewound } = removal;
    this.#write({ ...subject, what: "reap" }, detail, deviceId, atMs, isRewound);
  }

  /**
   * What is needed to create a node again, read before its deletion; undefined if no device deletes it. @param folder
   * its path
   */
  describeIfRecorded(node: StoredNode, folder: string, removal: Removal | undefined): UndoDetail | undefined {
    if (removal === undefined && this.#deviceId() === null) return undefined;
    return this.describe(node, folder);
  }

  /** The device that deleted a folder whose rows are being deleted now; undefined if it was none. */
  findRemoval(folderId: number): Removal | undefined {
    const row = this.#removal.get(folderId);
    if (row === null) return undefined;
    const { placeFrom } = parseDetail(row.before);
    invariant(placeFrom !== undefined, "a deleted folder had a location");
    const { deviceId, atMs, rewound } = row;
    return { deviceId, atMs, isRewound: rewound === 1, path: joinPath(placeFrom.folder, placeFrom.name) };
  }

  /** Describes a node before its deletion. */
  describe(node: StoredNode, folder: string): UndoDetail {
    const row = this.#selectForDeletion.get(node.id);
    invariant(row !== null && node.parent_id !== null, "a node that is being removed has a row and a location");
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
      "a file has a blob, version, type and content time",
    );
    const digest = toDigest(row.digest);
    const current = { version, digest, sizeBytes, mediaType, createdAtMs, createdBy };
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
        contents: [current, ...earlier],
      },
    };
  }

  /** Deletes rows older than the time, up to `limit` rows of each device of an account. @returns how many */
  sweep(accountId: number, olderThanMs: number, limit: number): number {
    let removed = 0;
    for (const { deviceId } of this.#devices.all(accountId)) {
      removed += this.#deleteOldest.run(accountId, deviceId, olderThanMs, limit).changes;
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
