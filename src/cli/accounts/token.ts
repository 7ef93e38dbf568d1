import { AppError } from "../../errors.ts";
import { formatDuration } from "../../lib/duration.ts";
import { sayText } from "../../translations/say.ts";
import { auditEntry } from "../shared/audit-entry.ts";
import { DATA_SETTINGS, defineCommand } from "../shared/command.ts";
import { requireUser, withServices } from "../shared/services.ts";
import { presentAccount } from "./present.ts";

/** `larder user token EMAIL`: signs in as an account, for a script. */
export const token = defineCommand({
  description:
    "Sign in as an account and print the session token, the same as over HTTP. It is valid for tokenLifetime.",
  options: [["--json", "Print {token, expiresIn, user} as JSON."]],
  settings: [...DATA_SETTINGS, "tokenLifetime"],
  examples: 'curl -H "Authorization: Bearer $(larder user token anna@example.org)" http://127.0.0.1:8790/api/files',
  needsDatabase: true,
  async run(command, [email = ""]) {
    const { user, token } = await withServices(command, async ({ users, auth, audit }) => {
      const user = requireUser(users, email);
      if (user.disabledAtMs !== null) {
        const help = `To enable it: larder user set ${user.email} --enable`;
        throw new AppError("account_disabled", sayText(`${user.email} is disabled. ${help}`));
      }
      await audit.record(auditEntry("user.token", user));
      return { user, token: (await auth.issueToken(user, "cli")).token };
    });
    const expiresIn = formatDuration(command.config.tokenLifetimeMs);
    command.print({ token, expiresIn, user: presentAccount(user) }, `${token}\n`);
  },
});
