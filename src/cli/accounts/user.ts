import type { Command } from "commander";
import type { LoadedConfig } from "../../config/load.ts";
import { formatSize, parseDuration, parseSize } from "../../config/quantities.ts";
import { readPasswordFile, withoutLineBreak } from "../../config/secrets.ts";
import { AppError } from "../../errors.ts";
import { resetLink } from "../../features/accounts/password-reset/service.ts";
import { changeAccount } from "../../features/accounts/profile/change-account.ts";
import { PLAN_NAMES, type PlanName, type Role, ROLES, type User } from "../../features/accounts/users/types.ts";
import { toTimestamp } from "../../lib/clock.ts";
import { formatDuration } from "../../lib/duration.ts";
import { createLog } from "../../lib/log.ts";
import { listenAddress } from "../../server/net/listen-address.ts";
import { type CommandServices, openForCommand } from "../../server/for-commands.ts";
import { commandEntry } from "../shared/audit-entry.ts";
import {
  addSettings,
  type CommandContext,
  describeEnd,
  EXIT,
  hasOption,
  optionText,
  DATA_SETTINGS,
  readConfig,
  requireDatabase,
  runs,
  printWarnings,
  UsageError,
} from "../shared/command.ts";
import { toJson, toTable } from "../shared/output.ts";

/** `larder user add|set|list|token|reset-link|link-oidc|invite|erase|setup-link`: accounts, beside a running server or without one. */
export function define(command: Command, context: CommandContext): void {
  command.description("Manage accounts. The server may run at the same time; changes take effect immediately.");
  describeEnd(command, "echo 'correct horse battery' | larder user add anna@example.org --admin --password-stdin");
  defineAdd(command.command("add <email>").summary("Add an account."), context);
  defineSet(command.command("set <email>").summary("Change an account."), context);
  defineList(command.command("list").summary("List all accounts."), context);
  defineToken(command.command("token <email>").summary("Print a session token for a script."), context);
  defineResetLink(command.command("reset-link <email>").summary("Create a password reset link."), context);
  defineInvite(command.command("invite").summary("Create an invite link."), context);
  defineErase(command.command("erase <email>").summary("Delete an account and all its files."), context);
  defineLinkOidc(
    command.command("link-oidc <email> <subject>").summary("Link an account to a single sign-on user."),
    context,
  );
  defineSetupLink(command.command("setup-link").summary("Create a new link to the set-up page."), context);
}

function defineAdd(command: Command, context: CommandContext): void {
  command.description(
    "Add an account. The password is read from standard input or a file, never from the command line.",
  );
  addAccountOptions(command);
  describeEnd(command, "larder user add anna@example.org --name Anna --admin --password-file ./password");
  runs(command, async ([email = ""]) => {
    const loaded = readConfig(command, context);
    const input = {
      email,
      ...readName(command),
      plan: readPlan(command) ?? loaded.config.defaultPlan,
      role: readRole(command) ?? "user",
    };
    const password = await readPassword(command, context);
    if (password === undefined) {
      throw new UsageError("A new account needs a password. Use --password-stdin or --password-file FILE.");
    }
    const user = await withServices(loaded, context, ({ users, audit }) =>
      users.add({ ...input, password, ...readNewQuota(command), isByAdministrator: true }, (tx, id) =>
        audit.write(tx, commandEntry("user.create", users.findById(id), { role: input.role, plan: input.plan })),
      ),
    );
    printUser(command, context, user, `Added ${user.email} (${user.publicId}), role ${user.role}, plan ${user.plan}.`);
    return EXIT.fine;
  });
}

