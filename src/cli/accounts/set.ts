import { changeAccount } from "../../features/accounts/profile/change-account.ts";
import { auditEntry } from "../shared/audit-entry.ts";
import { DATA_SETTINGS, defineCommand, type RunningCommand, settingOptions, UsageError } from "../shared/command.ts";
import { requireUser, withServices } from "../shared/services.ts";
import { ACCOUNT_OPTIONS, readName, readPassword, readPlan, readQuota, readRole } from "./options.ts";
import { presentAccount } from "./present.ts";

/** `larder user set EMAIL`: changes an account. */
export const set = defineCommand({
  description:
    "Change an account. Options that you leave out stay as they are. A new password or --disable ends all sessions of the " +
    "account. The last enabled administrator cannot be disabled or demoted.",
  options: [
    ...ACCOUNT_OPTIONS,
    ...settingOptions([...DATA_SETTINGS, "defaultPlan"]),
    ["--disable", "Block sign-in. The files are kept."],
    ["--enable", "Allow sign-in again."],
    ["--confirm-email", "Mark the email address as verified, which opens shares that wait for it."],
    ["--end-keys", "With a new password: also end all API keys and app passwords."],
    ["--no-two-factor", "Turn off two-factor authentication, for a user who lost it."],
  ],
  examples: "larder user set anna@example.org --plan pro --quota 200GB",
  needsDatabase: true,
  async run(command, [email = ""]) {
    const [plan, role, isDisabled] = [readPlan(command), readRole(command), readDisabled(command)];
    const password = await readPassword(command);
    const shownChanges = {
      ...readName(command),
      ...(plan !== undefined && { plan }),
      ...(role !== undefined && { role }),
      ...readQuota(command),
      ...(isDisabled !== undefined && { isDisabled }),
      ...(command.has("confirmEmail") && { isEmailConfirmed: true }),
    };
    const changes = { ...shownChanges, ...(password !== undefined && { password }) };
    const endsTwoFactor = command.value("twoFactor") === false;
    const endsKeys = command.has("endKeys");
    if (endsKeys && password === undefined) throw new UsageError("--end-keys requires a new password.");
    if (Object.keys(changes).length === 0 && !endsTwoFactor) {
      throw new UsageError("Nothing to change. See: larder user set --help");
    }
    const details = {
      ...shownChanges,
      ...(password !== undefined && { password: "changed" }),
      ...(endsTwoFactor && { twoFactor: "off" }),
      ...(endsKeys && { endKeys: true }),
    };
    const user = await withServices(command, async (services) => {
      const { id } = requireUser(services.users, email);
      return changeAccount(services, id, changes, (tx, current) => {
        if (endsTwoFactor) services.twoFactor.disable(tx, current);
        if (endsKeys) services.credentialRevoker.revokeAll(tx, id);
        services.audit.write(tx, auditEntry("user.change", current, details));
      });
    });
    const state = user.disabledAtMs === null ? "" : ", disabled";
    command.print(presentAccount(user), `Changed ${user.email}: role ${user.role}, plan ${user.plan}${state}.\n`);
  },
});

function readDisabled(command: RunningCommand): boolean | undefined {
  const [isDisabled, isEnabled] = [command.has("disable"), command.has("enable")];
  if (isDisabled && isEnabled) throw new UsageError("Use either --disable or --enable, not both.");
  return isDisabled || isEnabled ? isDisabled : undefined;
}
