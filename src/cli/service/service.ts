import * as fs from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { StartupError } from "../../config/startup-error.ts";
import {
  type CommandDefinition,
  type DefineCommand,
  defineCommand,
  EXIT,
  type ExitCode,
  type RunningCommand,
  UsageError,
} from "../shared/command.ts";
import type { Terminal } from "../shared/output.ts";
import { STATE_DIRECTORY, unitText } from "./systemd-unit.ts";
import { messageOf } from "../../lib/error.ts";

const UNIT = "larder.service";
const ACCOUNT = "larder";
/** The service has its own temporary directories (PrivateTmp), so it would not find an executable there. */
const TEMPORARY = /^\/(tmp|var\/tmp)(\/|$)/;

type Options = NonNullable<CommandDefinition["options"]>;

const USER_OPTIONS: Options = [
  [
    "--user",
    "Use the systemd instance of the current user. Needs no root; runs while the user is signed in or lingers.",
  ],
];
const UNIT_OPTIONS: Options = [
  ...USER_OPTIONS,
  ["--data <dir>", `Data directory. (default: ${STATE_DIRECTORY}; with --user ~/.local/share/larder)`],
  [
    "--standby",
    "Run larder standby, for a store with a replica that two machines share: the owner serves, the other one waits.",
  ],
  ["--account <name>", `System user that runs the server; created if missing. (default: ${ACCOUNT})`],
];
const CHANGE_OPTIONS: Options = [
  ...UNIT_OPTIONS,
  ["--dry-run", "Print what would be done without doing it."],
  ["--root <dir>", "Write only the files, to the file system of another machine mounted at this directory."],
];

/** `larder service install | uninstall | status | print`: runs the server as a systemd service. */
export const define = defineCommand({
  description: "Run the server as a systemd service that starts with the machine and has its own system user.",
  examples: "sudo larder service install --data /srv/disk/larder\nlarder service install --user\nlarder service status",
  problems: "the service is not installed or not running",
  subcommands: [
    subcommand(
      "install",
      "Write the systemd unit for this executable, enable it, and start it.",
      CHANGE_OPTIONS,
      install,
    ),
    subcommand(
      "uninstall",
      "Stop the service and remove its unit. The data and the system user are kept.",
      CHANGE_OPTIONS,
      uninstall,
    ),
    subcommand("status", "Show whether the unit is installed and the service is running.", USER_OPTIONS, status),
    subcommand("print", "Print the systemd unit.", UNIT_OPTIONS, (plan, terminal) => terminal.out(renderUnit(plan))),
  ],
});

function subcommand(
  name: string,
  description: string,
  options: Options,
  work: (plan: ServicePlan, terminal: Terminal) => ExitCode | void,
): readonly [string, string, DefineCommand] {
  const define = defineCommand({
    description,
    options,
    examples: `larder service ${name}`,
    run(command, args) {
      if (args.length > 0) throw new UsageError(`larder service ${name} takes options only, no arguments.`);
      return work(readPlan(command), command.terminal);
    },
  });
  return [name, description, define];
}

/** The paths and the user of the service. */
interface ServicePlan {
  readonly isUser: boolean;
  readonly isDry: boolean;
  /** Empty for the file system of this machine. */
  readonly root: string;
  readonly executable: string;
  readonly data: string;
  readonly isStandby: boolean;
  readonly account: string;
  readonly unitPath: string;
  /** The symbolic link that makes the unit start with the machine. */
  readonly startLinkPath: string;
  /** The file that makes systemd create the account (sysusers.d(5)). */
  readonly accountPath: string;
}

