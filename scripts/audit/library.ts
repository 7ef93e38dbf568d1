// Creates a folder of many small files, by an import, because uploads would take longer than the measurement.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Account } from "../../test/support/client.ts";
import { landscape } from "../../test/support/sample-library.ts";
import { cleanEnv, repositoryRoot, type TestServer, testCommand } from "../../test/support/server.ts";

/** The first files are pictures, which cost a page the most. */
const PICTURES = 40;

/** Fills `/Many` of an account with `count` files, some of them pictures. @throws Error with the output of the import */
export async function fillFolder(server: TestServer, account: Account, count: number): Promise<void> {
  const source = await mkdtemp(join(tmpdir(), "larder-audit-"));
  try {
    const folder = join(source, "Many");
    await mkdir(folder);
    for (let at = 0; at < count; at++) {
      const number = String(at).padStart(6, "0");
      if (at < PICTURES) await writeFile(join(folder, `a picture ${number}.png`), await landscape(at, 640, 480));
      else await writeFile(join(folder, `file ${number}.txt`), `This is file ${at}.\n`);
    }
    const child = Bun.spawn([...testCommand(), "import", source, "--user", account.email], {
      cwd: repositoryRoot,
      env: cleanEnv({ LARDER_DATA: server.dataDir }),
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    const stderr = await new Response(child.stderr).text();
    if ((await child.exited) !== 0) throw new Error(`The import failed:\n${stderr}`);
  } finally {
    await rm(source, { recursive: true, force: true });
  }
}
