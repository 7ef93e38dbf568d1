import { describeSize } from "../../config/quantities.ts";
import { StartupError } from "../../config/startup-error.ts";
import { LeaseStore } from "../../features/storage/replication/lease-store.ts";
import { parseHeartbeat } from "../../features/storage/replication/lease-record.ts";
import { findLitestream, LITESTREAM_VERSION } from "../../features/storage/replication/litestream/binary.ts";
import { readReplicaStatus } from "../../features/storage/replication/litestream/status.ts";
import { nameOwner } from "../../features/storage/replication/owner-text.ts";
import { openReplicaBucket, type ReplicaBucket } from "../../features/storage/replication/replica-bucket.ts";
import { messageOf } from "../../lib/error.ts";
import { dataPaths } from "../../server/data/data-directory.ts";
import { findStandby } from "../../server/standby/standby-state.ts";
import { DATA_SETTINGS, defineCommand, EXIT } from "../shared/command.ts";
import { toTable } from "../shared/output.ts";

/** What the bucket has for a path of the replica. */
interface StoredReplica {
  objects: number;
  bytes: number;
  newestAtMs: number | null;
  newestSnapshotAtMs: number | null;
}

/** `larder replica status`. */
export const status = defineCommand({
  description:
    "Show who owns the store, how far the replica is, and what it has in the bucket. Lists all objects of the replica.",
  options: [["--json", "Print the status as JSON."]],
  settings: [...DATA_SETTINGS, "replica", "replica.litestream"],
  examples: "larder replica status",
  problems: "the replica of the server on this machine is late",
  async run(command) {
    const { config } = command;
    const bucket = openReplicaBucket(config);
    if (bucket === undefined) throw new StartupError("No replica is configured. Set replica and replica.keyFile.");
    const seen = await new LeaseStore(bucket).readNewest();
    const stored = seen === undefined ? undefined : await countStored(bucket, seen.lease.path);
    const local = readReplicaStatus(config.data, Date.now());
    const litestream = await findLitestream(config.replica.litestream).then(
      (path) => `${path}, version ${LITESTREAM_VERSION}`,
      (error: unknown) => messageOf(error),
    );
    const isReleased = parseHeartbeat(seen?.heartbeat)?.isReleased ?? false;
    const standby = findStandby(dataPaths(config.data));
    const rows = [
      ["Replica", config.replica.url ?? ""],
      ["Owner", seen === undefined ? "none yet" : `${nameOwner(seen.lease)}${isReleased ? ", stopped" : ""}`],
      ["Path", seen?.lease.path ?? ""],
      ["Objects", stored === undefined ? "none" : `${stored.objects}, ${describeSize(stored.bytes)}`],
      ["Newest object", describeTime(stored?.newestAtMs)],
      ["Newest copy of the whole database", describeTime(stored?.newestSnapshotAtMs)],
      ["This machine", standby?.text ?? (local === undefined ? "No server is running here." : "")],
      ["Lag of the server here", local === undefined ? "" : `${local.lagMs} ms`],
      ["Position of the server here", local?.position ?? ""],
      ["Problem", local?.problem ?? ""],
      ["Litestream", litestream],
    ].filter(([, value]) => value !== "");
    const owner = seen === undefined ? null : { ...seen.lease, isReleased };
    command.print(
      {
        replica: config.replica.url,
        owner,
        stored: stored ?? null,
        local: local ?? null,
        standby: standby ?? null,
        litestream,
      },
      toTable(rows),
    );
    return (local?.problem ?? null) === null ? EXIT.success : EXIT.problems;
  },
});

async function countStored({ client, prefix }: ReplicaBucket, path: string): Promise<StoredReplica> {
  const stored: StoredReplica = { objects: 0, bytes: 0, newestAtMs: null, newestSnapshotAtMs: null };
  for (let after = ""; ; ) {
    const page = await client.list(`${prefix}${path}/`, after);
    for (const { key, sizeBytes, modifiedAtMs } of page) {
      stored.objects++;
      stored.bytes += sizeBytes;
      stored.newestAtMs = Math.max(stored.newestAtMs ?? 0, modifiedAtMs);
      if (key.includes("/snapshots/")) {
        stored.newestSnapshotAtMs = Math.max(stored.newestSnapshotAtMs ?? 0, modifiedAtMs);
      }
    }
    const last = page.at(-1)?.key;
    if (last === undefined || last <= after) return stored;
    after = last;
  }
}

function describeTime(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? "" : new Date(ms).toISOString();
}
