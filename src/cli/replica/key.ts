import { makeSealingKey } from "../../features/storage/replication/sealed-secrets.ts";
import { defineCommand } from "../shared/command.ts";

/** `larder replica key`: makes the file of the setting `replica.keyFile`. */
export const key = defineCommand({
  description:
    "Make the key file for replica.keyFile, readable only by this user. Every machine that may take over needs a copy of it. " +
    "Also store a copy elsewhere, not in the bucket: without the key, no machine can take over. After a restore without it, " +
    "everyone has to sign in again, public links get new addresses, and authenticator apps stop working.",
  argument: ["<file>", "The new file. An existing file is not changed."],
  examples: "larder replica key /etc/larder/replica.key",
  problems: null,
  run(command, [file = ""]) {
    const path = command.path(file);
    makeSealingKey(path);
    command.terminal.out(`Made ${path}. Copy it to the other machine, and store a copy in a safe place.\n`);
  },
});
