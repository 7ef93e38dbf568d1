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
  command.description("Run the server by systemd: at each start of the machine, as an account of its own.");
  describeEnd(
    command,
    "sudo larder service install --data /srv/disk/larder\nlarder service install --user\nlarder service status",
    "it was refused, or the service does not run",
  );
  const add = (name: string, description: string, work: (plan: Plan, terminal: Terminal) => ExitCode) => {
    const sub = command.command(name).summary(description).description(description);
    sub.option("--user", "for this user's own systemd: without root, while the user is signed in (or lingers)");
    if (name !== "status") {
      sub.option("--data <dir>", `data directory (${STATE_DIRECTORY}; with --user ~/.local/share/larder)`);
      sub.option("--account <name>", `account that the server runs as; made where there is none (${ACCOUNT})`);
    }
    if (name === "install" || name === "uninstall") {
      sub.option("--dry-run", "say what would be done, and do nothing");
      sub.option("--root <dir>", "do it in the file system of another machine that is mounted there: files alone");
    }
    describeEnd(sub, `larder service ${name}`);
    runs(sub, (args, given) => {
      if (args.length > 0) throw new UsageError(`larder service ${name} takes no arguments, only options.`);
      return Promise.resolve(work(planOf(given, context), context.terminal));
    });
  };
  add("install", "Write the unit for this executable, enable it, and start it.", install);
  add("uninstall", "Stop the service and remove its unit. The data and the account stay.", uninstall);
  add("status", "Tell whether the unit is there and the service runs.", status);
  add("print", "Print the unit.", (plan, terminal) => {
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
  if (!/^[a-z_][a-z0-9_-]{0,30}$/.test(account)) throw new UsageError(`${account} can't be the name of an account.`);
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
  refuseBadPlaces(plan);
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
    terminal.out("Done. The service starts with that machine.\n");
    return EXIT.fine;
  }
  work.systemctl("daemon-reload");
  work.systemctl("enable", UNIT);
  work.systemctl(isChanged ? "restart" : "start", UNIT);
  if (plan.isDry) return EXIT.fine;
  const scope = plan.isUser ? "--user " : "";
  terminal.out(
    `Larder runs, and starts with the machine. Its log, where the address for the first account is: journalctl ${scope}-u larder\n` +
      (plan.isUser ? "So that it runs while you are not signed in: loginctl enable-linger\n" : ""),
  );
  return EXIT.fine;
}

function uninstall(plan: Plan, terminal: Terminal): ExitCode {
  const work = new Work(plan, terminal);
  const isThere = fs.existsSync(plan.root + plan.unitPath);
  if (!isThere) {
    terminal.out(`There is no ${plan.root}${plan.unitPath}; nothing is to be done.\n`);
    return EXIT.fine;
  }
  if (plan.root === "") work.systemctl("disable", "--now", UNIT);
  else work.remove(plan.wantedPath);
  work.remove(plan.unitPath);
  if (!plan.isUser) work.remove(plan.accountPath);
  if (plan.root === "") work.systemctl("daemon-reload");
  terminal.out(`The data${plan.isUser ? "" : " and the account"} stay as they are.\n`);
  return EXIT.fine;
}

function status(plan: Plan, terminal: Terminal): ExitCode {
  const isThere = fs.existsSync(plan.unitPath);
  terminal.out(
    isThere ? `The unit is ${plan.unitPath}.\n` : "The unit is not installed. See: larder service install\n",
  );
  if (!isThere) return EXIT.wrong;
  const result = Bun.spawnSync(["systemctl", ...(plan.isUser ? ["--user"] : []), "is-active", UNIT], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const word = result.stdout.toString().trim() || result.stderr.toString().trim();
  terminal.out(`The service is ${word === "" ? "not known to systemd" : word}.\n`);
  return result.success ? EXIT.fine : EXIT.wrong;
}

/** @throws StartupError where the service could not see its own executable, or the program is none */
function refuseBadPlaces({ executable, data, isUser, root, isDry }: Plan): void {
  if (!Bun.isStandaloneExecutable && root === "" && !isDry) {
    throw new StartupError(
      "The program runs from its source. Build it (scripts/build), and run: dist/larder service install",
    );
  }
  const seen = root === "" ? [executable, data] : [data];
  for (const path of isUser ? [] : seen) {
    if (!TEMPORARY.test(path)) continue;
    throw new StartupError(
      `${path} is in a directory for what is temporary, which the service does not see. ` +
        "Put it elsewhere first, for instance: install -m 755 larder /usr/local/bin/larder",
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
      this.#terminal.out(`${place} is as it should be.\n`);
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
        throw new StartupError(`Could not ${what}: this machine seems to have no systemd. (${why})`);
      if (code !== "EACCES" && code !== "EPERM" && code !== "EROFS") throw error;
      const help = this.#plan.isUser
        ? ""
        : " Run it as root (sudo), or for this user alone: larder service install --user";
      throw new StartupError(`Could not ${what}: ${why}.${help}`);
    }
    this.#terminal.out(`${what}\n`);
  }
}