function defineSet(command: Command, context: CommandContext): void {
  command.description(
    "Change an account. Options that you leave out stay as they are. A new password or --disable ends all sessions of the " +
      "account. The last enabled administrator cannot be disabled or demoted.",
  );
  addAccountOptions(command)
    .option("--disable", "Block sign-in. The files are kept.")
    .option("--enable", "Allow sign-in again.")
    .option("--confirm-email", "Mark the email address as verified, which opens shares that wait for it.")
    .option("--end-keys", "With a new password: also revoke all API keys.")
    .option("--no-two-factor", "Turn off two-factor authentication, for a user who lost it.");
  describeEnd(command, "larder user set anna@example.org --plan pro --quota 200GB");
  runs(command, async ([email = ""]) => {
    const loaded = readConfig(command, context);
    requireDatabase(loaded.config);
    const [plan, role, isDisabled] = [readPlan(command), readRole(command), readDisabled(command)];
    const password = await readPassword(command, context);
    const changes = {
      ...readName(command),
      ...(plan !== undefined && { plan }),
      ...(role !== undefined && { role }),
      ...readQuota(command),
      ...(isDisabled !== undefined && { isDisabled }),
      ...(hasOption(command, "confirmEmail") && { isEmailConfirmed: true }),
      ...(password !== undefined && { password }),
    };
    const endsTwoFactor = command.getOptionValue("twoFactor") === false;
    const endsKeys = hasOption(command, "endKeys");
    if (endsKeys && password === undefined) throw new UsageError("--end-keys requires a new password.");
    if (Object.keys(changes).length === 0 && !endsTwoFactor) {
      throw new UsageError("Nothing to change. See: larder user set --help");
    }
    const { password: _secret, ...told } = changes;
    const details = {
      ...told,
      ...(password !== undefined && { password: "changed" }),
      ...(endsTwoFactor && { twoFactor: "off" }),
      ...(endsKeys && { endKeys: true }),
    };
    const user = await withServices(loaded, context, async (services) => {
      const { id } = findUser(services.users, email);
      return changeAccount(services, id, changes, (tx, present) => {
        if (endsTwoFactor) services.twoFactor.disable(tx, present);
        if (endsKeys) services.apiKeys.revokeAll(tx, id);
        services.audit.write(tx, commandEntry("user.change", present, details));
      });
    });
    const state = user.disabledAtMs === null ? "" : ", disabled";
    printUser(command, context, user, `Changed ${user.email}: role ${user.role}, plan ${user.plan}${state}.`);
    return EXIT.fine;
  });
}

function defineList(command: Command, context: CommandContext): void {
  command.option("--json", "Print the accounts as a JSON array.");
  addSettings(command, DATA_SETTINGS);
  describeEnd(command, "larder user list --json");
  runs(command, async () => {
    const loaded = readConfig(command, context);
    requireDatabase(loaded.config);
    const users = await withServices(loaded, context, async (services) => services.users.list());
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
    context.terminal.out(hasOption(command, "json") ? toJson(users.map(present)) : toTable([heading, ...rows]));
    return EXIT.fine;
  });
}

function defineToken(command: Command, context: CommandContext): void {
  command
    .description(
      "Sign in as an account and print the session token, the same as over HTTP. It is valid for tokenLifetime.",
    )
    .option("--json", "Print {token, expiresIn, user} as JSON.");
  addSettings(command, [...DATA_SETTINGS, "tokenLifetime"]);
  describeEnd(
    command,
    'curl -H "Authorization: Bearer $(larder user token anna@example.org)" http://127.0.0.1:8790/api/files',
  );
  runs(command, async ([email = ""]) => {
    const loaded = readConfig(command, context);
    requireDatabase(loaded.config);
    const { user, token } = await withServices(loaded, context, async ({ users, auth, audit }) => {
      const user = findUser(users, email);
      if (user.disabledAtMs !== null) {
        throw new AppError(
          "account_disabled",
          `${user.email} is disabled. To enable it: larder user set ${user.email} --enable`,
        );
      }
      await audit.record(commandEntry("user.token", user));
      return { user, token: (await auth.issueToken(user, "cli")).token };
    });
    const expiresIn = formatDuration(loaded.config.tokenLifetimeMs);
    context.terminal.out(hasOption(command, "json") ? toJson({ token, expiresIn, user: present(user) }) : `${token}\n`);
    return EXIT.fine;
  });
}

