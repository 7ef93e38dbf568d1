import type { Database } from "bun:sqlite";
import type { DiskBlobStore } from "../../../blobs/disk-blob-store.ts";
import { Staging } from "../../../blobs/staging.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { UploadRows } from "./queries.ts";
import { UploadService, type UploadServiceOptions } from "./service.ts";
import { UploadStore } from "./store.ts";

/** Dependencies of chunked uploads. */
interface OpenUploadsOptions extends Omit<UploadServiceOptions, "store" | "isSignedIn" | "blobs"> {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Events;
  readonly treeWriter: TreeWriter;
  readonly blobs: DiskBlobStore;
  /** `uploads/` of the data directory. */
  readonly directory: string;
}

/** Builds the service of chunked uploads, and the staging area that only it uses. */
export function openUploads(options: OpenUploadsOptions): {
  uploads: UploadService;
  staging: Staging;
  uploadStore: UploadStore;
} {
  const { sqlite, writer, clock, log, events, treeWriter, blobs, directory } = options;
  const staging = new Staging({ directory, log, syncQueue: blobs.syncQueueFor(directory) });
  const store = new UploadStore({ rows: new UploadRows(sqlite), staging, writer, clock, log, events, treeWriter });
  const uploads = new UploadService({ ...options, store, isSignedIn: deviceSignInCheck(sqlite, clock) });
  return { uploads, staging, uploadStore: store };
}

/** A device is signed in while it has a valid access or refresh token. */
function deviceSignInCheck(sqlite: Database, clock: Clock): (deviceId: number) => boolean {
  const find = sqlite.prepare<{ id: number }, [number, number]>(
    `SELECT d.id FROM devices d WHERE d.id = ?1 AND d.removed_at IS NULL AND (
       EXISTS (SELECT 1 FROM sessions s WHERE s.device_id = d.id AND s.expires_at > ?2)
       OR EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.device_id = d.id AND r.used_at IS NULL AND r.expires_at > ?2))`,
  );
  return (deviceId) => find.get(deviceId, clock.nowMs()) !== null;
}
