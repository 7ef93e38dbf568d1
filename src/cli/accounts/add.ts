import { auditEntry } from "../shared/audit-entry.ts";
import { DATA_SETTINGS, defineCommand, UsageError } from "../shared/command.ts";
import { withServices } from "../shared/services.ts";
import { ACCOUNT_OPTIONS, readName, readPassword, readPlan, readQuota, readRole } from "./options.ts";
import { presentAccount } from "./present.ts";

/** `larder user add EMAIL`: adds an account, and creates the database if there is none. */
export const add = defineCommand({
  description: "Add an account. The password is read from standard input or a file, never from the command line.",
  options: ACCOUNT_OPTIONS,
  settings: [...DATA_SETTINGS, "defaultPlan"],
  examples: "larder user add anna@example.org --name Anna --admin --password-file ./password",
  async run(command, [email = ""]) {
    const givenPlan = readPlan(command);
    const role = readRole(command) ?? "user";
    const password = await readPassword(command);
    if (password === undefined) {
      throw new UsageError("A new account needs a password. Use --password-stdin or --password-file FILE.");
    }
    const { quotaBytes } = readQuota(command);
    const input = {
      email,
      ...readName(command),
      role,
      password,
      ...(quotaBytes !== undefined && quotaBytes !== "plan" && { quotaBytes }),
      isByAdministrator: true,
    };
    const user = await withServices(command, ({ users, audit, config }) => {
      const plan = givenPlan ?? config.defaultPlan;
      return users.add({ ...input, plan }, (tx, id) =>
        audit.write(tx, auditEntry("user.create", users.findById(id), { role, plan })),
      );
    });
    const text = `Added ${user.email} (${user.publicId}), role ${user.role}, plan ${user.plan}.\n`;
    command.print(presentAccount(user), text);
  },
});
