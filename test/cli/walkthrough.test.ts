// Runs the shell examples of the README and of docs/, so that they stay correct.
import { expect, test } from "bun:test";
import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { listPages, readPage, shellBlocks } from "../support/documents.ts";
import { cleanEnv, repositoryRoot, temporaryDirectory, testCommand, withServer } from "../support/server.ts";

const tools = ["bash", "curl", "split", "sha256sum", "openssl"];
const missing = tools.filter((tool) => Bun.which(tool) === null);
if (missing.length > 0) console.warn(`SKIPPED: the examples of the documents need ${missing.join(", ")}`);

const allBlocks = (
  await Promise.all((await listPages()).map(async (page) => shellBlocks(page, await readPage(page))))
).flat();

/** Links the program under test into a folder as `larder`. */
async function installLarder(folder: string): Promise<void> {
  const path = join(folder, "larder");
  const words = testCommand().map((word) => `'${word}'`);
  await writeFile(path, `#!/bin/sh\ncd '${repositoryRoot}' && exec ${words.join(" ")} "$@"\n`);
  await chmod(path, 0o755);
}

/** The text that the blocks of a page must print, and the variables that they must set. */
const pages: [page: string, printed: string[], filled: string[]][] = [
  ["README.md", ["1 blob", "is intact", "Restored from"], ["BACKUP"]],
  ["docs/api.md", ["photo.jpg", "identical", '"version":4', '"trashed"', '"restored"'], ["KEY", "PHOTO", "ID"]],
  ["docs/backup.md", ["1 blob", "is intact", "Restored from", "Exported 1 file", "Imported 1 file"], ["BACKUP"]],
  [
    "docs/mobile-api.md",
    ["upload_required", '"missingChunks":[0]', '"verified":true', "Hello", "op-1"],
    ["CURSOR", "FILE_ID", "TOKEN"],
  ],
  ["docs/sharing.md", ["plan.txt", '"checksum"', '"write"'], ["LINK_ID", "GRANT", "BOX"]],
  ["docs/storage.md", [], []],
  ["docs/tus.md", ["upload-offset: 3000000", "the same"], ["UPLOAD", "FILE"]],
  ["docs/users.md", ["bea@example.org", "enterprise", "/invite"], []],
];

test("every shell example is run, or has a reason not to be", async () => {
  const runPages = new Set(allBlocks.filter(({ notRun }) => notRun === undefined).map(({ page }) => page));
  expect([...runPages].sort()).toEqual(pages.map(([page]) => page).sort());
  // Another example that is not run is a decision: change the number then.
  expect(allBlocks.filter(({ notRun }) => notRun !== undefined)).toHaveLength(38);
  // All blocks have the same language, so that none is missed.
  for (const page of await listPages()) expect(await readPage(page)).not.toMatch(/^ *```(?:bash|console|shell|zsh)/m);
});

test.skipIf(missing.length > 0).each(pages)(
  "%s: the examples work as written",
  async (page, printed, filled) => {
    const blocks = allBlocks.filter((block) => block.page === page && block.notRun === undefined);
    await withServer({}, async (server) => {
      const { email, password } = { email: "anna@example.org", password: "correct horse battery" };
      const { client } = await server.signUp({ email, password, name: "Anna" });
      // A file for the backup; the other pages upload their own files.
      if (blocks.some(({ text }) => text.includes("larder backup"))) {
        await client.stored("a letter", { name: "letter.txt", fields: { folder: "/letters" } });
      }
      const directory = await temporaryDirectory();
      await installLarder(directory);
      try {
        // A rejected request stops the script, as does a grep that finds nothing. Without these options, curl would continue.
        const script = [
          "set -euo pipefail",
          'curl() { command curl --fail-with-body --max-time 20 "$@"; }',
          ...blocks.map(({ text }) => text),
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
        for (const text of printed) expect(stdout).toContain(text);
        for (const name of filled) expect(stdout).toMatch(new RegExp(`^${name}=\\S{8,}$`, "m"));
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    });
  },
  120_000,
);
