import * as fs from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import { StartupError } from "../../config/startup-error.ts";
import {
  type CommandContext,
  describeEnd,
  EXIT,
  type ExitCode,
  hasOption,
  optionText,
  runs,
  UsageError,
} from "../shared/command.ts";
import type { Terminal } from "../shared/output.ts";
import { STATE_DIRECTORY, unitText } from "./systemd-unit.ts";

const UNIT = "larder.service";
const ACCOUNT = "larder";
/** Where an executable would be hidden from the service, which has such directories of its own. */
const TEMPORARY = /^\/(tmp|var\/tmp)(\/|$)/;

/** `larder service install | uninstall | status | print`: the server as a service of systemd. */
export function define(command: Command, context: CommandContext): void {
  command.description("Run the server as a systemd service that starts with the machine and has its own system user.");
  describeEnd(
    command,
    "sudo larder service install --data /srv/disk/larder\nlarder service install --user\nlarder service status",
    "the service is not installed or not running",
  );
  const add = (name: string, description: string, work: (plan: Plan, terminal: Terminal) => ExitCode) => {
    const sub = command.command(name).summary(description).description(description);
    sub.option(
      "--user",
      "Use the systemd instance of the current user. Needs no root; runs while the user is signed in or lingers.",
    );
    if (name !== "status") {
      sub.option("--data <dir>", `Data directory. (default: ${STATE_DIRECTORY}; with --user ~/.local/share/larder)`);
      sub.option("--account <name>", `System user that runs the server; created if missing. (default: ${ACCOUNT})`);
    }
    if (name === "install" || name === "uninstall") {
      sub.option("--dry-run", "Print what would be done without doing it.");
      sub.option(
        "--root <dir>",
        "Write only the files, to the file system of another machine mounted at this directory.",
      );
    }
    describeEnd(sub, `larder service ${name}`);
    runs(sub, (args, given) => {
      if (args.length > 0) throw new UsageError(`larder service ${name} takes options only, no arguments.`);
      return Promise.resolve(work(planOf(given, context), context.terminal));
    });
  };
  add("install", "Write the systemd unit for this executable, enable it, and start it.", install);
  add("uninstall", "Stop the service and remove its unit. The data and the system user are kept.", uninstall);
  add("status", "Show whether the unit is installed and the service is running.", status);
  add("print", "Print the systemd unit.", (plan, terminal) => {
    terminal.out(textOf(plan));
    return EXIT.fine;
  });
}

/** What is to be done where. */
interface Plan {
  readonly isUser: boolean;
  readonly isDry: boolean;
  /** Empty for this machine's own file system. */
  readonly root: string;
  readonly executable: string;
  readonly data: string;
  readonly account: string;
  readonly unitPath: string;
  /** What makes the unit start with the machine: a link to it. */
  readonly wantedPath: string;
  /** What makes the account (sysusers.d(5)). */
  readonly accountPath: string;
}

function planOf(given: Command, { environment, directory }: CommandContext): Plan {
  const isUser = hasOption(given, "user");
  const home = environment["HOME"] ?? homedir();
  const data = optionText(given, "data");
  const root = optionText(given, "root");
  const account = optionText(given, "account") ?? ACCOUNT;
  if (!/^[a-z_][a-z0-9_-]{0,30}$/.test(account))
    throw new UsageError(`"${account}" is not a valid name for a system user.`);
  const units = isUser
    ? join(environment["XDG_CONFIG_HOME"] ?? join(home, ".config"), "systemd/user")
    : "/etc/systemd/system";
  const dataHome = environment["XDG_DATA_HOME"] ?? join(home, ".local/share");
  return {
    isUser,
    isDry: hasOption(given, "dryRun"),
    root: root === undefined ? "" : resolve(directory, root),
    executable: executable(),
    data: data === undefined ? (isUser ? join(dataHome, "larder") : STATE_DIRECTORY) : resolve(directory, data),
    account,
    unitPath: join(units, UNIT),
    wantedPath: join(units, isUser ? "default.target.wants" : "multi-user.target.wants", UNIT),
    accountPath: "/etc/sysusers.d/larder.conf",
  };
}

/** This very program, by the path under which it lies. */
function executable(): string {
  return Bun.isStandaloneExecutable ? fs.realpathSync(process.execPath) : "/usr/local/bin/larder";
}

function textOf({ isUser, executable, data, account }: Plan): string {
  return unitText({ executable, data, account: isUser ? undefined : account });
}

function install(plan: Plan, terminal: Terminal): ExitCode {
  rejectBadPlaces(plan);
  const work = new Work(plan, terminal);
  const isChanged = work.write(plan.unitPath, textOf(plan));
  if (!plan.isUser && !hasAccount(plan)) {
    const line = `u ${plan.account} - "Larder" ${STATE_DIRECTORY} /usr/sbin/nologin\n`;
    work.write(plan.accountPath, line);
    work.run(["systemd-sysusers", plan.accountPath]);
  }
  if (plan.isUser || plan.data !== STATE_DIRECTORY) makeData(plan, work);
  if (plan.root !== "") {
    work.link(plan.unitPath, plan.wantedPath);
    terminal.out("Done. The service starts when that machine starts.\n");
    return EXIT.fine;
  }
  work.systemctl("daemon-reload");
  work.systemctl("enable", UNIT);
  work.systemctl(isChanged ? "restart" : "start", UNIT);
  if (plan.isDry) return EXIT.fine;
  const scope = plan.isUser ? "--user " : "";
  terminal.out(
    `Larder is running and starts with the machine. To see its log, with the link to create the first account: journalctl ${scope}-u larder\n` +
      (plan.isUser ? "To keep it running while you are signed out: loginctl enable-linger\n" : ""),
  );
  return EXIT.fine;
}