function defineSetupLink(command: Command, context: CommandContext): void {
  command.description(
    "Print a one-time link to the page that creates the first administrator. It is valid for 24 hours; " +
      "earlier links stop working.",
  );
  addSettings(command, [...DATA_SETTINGS, "host", "port", "basePath", "publicUrl"]);
  describeEnd(command, "larder user setup-link", "an administrator already exists");
  runs(command, async () => {
    const loaded = readConfig(command, context);
    requireDatabase(loaded.config);
    const { publicUrl, port } = loaded.config;
    if (publicUrl === null && port === 0) {
      throw new UsageError("The port is 0 (any free port). Set the actual port with --port.");
    }
    const token = await withServices(loaded, context, async ({ auth, audit }) => {
      const made = await auth.newSetupToken();
      if (made !== undefined) await audit.record(commandEntry("setup_link", undefined));
      return made;
    });
    if (token === undefined) {
      throw new AppError(
        "signup_closed",
        "An administrator already exists. To add another: larder user add EMAIL --admin --password-stdin",
      );
    }
    context.terminal.out(`${publicUrl ?? listenAddress(loaded.config, port)}/setup?token=${token}\n`);
    return EXIT.fine;
  });
}

function defineResetLink(command: Command, context: CommandContext): void {
  command.description(
    "Print a one-time link to the page where the user sets a new password. It is valid for 30 minutes; " +
      "earlier links stop working. API keys and two-factor authentication stay as they are.",
  );
  addSettings(command, [...DATA_SETTINGS, "host", "port", "basePath", "publicUrl"]);
  describeEnd(command, "larder user reset-link anna@example.org");
  runs(command, async ([email = ""]) => {
    const loaded = readConfig(command, context);
    requireDatabase(loaded.config);
    const { publicUrl, port } = loaded.config;
    if (publicUrl === null && port === 0) {
      throw new UsageError("The port is 0 (any free port). Set the actual port with --port.");
    }
    const token = await withServices(loaded, context, async ({ users, passwordReset, audit }) => {
      const user = findUser(users, email);
      await audit.record(commandEntry("user.reset_link", user));
      return passwordReset.issueNow(user.id);
    });
    context.terminal.out(`${resetLink(publicUrl ?? listenAddress(loaded.config, port), token)}\n`);
    return EXIT.fine;
  });
}

function defineInvite(command: Command, context: CommandContext): void {
  command
    .description(
      "Print an invite link, valid for one new account and, by default, for 7 days. If mail is configured and the server " +
        "is running, the link is also sent to --email.",
    )
    .option("--email <email>", "Only this email address can use the invite.")
    .option(`--plan <${PLAN_NAMES.join("|")}>`, "Plan of the account.")
    .option(`--role <${ROLES.join("|")}>`, "Role of the account.")
    .option("--admin", "Same as --role admin.")
    .option("--expires <duration>", "How long the invite is valid, such as 2d. (default: 7d)")
    .option("--json", "Print {id, invite, url, expiresAt} as JSON.");
  addSettings(command, [...DATA_SETTINGS, "host", "port", "basePath", "publicUrl"]);
  describeEnd(command, "larder user invite --email anna@example.org --role viewer --expires 2d");
  runs(command, async () => {
    const loaded = readConfig(command, context);
    requireDatabase(loaded.config);
    const { publicUrl, port } = loaded.config;
    if (publicUrl === null && port === 0) {
      throw new UsageError("The port is 0 (any free port). Set the actual port with --port.");
    }
    const base = publicUrl ?? listenAddress(loaded.config, port);
    const lifetimeMs = readLifetime(command);
    const asked = {
      email: optionText(command, "email"),
      role: readRole(command) ?? "user",
      plan: readPlan(command),
      ...(lifetimeMs !== undefined && { expiresAtMs: Date.now() + lifetimeMs }),
    };
    const { email = null, role, plan = null } = asked;
    const { invite, token, url } = await withServices(loaded, context, ({ invites, audit }) =>
      invites.add(
        asked,
        (token) => `${base}/invite?token=${token}`,
        (tx, { publicId }) =>
          audit.write(
            tx,
            commandEntry("invite.create", undefined, { email, role, plan }, { type: "invite", id: publicId }),
          ),
      ),
    );
    const expiresAt = toTimestamp(invite.expiresAtMs);
    context.terminal.out(
      hasOption(command, "json") ? toJson({ id: invite.publicId, invite: token, url, expiresAt }) : `${url}\n`,
    );
    return EXIT.fine;
  });
}

