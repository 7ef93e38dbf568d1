import type { Command } from "commander";
import type { LoadedConfig } from "../../config/load.ts";
import { formatSize, parseDuration, parseSize } from "../../config/quantities.ts";
import { readPasswordFile, withoutLineEnd } from "../../config/secrets.ts";
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
  PLACE_SETTINGS,
  readConfig,
  requireDatabase,
  runs,
  tellWarnings,
  UsageError,
} from "../shared/command.ts";
import { toJson, toTable } from "../shared/output.ts";

/** `larder user add|set|list|token|reset-link|link-oidc|invite|erase|setup-link`: accounts, beside a running server or without one. */
export function define(command: Command, context: CommandContext): void {
  command.description("Add, change and list accounts. Works beside a running server and takes effect at once.");
  describeEnd(command, "echo 'correct horse battery' | larder user add anna@example.org --admin --password-stdin");
  defineAdd(command.command("add <email>").summary("Make an account."), context);
  defineSet(command.command("set <email>").summary("Change an account."), context);
  defineList(command.command("list").summary("List all accounts."), context);
  defineToken(command.command("token <email>").summary("Sign an account in, for a script."), context);
  defineResetLink(command.command("reset-link <email>").summary("Make a link to set a new password."), context);
  defineInvite(command.command("invite").summary("Invite somebody to make an account."), context);
  defineErase(command.command("erase <email>").summary("Delete an account with all its files."), context);
  defineLinkOidc(
    command.command("link-oidc <email> <subject>").summary("Let a provider's user enter an account."),
    context,
  );
  defineSetupLink(command.command("setup-link").summary("Make a new link to the set-up page."), context);
}

function defineAdd(command: Command, context: CommandContext): void {
  command.description(
    "Make an account. The password comes from standard input or a file, never from the command line.",
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
      throw new UsageError("A new account needs a password. Give --password-stdin, or --password-file FILE.");
    }
    const user = await withServices(loaded, context, ({ users, audit }) =>
      users.add({ ...input, password, ...readNewQuota(command), isByAdministrator: true }, (tx, id) =>
        audit.write(tx, commandEntry("user.create", users.findById(id), { role: input.role, plan: input.plan })),
      ),
    );
    tellUser(command, context, user, `Added ${user.email} (${user.publicId}), role ${user.role}, plan ${user.plan}.`);
    return EXIT.fine;
  });
}

function defineSet(command: Command, context: CommandContext): void {
  command.description(
    "Change an account: what isn't named stays. A new password, and disabling, end all of its sessions. " +
      "The last enabled administrator stays one.",
  );
  addAccountOptions(command)
    .option("--disable", "nobody can sign in to it any more; its files stay")
    .option("--enable", "the opposite")
    .option("--confirm-email", "its e-mail is the owner's: shares that wait for it open, and mail.verify asks no more")
    .option("--end-keys", "with a new password: API keys end too")
    .option("--no-two-factor", "sign-in asks for the password alone: for who lost their second factor");
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
    if (endsKeys && password === undefined) throw new UsageError("--end-keys goes with a new password. Give one.");
    if (Object.keys(changes).length === 0 && !endsTwoFactor) {
      throw new UsageError("Nothing to change was given. See: larder user set --help");
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
    tellUser(command, context, user, `Changed ${user.email}: role ${user.role}, plan ${user.plan}${state}.`);
    return EXIT.fine;
  });
}

