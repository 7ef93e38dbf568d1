import type { Snapshot } from "./snapshot.ts";
import type { SnapshotReply, SnapshotRequest } from "./snapshot.worker.ts";
import { requireDescriptors } from "../lib/descriptors.ts";

/**
 * Takes a snapshot off the event loop, in a thread that ends with it.
 * @throws Error with the message and code of SQLite or the system, for example for a full disk
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
