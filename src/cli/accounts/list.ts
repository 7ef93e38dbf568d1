import { formatSize } from "../../config/quantities.ts";
import type { User } from "../../features/accounts/users/types.ts";
import { toTimestamp } from "../../lib/clock.ts";
import { DATA_SETTINGS, defineCommand } from "../shared/command.ts";
import { toTable } from "../shared/output.ts";
import { withServices } from "../shared/services.ts";
import { presentAccount } from "./present.ts";

/** `larder user list`: lists all accounts. */
export const list = defineCommand({
  options: [["--json", "Print the accounts as a JSON array."]],
  settings: DATA_SETTINGS,
  examples: "larder user list --json",
  needsDatabase: true,
  async run(command) {
    const users = await withServices(command, async (services) => services.users.list(), { isReading: true });
    const heading = ["EMAIL", "NAME", "ROLE", "PLAN", "QUOTA", "STATE", "CREATED", "ID"];
    const rows = users.map((user) => [
      user.email,
      user.name,
      user.role,
      user.plan,
      describeQuota(user),
      user.disabledAtMs === null ? "enabled" : "disabled",
      toTimestamp(user.createdAtMs).slice(0, 10),
      user.publicId,
    ]);
    command.print(users.map(presentAccount), toTable([heading, ...rows]));
  },
});

function describeQuota({ quotaBytes }: User): string {
  if (quotaBytes === undefined) return "plan";
  return quotaBytes === null ? "none" : formatSize(quotaBytes);
}
