import { assertSqliteVersion } from "../../db/open.ts";
import { COMMIT, LIBVIPS_VERSION, VERSION } from "../../version.ts";
import { defineCommand } from "../shared/command.ts";

/** `larder version`: the versions of the program and its main components. */
export const define = defineCommand({
  description: "Print the version of Larder and its main components.",
  options: [["--json", "Print the versions as JSON."]],
  examples: "larder version --json",
  problems: null,
  run(command) {
    const versions = {
      version: VERSION,
      commit: COMMIT,
      bun: Bun.version,
      sqlite: assertSqliteVersion(),
      libvips: LIBVIPS_VERSION,
      platform: `${process.platform}-${process.arch}`,
    };
    command.print(
      versions,
      `larder ${versions.version}\ncommit ${versions.commit}\nBun ${versions.bun}\nSQLite ${versions.sqlite}\n` +
        `libvips ${versions.libvips}\nplatform ${versions.platform}\n`,
    );
  },
});
