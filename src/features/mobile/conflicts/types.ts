import type { FileNode } from "../../../tree/model/types.ts";
import type { LocalChange } from "../mass-change/types.ts";

/** How two changes met: both changed the file, one deleted it, or both want one name. */
export type ConflictType = "modified" | "deleted" | "name";

/** Whose side is taken. */
export type Resolution = "keep_remote" | "keep_local";

/** A change that a device brought and that could not be carried out beside what others had done. */
export interface Conflict {
  /** Key inside the database. */
  readonly id: number;
  /** `cfl_…` */
  readonly publicId: string;
  readonly accountId: number;
  readonly deviceId: number;
  /** As the device calls itself. */
  readonly devicePublicId: string;
  readonly type: ConflictType;
  /** Public id of the file that the change is about; of the one that has the name, for a new file. */
  readonly fileId: string;
  /** Public id of the file on the other side. */
  readonly remoteFileId: string;
  /** What the device wanted, with name and folder where they were known. */
  readonly change: LocalChange;
  /** When it was found, or when its device was last told of a content that it can't have known. */
  readonly detectedAtMs: number;
  /** Whether keep_local was chosen and the content is still to come. */
  readonly awaitsContent: boolean;
  readonly resolution: Resolution | null;
  readonly resolvedAtMs: number | null;
  /** The file that the resolution left. */
  readonly outcomeFileId: string | null;
}

/** A conflict and the other side as it stands now; undefined where that was deleted. */
export interface OpenConflict extends Conflict {
  readonly remote: FileNode | undefined;
  /** The device that sent the present content of the other side, where it was one. */
  readonly remoteDeviceId: string | undefined;
}

/** A conflict to be recorded. */
export interface NewConflict {
  readonly type: ConflictType;
  readonly fileId: string;
  readonly remoteFileId: string;
  readonly change: LocalChange;
}

/** What a device decided for one conflict. */
export interface ResolveRequest {
  readonly conflictId: string;
  readonly resolution: Resolution;
  readonly fileId?: string | undefined;
  /** A name other than the taken one keeps both files. */
  readonly localName?: string | undefined;
  readonly localModifiedAt?: string | undefined;
}
