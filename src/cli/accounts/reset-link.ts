import { resetLink } from "../../features/accounts/password-reset/service.ts";
import { auditEntry } from "../shared/audit-entry.ts";
import { defineCommand } from "../shared/command.ts";
import { requireUser, withServices } from "../shared/services.ts";
import { ADDRESS_SETTINGS, publicAddress } from "./options.ts";

/** `larder user reset-link EMAIL`: creates a link to the page where the user sets a new password. */
export const resetLinkCommand = defineCommand({
  description:
    "Print a one-time link to the page where the user sets a new password. It is valid for 30 minutes; " +
    "earlier links stop working. API keys and two-factor authentication stay as they are.",
  settings: ADDRESS_SETTINGS,
  examples: "larder user reset-link anna@example.org",
  needsDatabase: true,
  async run(command, [email = ""]) {
    const address = publicAddress(command.config);
    const token = await withServices(command, async ({ users, passwordReset, audit }) => {
      const user = requireUser(users, email);
      await audit.record(auditEntry("user.reset_link", user));
      return passwordReset.issueNow(user.id);
    });
    command.terminal.out(`${resetLink(address, token)}\n`);
  },
});