function defineList(command: Command, context: CommandContext): void {
  command.option("--json", "as a JSON array");
  addSettings(command, PLACE_SETTINGS);
  describeEnd(command, "larder user list --json");
  runs(command, async () => {
    const loaded = readConfig(command, context);
    requireDatabase(loaded.config);
    const users = await withServices(loaded, context, async (services) => services.users.list());
    const heading = ["E-MAIL", "NAME", "ROLE", "PLAN", "QUOTA", "STATE", "SINCE", "ID"];
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
    .description("Sign an account in and print its token, as sign-in over HTTP gives it. It lasts for tokenLifetime.")
    .option("--json", "as {token, expiresIn, user}");
  addSettings(command, [...PLACE_SETTINGS, "tokenLifetime"]);
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
          `${user.email} is disabled. Run: larder user set ${user.email} --enable`,
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
    "Print a new one-time link to the page that makes the first administrator. It lasts for 24 hours; " +
      "earlier links no longer work.",
  );
  addSettings(command, [...PLACE_SETTINGS, "host", "port", "basePath", "publicUrl"]);
  describeEnd(command, "larder user setup-link", "there is an administrator already");
  runs(command, async () => {
    const loaded = readConfig(command, context);
    requireDatabase(loaded.config);
    const { publicUrl, port } = loaded.config;
    if (publicUrl === null && port === 0) {
      throw new UsageError("Port 0 is any port. Give the one that the server listens on by --port.");
    }
    const token = await withServices(loaded, context, async ({ auth, audit }) => {
      const made = await auth.newSetupToken();
      if (made !== undefined) await audit.record(commandEntry("setup_link", undefined));
      return made;
    });
    if (token === undefined) {
      throw new AppError(
        "signup_closed",
        "There is an administrator already. Make another one by: larder user add EMAIL --admin --password-stdin",
      );
    }
    context.terminal.out(`${publicUrl ?? listenAddress(loaded.config, port)}/setup?token=${token}\n`);
    return EXIT.fine;
  });
}

function defineResetLink(command: Command, context: CommandContext): void {
  command.description(
    "Print a one-time link to the page on which the account's owner sets a new password. It lasts for 30 minutes; " +
      "earlier links no longer work. API keys and two-factor sign-in stay as they are.",
  );
  addSettings(command, [...PLACE_SETTINGS, "host", "port", "basePath", "publicUrl"]);
  describeEnd(command, "larder user reset-link anna@example.org");
  runs(command, async ([email = ""]) => {
    const loaded = readConfig(command, context);
    requireDatabase(loaded.config);
    const { publicUrl, port } = loaded.config;
    if (publicUrl === null && port === 0) {
      throw new UsageError("Port 0 is any port. Give the one that the server listens on by --port.");
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
      "Print a link by which somebody makes one account, once. It lasts for 7 days unless said otherwise. Where mail is " +
        "configured and the server runs, it is sent to --email too.",
    )
    .option("--email <email>", "the only address that it is good for")
    .option("--plan <plan>", PLAN_NAMES.join(", "))
    .option("--role <role>", ROLES.join(", "))
    .option("--admin", "the same as --role admin")
    .option("--expires <time>", 'how long it lasts, such as "2d"')
    .option("--json", "as {id, invite, url, expiresAt}");
  addSettings(command, [...PLACE_SETTINGS, "host", "port", "basePath", "publicUrl"]);
  describeEnd(command, "larder user invite --email anna@example.org --role viewer --expires 2d");
  runs(command, async () => {
    const loaded = readConfig(command, context);
    requireDatabase(loaded.config);
    const { publicUrl, port } = loaded.config;
    if (publicUrl === null && port === 0) {
      throw new UsageError("Port 0 is any port. Give the one that the server listens on by --port.");
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
      "Delete an account with all its files, links and devices, for good. Its bytes wait in the store for gcGrace.",
    )
    .option("--yes", "without it nothing is deleted");
  addSettings(command, PLACE_SETTINGS);
  describeEnd(command, "larder user erase anna@example.org --yes");
  runs(command, async ([email = ""]) => {
    const loaded = readConfig(command, context);
    requireDatabase(loaded.config);
    const user = await withServices(loaded, context, async ({ users, audit, eraseAccount }) => {
      const found = findUser(users, email);
      if (!hasOption(command, "yes")) {
        throw new UsageError(`This deletes ${found.email} and all its files for good. Add --yes to do it.`);
      }
      await eraseAccount(found);
      await audit.record(commandEntry("user.erase", found, { email: found.email }));
      return found;
    });
    context.terminal.out(`Erased ${user.email} (${user.publicId}).\n`);
    return EXIT.fine;
  });
}

function defineLinkOidc(command: Command, context: CommandContext): void {
  command.description(
    "Let whoever signs in at the OpenID Connect provider (oidc.issuer) as this subject (claim sub) enter an account.",
  );
  addSettings(command, [...PLACE_SETTINGS, "oidc.issuer", "oidc.clientId"]);
  describeEnd(command, "larder user link-oidc anna@example.org 5f2b6c1e-0d7a-4a57-9a3e-2f1d8c9b7e60");
  runs(command, async ([email = "", subject = ""]) => {
    const loaded = readConfig(command, context);
    requireDatabase(loaded.config);
    const user = await withServices(loaded, context, async ({ users, oidc, audit }) => {
      if (oidc === undefined) throw new UsageError("No provider is set up. Set oidc.issuer and oidc.clientId.");
      const found = findUser(users, email);
      await oidc.identities.linkSubject(found.id, subject, (tx) =>
        audit.write(tx, commandEntry("identity.link", found, { subject })),
      );
      return found;
    });
    context.terminal.out(
      `${user.email} can now be entered by ${loaded.config.oidc.issuer ?? ""}, subject ${subject}.\n`,
    );
    return EXIT.fine;
  });
}

function findUser(users: CommandServices["users"], email: string): User {
  const user = users.findByEmail(email);
  if (user !== undefined) return user;
  throw new AppError("not_found", `There is no account with the e-mail ${email}. See: larder user list`);
}

function addAccountOptions(command: Command): Command {
  command
    .option("--name <name>", "the person's name")
    .option("--plan <plan>", PLAN_NAMES.join(", "))
    .option("--role <role>", ROLES.join(", "))
    .option("--admin", "the same as --role admin")
    .option("--quota <bytes>", 'bytes or a size such as 50GB that the account may hold, "none", or "plan"')
    .option("--password-stdin", "read the password from standard input")
    .option("--password-file <file>", "read the password from this file")
    .option("--json", "print the account as JSON");
  addSettings(command, [...PLACE_SETTINGS, "defaultPlan"]);
  return command;
}

async function withServices<T>(
  loaded: LoadedConfig,
  { terminal }: CommandContext,
  work: (services: CommandServices) => Promise<T>,
): Promise<T> {
  tellWarnings(loaded, terminal);
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

function tellUser(command: Command, { terminal }: CommandContext, user: User, text: string): void {
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
  if (quotaBytes === undefined) return "plan's";
  return quotaBytes === null ? "none" : formatSize(quotaBytes);
}

async function readPassword(command: Command, { terminal }: CommandContext): Promise<string | undefined> {
  const file = optionText(command, "passwordFile");
  const isFromInput = hasOption(command, "passwordStdin");
  if (isFromInput && file !== undefined) throw new UsageError("Give --password-stdin or --password-file, not both.");
  if (file !== undefined) return readPasswordFile(file);
  if (!isFromInput) return undefined;
  if (terminal.isInteractive) terminal.error("Type the password, then Enter and Ctrl+D. It is shown while you type.\n");
  return withoutLineEnd(await terminal.readInput());
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
  if (role !== undefined && role !== "admin") throw new UsageError(`--admin and --role ${role} contradict each other.`);
  return "admin";
}

function readWord<W extends string>(flag: string, word: string | undefined, words: readonly W[]): W | undefined {
  if (word === undefined) return undefined;
  const found = words.find((known) => known === word);
  if (found === undefined) throw new UsageError(`${flag} must be one of: ${words.join(", ")}; not "${word}".`);
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
    throw new UsageError(`--expires must be a length of time such as 12h or 7d; not "${text}".`);
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
    throw new UsageError(`--quota must be bytes, a size such as 50GB, none, or plan; not "${text}".`);
  return { quotaBytes };
}

function readDisabled(command: Command): boolean | undefined {
  const [isDisabled, isEnabled] = [hasOption(command, "disable"), hasOption(command, "enable")];
  if (isDisabled && isEnabled) throw new UsageError("--disable and --enable contradict each other.");
  return isDisabled || isEnabled ? isDisabled : undefined;
}
