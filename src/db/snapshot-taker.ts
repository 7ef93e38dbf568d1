import type { Snapshot } from "./snapshot.ts";
import type { SnapshotReply, SnapshotRequest } from "./snapshot.worker.ts";
import { requireDescriptors } from "../lib/descriptors.ts";

/**
 * Copies the database off the event loop, in a thread of its own that ends with the copy.
 * @throws Error in the words of SQLite or the system, with its code: a full disk, say. The database is as it was.
 */
export async function takeSnapshotAside(request: SnapshotRequest): Promise<Snapshot> {
  requireDescriptors();
  const worker = new Worker(new URL("./snapshot.worker.ts", import.meta.url).href);
  return new Promise<Snapshot>((resolve, reject) => {
    worker.onmessage = (event: MessageEvent<SnapshotReply>) => {
      if ("snapshot" in event.data) resolve(event.data.snapshot);
      else reject(Object.assign(new Error(event.data.error), { code: event.data.code }));
    };
    worker.onerror = (event) => reject(new Error(`The thread that copies the database died: ${event.message}`));
    worker.addEventListener("close", () => reject(new Error("The thread that copies the database ended early.")));
    worker.postMessage(request);
  }).finally(() => worker.terminate());
}
