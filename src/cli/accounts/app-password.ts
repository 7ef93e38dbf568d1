import { presentAppPassword, davUrl } from "../../features/accounts/app-passwords/present.ts";
import { AppError } from "../../errors.ts";
import { sayText } from "../../translations/say.ts";
import { auditEntry } from "../shared/audit-entry.ts";
import { defineCommand } from "../shared/command.ts";
import { requireUser, withServices } from "../shared/services.ts";
import { ADDRESS_SETTINGS, publicAddress } from "./options.ts";

/** `larder user app-password EMAIL`: creates an app password, and prints it alone. */
export const appPasswordCommand = defineCommand({
  description:
    "Create an app password and print it. It is shown only once. A WebDAV or sync program signs in with the email and " +
    "the app password. WebDAV programs need the address of this server with /dav/. Accounts with the role viewer can only read.",
  options: [
    ["--name <name>", "Name for the list of app passwords, such as the program or the computer."],
    ["--read-only", "The program can read files but not change them."],
    ["--folder <path>", "The program sees only this folder."],
    ["--json", "Print the app password with its name, address and user name as JSON."],
  ],
  settings: ADDRESS_SETTINGS,
  examples:
    "larder user app-password anna@example.org --name laptop\nlarder user app-password anna@example.org --name scanner --folder /Scans",
  needsDatabase: true,
  async run(command, [email = ""]) {
    const name = command.requiredText("name", "--name");
    const folder = command.text("folder");
    const access = command.has("readOnly") ? "read" : undefined;
    const record = await withServices(command, async ({ users, appPasswords, audit }) => {
      const { id, disabledAtMs } = requireUser(users, email);
      if (disabledAtMs !== null) {
        throw new AppError(
          "account_disabled",
          sayText(`${email} is disabled. To enable it: larder user set ${email} --enable`),
        );
      }
      const { appPassword, user, password } = await appPasswords.add({ name, access, folder }, (tx) => {
        const owner = requireUser(users, email);
        audit.write(tx, auditEntry("user.app_password", owner, { name }));
        return owner;
      });
      return {
        ...presentAppPassword(appPassword, appPasswords.folderOf(id, appPassword)),
        username: user.email,
        password,
      };
    });
    const url = command.isJson ? davUrl(publicAddress(command.config)) : undefined;
    command.print({ ...record, url }, `${record.password}\n`);
  },
});
