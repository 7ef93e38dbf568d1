import { auditEntry } from "../shared/audit-entry.ts";
import { defineCommand } from "../shared/command.ts";
import { requireUser, withServices } from "../shared/services.ts";
import { ADDRESS_SETTINGS, publicAddress } from "./options.ts";

/** `larder user reset-link EMAIL`: creates a link to the page where the user sets a new password. */
export const resetLinkCommand = defineCommand({
  description:
    "Print a one-time link to the page where the user sets a password. It is valid for 30 minutes, or 7 days if an " +
    "administrator created the account and nobody has signed in yet. Earlier links stop working. API keys and " +
    "two-factor authentication stay as they are.",
  settings: ADDRESS_SETTINGS,
  examples: "larder user reset-link anna@example.org",
  needsDatabase: true,
  async run(command, [email = ""]) {
    const address = publicAddress(command.config);
    const { url } = await withServices(command, async ({ users, passwordLinks, audit }) => {
      const user = requireUser(users, email);
      await audit.record(auditEntry("user.reset_link", user));
      return passwordLinks.issue(user, address);
    });
    command.terminal.out(`${url}\n`);
  },
});
