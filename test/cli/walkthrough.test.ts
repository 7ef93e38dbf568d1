// The README's section for app developers is run as it stands, so that it stays true.
import { expect, test } from "bun:test";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { cleanEnv, repositoryRoot, temporaryDirectory, withServer } from "../support/server.ts";

const section = "For app developers";
const tools = ["bash", "curl", "split", "sha256sum"];
const missing = tools.filter((tool) => Bun.which(tool) === null);
if (missing.length > 0) console.warn(`SKIPPED: the README's walk-through needs ${missing.join(", ")}`);

/** Shell blocks of one section of the README, in order. */
async function shellBlocks(): Promise<string[]> {
  const readme = await readFile(join(repositoryRoot, "README.md"), "utf8");
  const text = readme.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? "";
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block);
}

test.skipIf(missing.length > 0)("the walk-through for app developers in the README works as it stands", async () => {
  const blocks = await shellBlocks();
  expect(blocks).not.toEqual([]);
  await withServer({}, async (server) => {
    const { email, password } = { email: "anna@example.org", password: "correct horse battery" };
    await server.signUp({ email, password, name: "Anna" });
    const directory = await temporaryDirectory();
    try {
      // A refusal of the server stops it, as does a grep that finds nothing; curl by itself would go on.
      const script = [
        "set -euo pipefail",
        'curl() { command curl --fail-with-body --max-time 20 "$@"; }',
        ...blocks,
        'printf "\\nCURSOR=%s\\nFILE_ID=%s\\nTOKEN=%s\\n" "$CURSOR" "$FILE_ID" "$TOKEN"',
      ].join("\n");
      const child = Bun.spawn(["bash", "-c", script], {
        cwd: directory,
        env: cleanEnv({ BASE: server.url }),
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
        timeout: 25_000,
      });
      const [stdout, stderr, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      if (code !== 0) throw new Error(`it ended with ${code}:\n${stdout}\n${stderr}`);
      for (const told of ["upload_required", '"missingChunks":[0]', '"verified":true', "Hello", "op-1"])
        expect(stdout).toContain(told);
      for (const name of ["CURSOR", "FILE_ID", "TOKEN"]) expect(stdout).toMatch(new RegExp(`^${name}=\\S{8,}$`, "m"));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
