import { StartupError } from "../../../config/startup-error.ts";
import type { LeaseRecord } from "./lease-record.ts";
import type { Acquisition } from "./lease-rules.ts";

/** The owner of a store, for people: `server-a (https://files.example.org, epoch 3)`. */
export function nameOwner({ host, url, epoch }: Pick<LeaseRecord, "host" | "url" | "epoch">): string {
  return `${host} (${url === null ? "" : `${url}, `}epoch ${epoch})`;
}

/** Why the lease can't be had, and what to do. */
export function rejection({ reason, seen }: Extract<Acquisition, { step: "rejected" }>): StartupError {
  if (seen === undefined) {
    return new StartupError("There is no store in the replica. Start its first server with: larder serve");
  }
  const owner = nameOwner(seen.lease);
  switch (reason) {
    case "other-store":
      return new StartupError(
        `The replica belongs to another store, of ${owner}. Each store needs its own path: set another replica.`,
      );
    case "alive":
      return new StartupError(`${owner} still owns the store and is running. Stop it first, then try again.`);
    case "older":
      return new StartupError(
        `This data directory is older than the replica: it was set back to an earlier state, or ${OWN_MARK} was removed. ` +
          `The last owner was ${owner}. To continue from the replica: larder promote`,
      );
    case "unfinished":
      return new StartupError(
        "This machine has taken over the store, but its database is not restored yet. To continue: larder promote",
      );
    default:
      return new StartupError(
        `${owner} owns this store; nothing was changed. To make this machine the standby: larder standby. ` +
          "To take over: larder promote",
      );
  }
}

const OWN_MARK = "larder.lease";
