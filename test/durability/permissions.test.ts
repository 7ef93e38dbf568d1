import { describe, expect, test } from "bun:test";
import { chmod, chown, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../support/mounts.ts";
import { runLarder, startServer, temporaryDirectory } from "../support/server.ts";

const nobody = 65_534;
const asNobody = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"];
const cannotChangeUser = (await run([...asNobody, "true"])).code !== 0;
if (cannotChangeUser) console.warn("skipped: tests as another user: setpriv does not work here");

describe("a data directory that can't be used stops the start", () => {
  test("because it is a file", async () => {
    const folder = await temporaryDirectory();
    try {
      await writeFile(join(folder, "data"), "a file");
      const { code, stderr } = await runLarder(["serve", "--data", join(folder, "data"), "--port", "0"]);
      expect(code).toBe(2);
      expect(stderr).toContain(join(folder, "data"));
      expect(stderr).not.toMatch(/\n\s+at .+:\d+:\d+/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test.skipIf(cannotChangeUser)(
    "because it belongs to another user: the message has path, owner, own ids, and the command to fix it",
    async () => {
      const folder = await temporaryDirectory();
      try {
        await chmod(folder, 0o755);
        const data = join(folder, "data");
        await mkdir(data, { mode: 0o755 });
        const { code, stderr } = await runLarder(["serve", "--data", data, "--port", "0"], {
          prefix: asNobody,
          env: { HOME: "/" },
        });
        expect(code).toBe(2);
        expect(stderr).toContain(data);
        expect(stderr).toContain(`${nobody}:${nobody}`);
        expect(stderr).toMatch(/\b0:0\b/);
        expect(stderr).toMatch(/\bchown\b.*65534/);
        const { uid, mode } = await stat(data);
        expect({ uid, mode: mode & 0o777 }).toEqual({ uid: 0, mode: 0o755 });
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );
});

test.skipIf(cannotChangeUser)("runs as any user on its own directory, and changes no ownership", async () => {
  const folder = await temporaryDirectory();
  await chmod(folder, 0o755);
  const dataDir = join(folder, "data");
  await mkdir(dataDir);
  await chown(dataDir, nobody, nobody);
  const server = await startServer({ dataDir, prefix: asNobody, env: { HOME: "/" } });
  try {
    const { client } = await server.signUp();
    await client.stored("x");
    expect(await client.names()).toEqual(["file.txt"]);
    const database = await stat(join(dataDir, "larder.db"));
    expect(database.uid).toBe(nobody);
    expect(database.mode & 0o007).toBe(0);
  } finally {
    await server.kill9();
    await rm(folder, { recursive: true });
  }
});

test.skipIf(cannotChangeUser)("starts again as another user after an administrator's commands as root", async () => {
  const folder = await temporaryDirectory();
  await chmod(folder, 0o755);
  const dataDir = join(folder, "data");
  await mkdir(dataDir);
  await chown(dataDir, nobody, nobody);
  const asUser = { dataDir, prefix: asNobody, env: { HOME: "/" } };
  try {
    await (await startServer(asUser)).stop();
    const added = await runLarder(["user", "add", "a@example.org", "--password-stdin", "--data", dataDir], {
      stdin: "a long enough password",
    });
    expect(added.code).toBe(0);
    expect((await runLarder(["gc", "--now", "--data", dataDir])).code).toBe(0);
    for (const name of await readdir(dataDir, { recursive: true }))
      expect([name, (await stat(join(dataDir, name))).uid]).toEqual([name, nobody]);
    await (await startServer(asUser)).stop();
  } finally {
    await rm(folder, { recursive: true });
  }
});

test.skipIf(cannotChangeUser)(
  "commands that cannot read the directory of another user name the owner, and what to do",
  async () => {
    const folder = await temporaryDirectory();
    await chmod(folder, 0o755);
    const dataDir = join(folder, "data");
    const mine = join(folder, "mine");
    await mkdir(mine);
    await chown(mine, nobody, nobody);
    try {
      await (await startServer({ dataDir })).stop();
      await chmod(dataDir, 0o755);
      for (const words of [
        ["backup", join(mine, "backup")],
        ["backup", "-"],
        ["backup", "--drill"],
        ["restore"],
        ["restore", dataDir, "--data", join(mine, "restored")],
      ]) {
        const where = words.includes("--data") ? [] : ["--data", dataDir];
        const { code, stderr } = await runLarder([...words, ...where], { prefix: asNobody, env: { HOME: "/" } });
        expect(code).toBe(2);
        expect(stderr).toMatch(/Cannot read.*belongs to 0:0.*sudo -u/s);
        expect(stderr).not.toContain("Unexpected error");
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);
