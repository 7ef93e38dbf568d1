import type { Command } from "commander";
import { assertSqliteVersion } from "../../db/open.ts";
import { COMMIT, LIBVIPS_VERSION, VERSION } from "../../version.ts";
import { type CommandContext, describeEnd, EXIT, hasOption, runs } from "../shared/command.ts";
import { toJson } from "../shared/output.ts";

/** `larder version`: of the program, and of what it is made of. */
export function define(command: Command, context: CommandContext): void {
  command
    .description("Print the version of Larder and its main components.")
    .option("--json", "Print the versions as JSON.");
  describeEnd(command, "larder version --json", null);
  runs(command, async () => {
    const versions = {
      version: VERSION,
      commit: COMMIT,
      bun: Bun.version,
      sqlite: assertSqliteVersion(),
      libvips: LIBVIPS_VERSION,
      platform: `${process.platform}-${process.arch}`,
    };
    const lines =
      `larder ${versions.version}\ncommit ${versions.commit}\nBun ${versions.bun}\nSQLite ${versions.sqlite}\n` +
      `libvips ${versions.libvips}\nplatform ${versions.platform}\n`;
    context.terminal.out(hasOption(command, "json") ? toJson(versions) : lines);
    return EXIT.fine;
  });
}
