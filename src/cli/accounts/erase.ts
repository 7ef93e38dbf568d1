import { auditEntry } from "../shared/audit-entry.ts";
import { DATA_SETTINGS, defineCommand, UsageError } from "../shared/command.ts";
import { requireUser, withServices } from "../shared/services.ts";

/** `larder user erase EMAIL`: deletes an account and all its files. */
export const erase = defineCommand({
  description:
    "Delete an account with all its files, links, and devices permanently. Disk space is freed after gcGrace.",
  options: [["--yes", "Confirm. Without this option, nothing is deleted."]],
  settings: DATA_SETTINGS,
  examples: "larder user erase anna@example.org --yes",
  needsDatabase: true,
  async run(command, [email = ""]) {
    const user = await withServices(command, async ({ users, audit, eraseAccount }) => {
      const user = requireUser(users, email);
      if (!command.has("yes")) {
        throw new UsageError(`This permanently deletes ${user.email} and all its files. To confirm, add --yes.`);
      }
      await eraseAccount(user);
      await audit.record(auditEntry("user.erase", user, { email: user.email }));
      return user;
    });
    command.terminal.out(`Deleted ${user.email} (${user.publicId}).\n`);
  },
});
