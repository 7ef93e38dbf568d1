import { parseDuration } from "../../config/quantities.ts";
import { PLAN_NAMES, ROLES } from "../../features/accounts/users/types.ts";
import { toTimestamp } from "../../lib/clock.ts";
import { auditEntry } from "../shared/audit-entry.ts";
import { defineCommand, UsageError } from "../shared/command.ts";
import { withServices } from "../shared/services.ts";
import { ADDRESS_SETTINGS, publicAddress, readPlan, readRole } from "./options.ts";

/** `larder user invite`: creates an invite link. */
export const invite = defineCommand({
  description:
    "Print an invite link, valid for one new account and, by default, for 7 days. If mail is configured and the server " +
    "is running, the link is also sent to --email.",
  options: [
    ["--email <email>", "Only this email address can use the invite."],
    [`--plan <${PLAN_NAMES.join("|")}>`, "Plan of the account."],
    [`--role <${ROLES.join("|")}>`, "Role of the account."],
    ["--admin", "Same as --role admin."],
    ["--expires <duration>", "How long the invite is valid, such as 2d. (default: 7d)"],
    ["--json", "Print {id, invite, url, expiresAt} as JSON."],
  ],
  settings: ADDRESS_SETTINGS,
  examples: "larder user invite --email anna@example.org --role viewer --expires 2d",
  needsDatabase: true,
  async run(command) {
    const address = publicAddress(command.config);
    const lifetimeMs = readLifetime(command.text("expires"));
    const email = command.text("email");
    const role = readRole(command) ?? "user";
    const plan = readPlan(command);
    const { invite, token, url } = await withServices(command, ({ invites, audit }) =>
      invites.add(
        { email, role, plan, ...(lifetimeMs !== undefined && { expiresAtMs: Date.now() + lifetimeMs }) },
        (token) => `${address}/invite?token=${token}`,
        (tx, { publicId: id }) => {
          const details = { email: email ?? null, role, plan: plan ?? null };
          audit.write(tx, auditEntry("invite.create", undefined, details, { type: "invite", id }));
        },
      ),
    );
    const expiresAt = toTimestamp(invite.expiresAtMs);
    command.print({ id: invite.publicId, invite: token, url, expiresAt }, `${url}\n`);
  },
});

function readLifetime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const lifetimeMs = parseDuration(text);
  if (lifetimeMs !== undefined && lifetimeMs > 0) return lifetimeMs;
  throw new UsageError(`--expires must be a duration such as 12h or 7d, not "${text}".`);
}
