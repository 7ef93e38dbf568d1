/** The thread that copies the database: the copying of a large one takes seconds. */
import { type Snapshot, takeSnapshotOf } from "./snapshot.ts";

/** What is to be copied, and where to. */
export interface SnapshotRequest {
  readonly database: string;
  readonly folder: string;
  readonly label: string;
  readonly nowMs: number;
}

/** The copy, or in words why there is none. */
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
