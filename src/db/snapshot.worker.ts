/** The thread that copies the database, which takes seconds for a large one. */
import { type Snapshot, takeSnapshotOf } from "./snapshot.ts";

/** The database to copy, and the target. */
export interface SnapshotRequest {
  readonly database: string;
  readonly folder: string;
  readonly label: string;
  readonly nowMs: number;
}

/** The copy, or the error. */
export type SnapshotReply = { readonly snapshot: Snapshot } | { readonly error: string; readonly code: string };

declare const self: Worker;

self.onmessage = (event: MessageEvent<SnapshotRequest>) => {
  const { database, folder, label, nowMs } = event.data;
  try {
    self.postMessage({ snapshot: takeSnapshotOf(database, folder, label, nowMs) } satisfies SnapshotReply);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    self.postMessage({ error: String(error), code } satisfies SnapshotReply);
  }
};
