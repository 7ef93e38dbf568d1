import { openWriteFence } from "../../features/storage/replication/fence.ts";
import type { Lease, Replica, WriteFence } from "../../features/storage/replication/types.ts";
import type { Services } from "./services.ts";

/** The fence of a server with a replica: decides when its changes are confirmed. */
export function openFence(
  { config, writer, remoteStore }: Pick<Services, "config" | "writer" | "remoteStore">,
  lease: Lease,
  replica: Replica,
): WriteFence {
  const fence = openWriteFence({
    lease,
    replica,
    acknowledge: config.blobs.acknowledge,
    countChanges: () => writer.countChanges(),
    bucketProblem: () => remoteStore?.outage?.problem,
  });
  // Mails, notifications and webhooks also wait for it.
  writer.confirm = () => fence.confirm();
  return fence;
}
