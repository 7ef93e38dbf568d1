import type { FileNode } from "../../../tree/model/types.ts";
import type { LocalChange } from "../mass-change/types.ts";

/** The kind of a conflict: both sides changed the file, one side deleted it, or both use the same name. */
export type ConflictType = "modified" | "deleted" | "name";

/** Which side of a conflict is kept. */
type Resolution = "keep_remote" | "keep_local";

/** A change of a device that contradicts a change by others. */
export interface Conflict {
  /** Row id. */
  readonly id: number;
  /** `cfl_…` */
  readonly publicId: string;
  readonly accountId: number;
  readonly deviceId: number;
  /** The device's id in the API. */
  readonly devicePublicId: string;
  readonly type: ConflictType;
  /** The public id of the changed file; for a new file, of the file that has the name. */
  readonly fileId: string;
  /** The public id of the file on the server's side. */
  readonly remoteFileId: string;
  /** The device's change, with name and folder if they are known. */
  readonly change: LocalChange;
  /** When it was detected, or when a resolution was last rejected because the file had changed since then. */
  readonly detectedAtMs: number;
  /** Whether keep_local was chosen and the content is still missing. */
  readonly awaitsContent: boolean;
  readonly resolution: Resolution | null;
  readonly resolvedAtMs: number | null;
  /** The file that the resolution resulted in. */
  readonly outcomeFileId: string | null;
}

/** An open conflict with the current state of the server's side; undefined if it was deleted. */
export interface OpenConflict extends Conflict {
  readonly remote: FileNode | undefined;
  /** The device that uploaded the current content of the server's side, if it was one. */
  readonly remoteDeviceId: string | undefined;
}

/** A conflict to be recorded. */
export interface NewConflict {
  readonly type: ConflictType;
  readonly fileId: string;
  readonly remoteFileId: string;
  readonly change: LocalChange;
}

/** The decision about one conflict. */
export interface ResolveRequest {
  readonly conflictId: string;
  readonly resolution: Resolution;
  readonly fileId?: string | undefined;
  /** A name other than the taken one keeps both files. */
  readonly localName?: string | undefined;
  readonly localModifiedAt?: string | undefined;
}
