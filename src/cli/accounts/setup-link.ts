import { AppError } from "../../errors.ts";
import { sayText } from "../../translations/say.ts";
import { auditEntry } from "../shared/audit-entry.ts";
import { defineCommand } from "../shared/command.ts";
import { withServices } from "../shared/services.ts";
import { ADDRESS_SETTINGS, publicAddress } from "./options.ts";

/** `larder user setup-link`: creates a link to the page that creates the first administrator. */
export const setupLink = defineCommand({
  description:
    "Print a one-time link to the page that creates the first administrator. It is valid for 24 hours; " +
    "earlier links stop working.",
  settings: ADDRESS_SETTINGS,
  examples: "larder user setup-link",
  problems: "an administrator already exists",
  needsDatabase: true,
  async run(command) {
    const address = publicAddress(command.config);
    const token = await withServices(command, async ({ auth, audit }) => {
      const token = await auth.newSetupToken();
      if (token !== undefined) await audit.record(auditEntry("setup_link", undefined));
      return token;
    });
    if (token === undefined) {
      throw new AppError(
        "signup_closed",
        sayText("An administrator already exists. To add another: larder user add EMAIL --admin --password-stdin"),
      );
    }
    command.terminal.out(`${address}/setup?token=${token}\n`);
  },
});