function readPlan(command: RunningCommand): ServicePlan {
  const { environment } = command;
  const isUser = command.has("user");
  const home = environment["HOME"] ?? homedir();
  const data = command.text("data");
  const root = command.text("root");
  const account = command.text("account") ?? ACCOUNT;
  if (!/^[a-z_][a-z0-9_-]{0,30}$/.test(account))
    throw new UsageError(`"${account}" is not a valid name for a system user.`);
  const units = isUser
    ? join(environment["XDG_CONFIG_HOME"] ?? join(home, ".config"), "systemd/user")
    : "/etc/systemd/system";
  const dataHome = environment["XDG_DATA_HOME"] ?? join(home, ".local/share");
  return {
    isUser,
    isDry: command.has("dryRun"),
    root: root === undefined ? "" : command.path(root),
    executable: executable(),
    data: data === undefined ? (isUser ? join(dataHome, "larder") : STATE_DIRECTORY) : command.path(data),
    isStandby: command.has("standby"),
    account,
    unitPath: join(units, UNIT),
    startLinkPath: join(units, isUser ? "default.target.wants" : "multi-user.target.wants", UNIT),
    accountPath: "/etc/sysusers.d/larder.conf",
  };
}

/** The path of this program. */
function executable(): string {
  return Bun.isStandaloneExecutable ? fs.realpathSync(process.execPath) : "/usr/local/bin/larder";
}

function renderUnit({ isUser, executable, data, isStandby, account }: ServicePlan): string {
  return unitText({ executable, data, isStandby, account: isUser ? undefined : account });
}

function install(plan: ServicePlan, terminal: Terminal): ExitCode {
  rejectHiddenPaths(plan);
  const changes = new SystemChanges(plan, terminal);
  const isChanged = changes.write(plan.unitPath, renderUnit(plan));
  if (!plan.isUser && !hasAccount(plan)) {
    const line = `u ${plan.account} - "Larder" ${STATE_DIRECTORY} /usr/sbin/nologin\n`;
    changes.write(plan.accountPath, line);
    changes.run(["systemd-sysusers", plan.accountPath]);
  }
  if (plan.isUser || plan.data !== STATE_DIRECTORY) createData(plan, changes);
  if (plan.root !== "") {
    changes.link(plan.unitPath, plan.startLinkPath);
    terminal.out("Done. The service starts when that machine starts.\n");
    return EXIT.success;
  }
  changes.systemctl("daemon-reload");
  changes.systemctl("enable", UNIT);
  changes.systemctl(isChanged ? "restart" : "start", UNIT);
  if (plan.isDry) return EXIT.success;
  const scope = plan.isUser ? "--user " : "";
  terminal.out(
    `Larder is running and starts with the machine. To see its log, with the link to create the first account: journalctl ${scope}-u larder\n` +
      (plan.isUser ? "To keep it running while you are signed out: loginctl enable-linger\n" : ""),
  );
  return EXIT.success;
}

function uninstall(plan: ServicePlan, terminal: Terminal): ExitCode {
  const changes = new SystemChanges(plan, terminal);
  const isInstalled = fs.existsSync(plan.root + plan.unitPath);
  if (!isInstalled) {
    terminal.out(`${plan.root}${plan.unitPath} does not exist. Nothing to do.\n`);
    return EXIT.success;
  }
  if (plan.root === "") changes.systemctl("disable", "--now", UNIT);
  else changes.remove(plan.startLinkPath);
  changes.remove(plan.unitPath);
  if (!plan.isUser) changes.remove(plan.accountPath);
  if (plan.root === "") changes.systemctl("daemon-reload");
  terminal.out(`Removed the service. The data${plan.isUser ? " was" : " and the system user were"} kept.\n`);
  return EXIT.success;
}

