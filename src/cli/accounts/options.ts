/** Options and settings that several commands about accounts share. */
import { parseSize } from "../../config/quantities.ts";
import { readPasswordFile, withoutLineBreak } from "../../config/secrets.ts";
import type { Config } from "../../config/settings.ts";
import { PLAN_NAMES, type PlanName, type Role, ROLES } from "../../features/accounts/users/types.ts";
import { browserAddresses } from "../../server/net/listen-address.ts";
import { DATA_SETTINGS, type RunningCommand, UsageError } from "../shared/command.ts";

/** The values of an account, and `--json`. */
export const ACCOUNT_OPTIONS: readonly (readonly [flags: string, description: string])[] = [
  ["--name <name>", "Name of the user."],
  [`--plan <${PLAN_NAMES.join("|")}>`, "Plan of the account."],
  [`--role <${ROLES.join("|")}>`, "Role of the account."],
  ["--admin", "Same as --role admin."],
  ["--quota <size|none|plan>", "Storage quota: bytes, a size such as 50GB, none, or the quota of the plan."],
  ["--password-stdin", "Read the password from standard input."],
  ["--password-file <file>", "Read the password from this file."],
  ["--json", "Print the account as JSON."],
];

/** The settings that {@link publicAddress} needs. */
export const ADDRESS_SETTINGS = [...DATA_SETTINGS, "host", "port", "basePath", "publicUrl"];

/** The address of the server for links. @throws UsageError if the port is not known */
export function publicAddress(config: Config): string {
  if (config.publicUrl !== null) return config.publicUrl;
  if (config.port === 0) throw new UsageError("The port is 0 (any free port). Set the actual port with --port.");
  return browserAddresses(config, config.port)[0];
}

export async function readPassword(command: RunningCommand): Promise<string | undefined> {
  const { terminal } = command;
  const file = command.text("passwordFile");
  const isFromInput = command.has("passwordStdin");
  if (isFromInput && file !== undefined)
    throw new UsageError("Use either --password-stdin or --password-file, not both.");
  if (file !== undefined) return readPasswordFile(file);
  if (!isFromInput) return undefined;
  if (terminal.isInteractive)
    terminal.error("Type the password, then press Enter and Ctrl+D. The password is visible while you type.\n");
  return withoutLineBreak(await terminal.readInput());
}

export function readName(command: RunningCommand): { name?: string } {
  const name = command.text("name");
  return name === undefined ? {} : { name };
}

export function readPlan(command: RunningCommand): PlanName | undefined {
  return readChoice("--plan", command.text("plan"), PLAN_NAMES);
}

export function readRole(command: RunningCommand): Role | undefined {
  const role = readChoice("--role", command.text("role"), ROLES);
  if (!command.has("admin")) return role;
  if (role !== undefined && role !== "admin") throw new UsageError(`Use either --admin or --role ${role}, not both.`);
  return "admin";
}

function readChoice<Choice extends string>(
  flag: string,
  text: string | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  const choice = choices.find((known) => known === text);
  if (text === undefined || choice !== undefined) return choice;
  throw new UsageError(`${flag} must be one of: ${choices.join(", ")}, not "${text}".`);
}

export function readQuota(command: RunningCommand): { quotaBytes?: number | "plan" | null } {
  const text = command.text("quota");
  if (text === undefined) return {};
  if (text === "plan") return { quotaBytes: "plan" };
  if (text === "none" || text === "unlimited") return { quotaBytes: null };
  const quotaBytes = parseSize(text);
  if (quotaBytes === undefined)
    throw new UsageError(`--quota must be a number of bytes, a size such as 50GB, none, or plan, not "${text}".`);
  return { quotaBytes };
}
