/**
 * The table of commands. Only the requested command is loaded: `larder healthcheck` runs every 30 seconds, and the server
 * does not need the code of the other commands.
 */
import { Command, CommanderError } from "commander";
import { nearest } from "../config/nearest.ts";
import { StartupError } from "../config/startup-error.ts";
import { AppError, type Reason } from "../errors.ts";
import {
  type CommandContext,
  type DefineCommand,
  EXIT,
  type ExitCode,
  exitCodeOf,
  UsageError,
} from "./shared/command.ts";

/** One row of the table of commands. */
interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<{ readonly define: DefineCommand }>;
}

/** All commands, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  { name: "serve", summary: "Run the server.", load: () => import("./server/serve.ts") },
  {
    name: "user",
    summary: "Manage accounts: add, change, list, delete, create invites and tokens.",
    load: () => import("./accounts/user.ts"),
  },
  {
    name: "backup",
    summary: "Create or update a backup of everything.",
    load: () => import("./recovery/backup.ts"),
  },
  {
    name: "standby",
    summary: "Wait beside the server that owns the store, ready to take over.",
    load: () => import("./replica/standby.ts"),
  },
  {
    name: "promote",
    summary: "Make this machine the owner of the store, and serve.",
    load: () => import("./replica/promote.ts"),
  },
  {
    name: "restore",
    summary: "Restore a backup, or go back to an earlier snapshot.",
    load: () => import("./recovery/restore.ts"),
  },
  {
    name: "rebuild",
    summary: "Rebuild a lost database from the metadata journal.",
    load: () => import("./recovery/rebuild.ts"),
  },
  {
    name: "verify",
    summary: "Check all stored files and the database for damage.",
    load: () => import("./recovery/verify.ts"),
  },
  {
    name: "heal",
    summary: "Repair damaged and missing files from good copies.",
    load: () => import("./recovery/heal.ts"),
  },
  { name: "gc", summary: "Free the space of deleted files (garbage collection).", load: () => import("./store/gc.ts") },
  {
    name: "blobs",
    summary: "Show where file data is stored; move it between this disk and a bucket.",
    load: () => import("./store/blobs.ts"),
  },
  {
    name: "replica",
    summary: "Show the replica of the database in a bucket; make its key.",
    load: () => import("./replica/replica.ts"),
  },
  { name: "import", summary: "Import a folder into an account.", load: () => import("./exchange/import.ts") },
  { name: "export", summary: "Export an account's files to a folder.", load: () => import("./exchange/export.ts") },
  {
    name: "config",
    summary: "Show the effective configuration and the source of each value.",
    load: () => import("./server/config.ts"),
  },
  {
    name: "doctor",
    summary: "Check this machine and the configuration for problems.",
    load: () => import("./doctor/doctor.ts"),
  },
  {
    name: "healthcheck",
    summary: "Check whether the running server is ready.",
    load: () => import("./server/healthcheck.ts"),
  },
  { name: "service", summary: "Run the server as a systemd service.", load: () => import("./service/service.ts") },
  {
    name: "openapi",
    summary: "Print the OpenAPI document of the HTTP API.",
    load: () => import("./server/openapi.ts"),
  },
  {
    name: "version",
    summary: "Print the version of Larder and its main components.",
    load: () => import("./server/version.ts"),
  },
];

/** Errors of the machine: the request may be right, but cannot be carried out now. */
const MACHINE_REASONS: ReadonlySet<Reason> = new Set<Reason>([
  "database_busy",
  "database_error",
  "storage_error",
  "store_missing",
  "disk_full",
  "overloaded",
  "unexpected",
]);

/**
 * Runs a command.
 * @param args the arguments of the program, without its name
 * @returns the exit code: 0 success, 1 completed with problems, 2 error
 */
export async function runCli(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const commandArgs = rewrite(args);
  const [first] = commandArgs;
  const names = COMMANDS.map(({ name }) => name);
  if (first !== undefined && !first.startsWith("-") && !names.includes(first)) {
    context.terminal.error(
      `Unknown command "${first}". Did you mean "${nearest(first, names)}"? List all commands: larder --help\n`,
    );
    return EXIT.error;
  }
  const program = newProgram(context);
  try {
    for (const { name, summary, load } of COMMANDS) {
      const command = program.command(name).summary(summary).description(summary);
      if (name === first) (await load()).define(command, context);
    }
    if (first === undefined) program.outputHelp();
    else await program.parseAsync([...commandArgs], { from: "user" });
    return exitCodeOf(context) ?? EXIT.success;
  } catch (error) {
    return explain(error, context);
  }
}

/** Rewrites other spellings that people try: `larder help serve`, `larder --version`. */
function rewrite(args: readonly string[]): readonly string[] {
  const [first, ...rest] = args;
  if (first === "help") return rest.length === 0 ? ["--help"] : [...rest, "--help"];
  if (first === "--version" || first === "-V") return ["version", ...rest];
  return args;
}

function newProgram({ terminal }: CommandContext): Command {
  return new Command("larder")
    .description("Self-hosted file server for a home or small office.")
    .helpCommand(false)
    .helpOption("-h, --help", "Show this help.")
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.out(text), writeErr: (text) => terminal.error(text) })
    .addHelpText(
      "after",
      "\nExamples:\n  larder serve --data /srv/larder --port 8790\n  larder serve --help\n\n" +
        "Exit codes: 0 success; 1 completed with problems; 2 error.",
    );
}

function explain(error: unknown, { terminal }: CommandContext): ExitCode {
  if (error instanceof CommanderError) {
    // Commander has printed the message or the help.
    return error.exitCode === 0 ? EXIT.success : EXIT.error;
  }
  if (error instanceof StartupError || error instanceof UsageError) {
    terminal.error(`${error.message}\n`);
    return EXIT.error;
  }
  if (error instanceof AppError) {
    terminal.error(`${error.message}\n`);
    return MACHINE_REASONS.has(error.reason) ? EXIT.error : EXIT.problems;
  }
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  terminal.error(`Unexpected error. Please report it and include these lines:\n${what}\n`);
  return EXIT.error;
}