function uninstall(plan: Plan, terminal: Terminal): ExitCode {
  const work = new Work(plan, terminal);
  const isThere = fs.existsSync(plan.root + plan.unitPath);
  if (!isThere) {
    terminal.out(`${plan.root}${plan.unitPath} does not exist. Nothing to do.\n`);
    return EXIT.fine;
  }
  if (plan.root === "") work.systemctl("disable", "--now", UNIT);
  else work.remove(plan.wantedPath);
  work.remove(plan.unitPath);
  if (!plan.isUser) work.remove(plan.accountPath);
  if (plan.root === "") work.systemctl("daemon-reload");
  terminal.out(`Removed the service. The data${plan.isUser ? " was" : " and the system user were"} kept.\n`);
  return EXIT.fine;
}

function status(plan: Plan, terminal: Terminal): ExitCode {
  const isThere = fs.existsSync(plan.unitPath);
  terminal.out(
    isThere
      ? `The unit is installed: ${plan.unitPath}\n`
      : "The unit is not installed. To install it: larder service install\n",
  );
  if (!isThere) return EXIT.wrong;
  const result = Bun.spawnSync(["systemctl", ...(plan.isUser ? ["--user"] : []), "is-active", UNIT], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const word = result.stdout.toString().trim() || result.stderr.toString().trim();
  terminal.out(`The service is ${word === "" ? "unknown to systemd" : word}.\n`);
  return result.success ? EXIT.fine : EXIT.wrong;
}

/** @throws StartupError where the service could not see its own executable, or the program is none */
function rejectBadPlaces({ executable, data, isUser, root, isDry }: Plan): void {
  if (!Bun.isStandaloneExecutable && root === "" && !isDry) {
    throw new StartupError(
      "Cannot install a service that runs from source. Build the executable first (scripts/build), then run: dist/larder service install",
    );
  }
  const seen = root === "" ? [executable, data] : [data];
  for (const path of isUser ? [] : seen) {
    if (!TEMPORARY.test(path)) continue;
    throw new StartupError(
      `${path} is in a temporary directory that the service cannot access. ` +
        "Move it first, for example: install -m 755 larder /usr/local/bin/larder",
    );
  }
}

function hasAccount({ root, account }: Plan): boolean {
  const path = join(root, "/etc/passwd");
  return fs.existsSync(path) && new RegExp(`^${account}:`, "m").test(fs.readFileSync(path, "utf8"));
}

/** The data directory, for its account alone; one that is there stays as it is. */
function makeData(plan: Plan, work: Work): void {
  if (fs.existsSync(plan.root + plan.data)) return;
  const owner = plan.isUser || plan.root !== "" ? [] : ["-o", plan.account, "-g", plan.account];
  const path = plan.root + plan.data;
  work.run(["install", "-d", "-m", "700", ...owner, path], true);
}

/** Does things, or says what they would be. */
class Work {
  readonly #plan: Plan;
  readonly #terminal: Terminal;

  constructor(plan: Plan, terminal: Terminal) {
    this.#plan = plan;
    this.#terminal = terminal;
  }

  /** @returns whether the file was not so already @throws StartupError */
  write(path: string, text: string): boolean {
    const place = this.#plan.root + path;
    if (fs.existsSync(place) && fs.readFileSync(place, "utf8") === text) {
      this.#terminal.out(`${place} is up to date.\n`);
      return false;
    }
    this.#do(`write ${place}`, () => {
      fs.mkdirSync(dirname(place), { recursive: true, mode: 0o755 });
      fs.writeFileSync(`${place}.partial`, text, { mode: 0o644, flush: true });
      // Whatever the umask says: systemd and everybody who asks it read these.
      fs.chmodSync(`${place}.partial`, 0o644);
      fs.renameSync(`${place}.partial`, place);
    });
    return true;
  }

  remove(path: string): void {
    const place = this.#plan.root + path;
    this.#do(`remove ${place}`, () => fs.rmSync(place, { force: true }));
  }

  link(target: string, path: string): void {
    const place = this.#plan.root + path;
    this.#do(`link ${place} to ${target}`, () => {
      fs.mkdirSync(dirname(place), { recursive: true, mode: 0o755 });
      fs.rmSync(place, { force: true });
      fs.symlinkSync(target, place);
    });
  }

  systemctl(...words: string[]): void {
    this.run(["systemctl", ...(this.#plan.isUser ? ["--user"] : []), ...words]);
  }

  /** Runs a program of the system; below another root only where `isForFiles`. @throws StartupError with what it said */
  run(words: string[], isForFiles = false): void {
    if (this.#plan.root !== "" && !isForFiles) return;
    this.#do(words.join(" "), () => {
      const result = Bun.spawnSync(words, { stdout: "inherit", stderr: "pipe" });
      if (result.success) return;
      throw new StartupError(`"${words.join(" ")}" failed: ${result.stderr.toString().trim()}`);
    });
  }

  #do(what: string, work: () => void): void {
    if (this.#plan.isDry) {
      this.#terminal.out(`would ${/^(write|remove|link) /.test(what) ? "" : "run: "}${what}\n`);
      return;
    }
    try {
      work();
    } catch (error) {
      if (error instanceof StartupError) throw error;
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      const why = error instanceof Error ? error.message : String(error);
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
