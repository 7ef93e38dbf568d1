import { defineCommand } from "../shared/command.ts";
import { key } from "./key.ts";
import { status } from "./status.ts";

/** `larder replica key|status`: the replica of the database in a bucket. */
export const define = defineCommand({
  description:
    "Show the replica of the database in a bucket, and make the key that seals the secrets in it. See the settings replica and replica.keyFile.",
  examples: "larder replica key /etc/larder/replica.key\nlarder replica status",
  subcommands: [
    ["key", "Make the key file that seals the secrets in the replica.", key],
    ["status", "Show who owns the store, and what the replica has.", status],
  ],
});