function status(plan: ServicePlan, terminal: Terminal): ExitCode {
  const isInstalled = fs.existsSync(plan.unitPath);
  terminal.out(
    isInstalled
      ? `The unit is installed: ${plan.unitPath}\n`
      : "The unit is not installed. To install it: larder service install\n",
  );
  if (!isInstalled) return EXIT.problems;
  const result = Bun.spawnSync(["systemctl", ...(plan.isUser ? ["--user"] : []), "is-active", UNIT], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const state = result.stdout.toString().trim() || result.stderr.toString().trim();
  terminal.out(`The service is ${state === "" ? "unknown to systemd" : state}.\n`);
  return result.success ? EXIT.success : EXIT.problems;
}

/** @throws StartupError if the service could not see its executable or data, or this program runs from source */
function rejectHiddenPaths({ executable, data, isUser, root, isDry }: ServicePlan): void {
  if (!Bun.isStandaloneExecutable && root === "" && !isDry) {
    throw new StartupError(
      "Cannot install a service that runs from source. Build the executable first (scripts/build), then run: dist/larder service install",
    );
  }
  const paths = root === "" ? [executable, data] : [data];
  for (const path of isUser ? [] : paths) {
    if (!TEMPORARY.test(path)) continue;
    throw new StartupError(
      `${path} is in a temporary directory that the service cannot access. ` +
        "Move it first, for example: install -m 755 larder /usr/local/bin/larder",
    );
  }
}

function hasAccount({ root, account }: ServicePlan): boolean {
  const path = join(root, "/etc/passwd");
  return fs.existsSync(path) && new RegExp(`^${account}:`, "m").test(fs.readFileSync(path, "utf8"));
}

/** Creates the data directory, accessible only by the account. An existing one does not change. */
function createData(plan: ServicePlan, changes: SystemChanges): void {
  if (fs.existsSync(plan.root + plan.data)) return;
  const owner = plan.isUser || plan.root !== "" ? [] : ["-o", plan.account, "-g", plan.account];
  const path = plan.root + plan.data;
  changes.run(["install", "-d", "-m", "700", ...owner, path], true);
}

/** Makes changes to the system, or prints them with --dry-run. */
class SystemChanges {
  readonly #plan: ServicePlan;
  readonly #terminal: Terminal;

  constructor(plan: ServicePlan, terminal: Terminal) {
    this.#plan = plan;
    this.#terminal = terminal;
  }

  /** @returns whether the file changed @throws StartupError */
  write(path: string, text: string): boolean {
    const file = this.#plan.root + path;
    if (fs.existsSync(file) && fs.readFileSync(file, "utf8") === text) {
      this.#terminal.out(`${file} is up to date.\n`);
      return false;
    }
    this.#do(`write ${file}`, () => {
      fs.mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
      fs.writeFileSync(`${file}.partial`, text, { mode: 0o644, flush: true });
      // Independent of the umask: systemd and other users must be able to read the file.
      fs.chmodSync(`${file}.partial`, 0o644);
      fs.renameSync(`${file}.partial`, file);
    });
    return true;
  }

  remove(path: string): void {
    const file = this.#plan.root + path;
    this.#do(`remove ${file}`, () => fs.rmSync(file, { force: true }));
  }

  link(target: string, path: string): void {
    const file = this.#plan.root + path;
    this.#do(`link ${file} to ${target}`, () => {
      fs.mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
      fs.rmSync(file, { force: true });
      fs.symlinkSync(target, file);
    });
  }

  systemctl(...command: string[]): void {
    this.run(["systemctl", ...(this.#plan.isUser ? ["--user"] : []), ...command]);
  }

  /** Runs a system program; with --root only if `isForFiles`. @throws StartupError with its error output */
  run(command: string[], isForFiles = false): void {
    if (this.#plan.root !== "" && !isForFiles) return;
    this.#do(command.join(" "), () => {
      const result = Bun.spawnSync(command, { stdout: "inherit", stderr: "pipe" });
      if (result.success) return;
      throw new StartupError(`"${command.join(" ")}" failed: ${result.stderr.toString().trim()}`);
    });
  }

  #do(what: string, change: () => void): void {
    if (this.#plan.isDry) {
      this.#terminal.out(`would ${/^(write|remove|link) /.test(what) ? "" : "run: "}${what}\n`);
      return;
    }
    try {
      change();
    } catch (error) {
      if (error instanceof StartupError) throw error;
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      const why = messageOf(error);
      if (code === "ENOENT")
        throw new StartupError(`Could not ${what}: systemd was not found on this machine (${why}).`);
      if (code !== "EACCES" && code !== "EPERM" && code !== "EROFS") throw error;
      const help = this.#plan.isUser
        ? ""
        : " Run the command as root (sudo), or install for the current user: larder service install --user";
      throw new StartupError(`Could not ${what}: ${why}.${help}`);
    }
    this.#terminal.out(`${what}\n`);
  }
}