function defineErase(command: Command, context: CommandContext): void {
  command
    .description(
      "Delete an account with all its files, links, and devices permanently. Disk space is freed after gcGrace.",
    )
    .option("--yes", "Confirm. Without this option, nothing is deleted.");
  addSettings(command, DATA_SETTINGS);
  describeEnd(command, "larder user erase anna@example.org --yes");
  runs(command, async ([email = ""]) => {
    const loaded = readConfig(command, context);
    requireDatabase(loaded.config);
    const user = await withServices(loaded, context, async ({ users, audit, eraseAccount }) => {
      const found = findUser(users, email);
      if (!hasOption(command, "yes")) {
        throw new UsageError(`This permanently deletes ${found.email} and all its files. To confirm, add --yes.`);
      }
      await eraseAccount(found);
      await audit.record(commandEntry("user.erase", found, { email: found.email }));
      return found;
    });
    context.terminal.out(`Deleted ${user.email} (${user.publicId}).\n`);
    return EXIT.fine;
  });
}

function defineLinkOidc(command: Command, context: CommandContext): void {
  command.description(
    "Link an account to a user of the OpenID Connect provider (oidc.issuer). The subject is the claim sub of that user.",
  );
  addSettings(command, [...DATA_SETTINGS, "oidc.issuer", "oidc.clientId"]);
  describeEnd(command, "larder user link-oidc anna@example.org 5f2b6c1e-0d7a-4a57-9a3e-2f1d8c9b7e60");
  runs(command, async ([email = "", subject = ""]) => {
    const loaded = readConfig(command, context);
    requireDatabase(loaded.config);
    const user = await withServices(loaded, context, async ({ users, oidc, audit }) => {
      if (oidc === undefined)
        throw new UsageError("No OpenID Connect provider is configured. Set oidc.issuer and oidc.clientId.");
      const found = findUser(users, email);
      await oidc.identities.linkSubject(found.id, subject, (tx) =>
        audit.write(tx, commandEntry("identity.link", found, { subject })),
      );
      return found;
    });
    context.terminal.out(`Linked ${user.email} to subject ${subject} of ${loaded.config.oidc.issuer ?? ""}.\n`);
    return EXIT.fine;
  });
}

function findUser(users: CommandServices["users"], email: string): User {
  const user = users.findByEmail(email);
  if (user !== undefined) return user;
  throw new AppError("not_found", `No account found for ${email}. To list accounts: larder user list`);
}

function addAccountOptions(command: Command): Command {
  command
    .option("--name <name>", "Name of the user.")
    .option(`--plan <${PLAN_NAMES.join("|")}>`, "Plan of the account.")
    .option(`--role <${ROLES.join("|")}>`, "Role of the account.")
    .option("--admin", "Same as --role admin.")
    .option("--quota <size|none|plan>", "Storage quota: bytes, a size such as 50GB, none, or the quota of the plan.")
    .option("--password-stdin", "Read the password from standard input.")
    .option("--password-file <file>", "Read the password from this file.")
    .option("--json", "Print the account as JSON.");
  addSettings(command, [...DATA_SETTINGS, "defaultPlan"]);
  return command;
}

async function withServices<T>(
  loaded: LoadedConfig,
  { terminal }: CommandContext,
  work: (services: CommandServices) => Promise<T>,
): Promise<T> {
  printWarnings(loaded, terminal);
  const services = await openForCommand(
    loaded.config,
    createLog("pretty", "warn", (line) => terminal.error(line)),
  );
  try {
    return await work(services);
  } finally {
    await services.close();
  }
}

