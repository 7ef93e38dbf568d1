// larder import --from nextcloud reads any WebDAV server: here, the one of rclone.
import { afterAll, expect, test } from "bun:test";
import { mkdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digestOf, randomContent } from "../support/client.ts";
import { eventually } from "../support/expect.ts";
import { findUnusedPort } from "../support/push-services.ts";
import { temporaryDirectory } from "../support/server.ts";
import { clientServer, newClientAccount, readServerTree } from "./support/account.ts";
import { describeWith, startProgram } from "./support/programs.ts";

const server = clientServer();
const directories: string[] = [];

afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
});

async function newDirectory(): Promise<string> {
  const directory = await temporaryDirectory();
  directories.push(directory);
  return directory;
}

describeWith("rclone serve webdav", ["rclone"], () => {
  test("is imported with names, folders, and contents, and only once", async () => {
    const [from, home] = [await newDirectory(), await newDirectory()];
    await mkdir(join(from, "sub/deep"), { recursive: true });
    const contents = {
      "a & b #1 100%.txt": "a",
      "sub/é 😀.txt": "b",
      "sub/deep/empty": "",
      "sub/large.bin": randomContent(3 * 1024 * 1024),
    };
    const modified = new Date("2020-01-02T03:04:05Z");
    for (const [path, content] of Object.entries(contents)) {
      await writeFile(join(from, path), content);
      await utimes(join(from, path), modified, modified);
    }
    const port = await findUnusedPort();
    const address = `127.0.0.1:${port}`;
    const serving = startProgram(
      ["rclone", "serve", "webdav", from, "--addr", address, "--user", "u", "--pass", "p"],
      home,
    );
    try {
      await eventually("rclone serves the folder", async () => {
        const response = await fetch(`http://${address}/`).catch(() => undefined);
        return response?.status === 401;
      });
      const account = await newClientAccount(server());
      const secret = join(home, "secret");
      await writeFile(secret, "p\n");
      const command = ["import", "--from", "nextcloud", "--url", `http://${address}/`, "--username", "u"];
      const flags = ["--secret-file", secret, "--user", account.user, "--folder", "/Old", "--json"];
      const first = await server().larder([...command, ...flags]);
      expect(first).toMatchObject({ code: 0 });
      expect(JSON.parse(first.stdout)).toMatchObject({ imported: 4 });
      const tree = await readServerTree(account);
      for (const [path, content] of Object.entries(contents)) {
        expect(tree.get(`Old/${path}`)?.content).toBe(digestOf(content));
      }
      const second = await server().larder([...command, ...flags]);
      expect(JSON.parse(second.stdout)).toMatchObject({ imported: 0, unchanged: 4 });
    } finally {
      serving.kill();
      await serving.exited;
    }
  });
});
