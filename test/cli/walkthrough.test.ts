// The README's walk-throughs are run as they stand, so that they stay true.
import { expect, test } from "bun:test";
import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cleanEnv, repositoryRoot, temporaryDirectory, testCommand, withServer } from "../support/server.ts";

const tools = ["bash", "curl", "split", "sha256sum", "openssl"];
const missing = tools.filter((tool) => Bun.which(tool) === null);
if (missing.length > 0) console.warn(`SKIPPED: the README's walk-through needs ${missing.join(", ")}`);

/** Shell blocks of one section of the README, in order. */
async function shellBlocks(section: string): Promise<string[]> {
  const readme = await readFile(join(repositoryRoot, "README.md"), "utf8");
  const text = readme.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? "";
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block);
}

/** Puts the program under test into a folder as `larder`. */
async function installLarder(folder: string): Promise<void> {
  const path = join(folder, "larder");
  const words = testCommand().map((word) => `'${word}'`);
  await writeFile(path, `#!/bin/sh\ncd '${repositoryRoot}' && exec ${words.join(" ")} "$@"\n`);
  await chmod(path, 0o755);
}

/** What a section must have printed, and the variables that it must have filled. */
const sections: [section: string, printed: string[], filled: string[]][] = [
  [
    "For app developers",
    ["upload_required", '"missingChunks":[0]', '"verified":true', "Hello", "op-1"],
    ["CURSOR", "FILE_ID", "TOKEN"],
  ],
  ["Resumable uploads (tus)", ["upload-offset: 3000000", "the same"], ["UPLOAD", "FILE"]],
  ["Sharing, going back, and scripts", ['"version":4', '"restored"', '"write"'], ["KEY", "ID", "GRANT", "BOX"]],
  [
    "Backup, checks, and the way back",
    ["1 files", "is intact", "Restored from", "Wrote 1 file", "Took in 1 file"],
    ["BACKUP"],
  ],
];

test.skipIf(missing.length > 0).each(sections)(
  "%s: the README works as it stands",
  async (section, printed, filled) => {
    const blocks = await shellBlocks(section);
    expect(blocks).not.toEqual([]);
    await withServer({}, async (server) => {
      const { email, password } = { email: "anna@example.org", password: "correct horse battery" };
      const { client } = await server.signUp({ email, password, name: "Anna" });
      // What there is to back up; the other rounds bring their own.
      if (section.startsWith("Backup"))
        await client.stored("a letter", { name: "letter.txt", fields: { folder: "/letters" } });
      const directory = await temporaryDirectory();
      await installLarder(directory);
      try {
        // A refusal of the server stops it, as does a grep that finds nothing; curl by itself would go on.
        const script = [
          "set -euo pipefail",
          'curl() { command curl --fail-with-body --max-time 20 "$@"; }',
          ...blocks,
          ...filled.map((name) => `printf '\\n${name}=%s\\n' "$${name}"`),
        ].join("\n");
        const child = Bun.spawn(["bash", "-c", script], {
          cwd: directory,
          env: cleanEnv({
            BASE: server.url,
            LARDER_DATA: server.dataDir,
            BACKUP: join(directory, "backup"),
            ELSEWHERE: join(directory, "elsewhere"),
            PLAIN: join(directory, "plain"),
            PATH: `${directory}:${process.env["PATH"] ?? ""}`,
          }),
          stdin: "ignore",
          stdout: "pipe",
          stderr: "pipe",
          timeout: 90_000,
        });
        const [stdout, stderr, code] = await Promise.all([
          new Response(child.stdout).text(),
          new Response(child.stderr).text(),
          child.exited,
        ]);
        if (code !== 0) throw new Error(`it ended with ${code}:\n${stdout}\n${stderr}`);
        for (const told of printed) expect(stdout).toContain(told);
        for (const name of filled) expect(stdout).toMatch(new RegExp(`^${name}=\\S{8,}$`, "m"));
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    });
  },
  120_000,
);