function printUser(command: Command, { terminal }: CommandContext, user: User, text: string): void {
  terminal.out(hasOption(command, "json") ? toJson(present(user)) : `${text}\n`);
}

/** An account as scripts see it, named as the API does. `quota` is null for none and absent where the plan's holds. */
function present(user: User) {
  return {
    id: user.publicId,
    email: user.email,
    name: user.name,
    role: user.role,
    plan: user.plan,
    ...(user.quotaBytes !== undefined && { quota: user.quotaBytes }),
    disabled: user.disabledAtMs !== null,
    emailVerified: user.isEmailUnconfirmed !== true,
    createdAt: toTimestamp(user.createdAtMs),
  };
}

function describeQuota({ quotaBytes }: User): string {
  if (quotaBytes === undefined) return "plan";
  return quotaBytes === null ? "none" : formatSize(quotaBytes);
}

async function readPassword(command: Command, { terminal }: CommandContext): Promise<string | undefined> {
  const file = optionText(command, "passwordFile");
  const isFromInput = hasOption(command, "passwordStdin");
  if (isFromInput && file !== undefined)
    throw new UsageError("Use either --password-stdin or --password-file, not both.");
  if (file !== undefined) return readPasswordFile(file);
  if (!isFromInput) return undefined;
  if (terminal.isInteractive)
    terminal.error("Type the password, then press Enter and Ctrl+D. The password is visible while you type.\n");
  return withoutLineBreak(await terminal.readInput());
}

function readName(command: Command): { name?: string } {
  const name = optionText(command, "name");
  return name === undefined ? {} : { name };
}

function readPlan(command: Command): PlanName | undefined {
  return readWord("--plan", optionText(command, "plan"), PLAN_NAMES);
}

function readRole(command: Command): Role | undefined {
  const role = readWord("--role", optionText(command, "role"), ROLES);
  if (!hasOption(command, "admin")) return role;
  if (role !== undefined && role !== "admin") throw new UsageError(`Use either --admin or --role ${role}, not both.`);
  return "admin";
}

function readWord<W extends string>(flag: string, word: string | undefined, words: readonly W[]): W | undefined {
  if (word === undefined) return undefined;
  const found = words.find((known) => known === word);
  if (found === undefined) throw new UsageError(`${flag} must be one of: ${words.join(", ")}, not "${word}".`);
  return found;
}

function readNewQuota(command: Command): { quotaBytes?: number | null } {
  const { quotaBytes } = readQuota(command);
  return quotaBytes === undefined || quotaBytes === "plan" ? {} : { quotaBytes };
}

function readLifetime(command: Command): number | undefined {
  const text = optionText(command, "expires");
  if (text === undefined) return undefined;
  const lifetimeMs = parseDuration(text);
  if (lifetimeMs === undefined || lifetimeMs <= 0) {
    throw new UsageError(`--expires must be a duration such as 12h or 7d, not "${text}".`);
  }
  return lifetimeMs;
}

function readQuota(command: Command): { quotaBytes?: number | "plan" | null } {
  const text = optionText(command, "quota");
  if (text === undefined) return {};
  if (text === "plan") return { quotaBytes: "plan" };
  if (text === "none" || text === "unlimited") return { quotaBytes: null };
  const quotaBytes = parseSize(text);
  if (quotaBytes === undefined)
    throw new UsageError(`--quota must be a number of bytes, a size such as 50GB, none, or plan, not "${text}".`);
  return { quotaBytes };
}

function readDisabled(command: Command): boolean | undefined {
  const [isDisabled, isEnabled] = [hasOption(command, "disable"), hasOption(command, "enable")];
  if (isDisabled && isEnabled) throw new UsageError("Use either --disable or --enable, not both.");
  return isDisabled || isEnabled ? isDisabled : undefined;
}
