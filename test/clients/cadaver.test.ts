// cadaver, a command-line client of WebDAV with locks and properties.
import { expect, test } from "bun:test";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digestOf } from "../support/client.ts";
import { temporaryDirectory } from "../support/server.ts";
import { clientServer, newClientAccount, readServerTree } from "./support/account.ts";
import { describeWith, mustRun } from "./support/programs.ts";

const server = clientServer();

describeWith("cadaver", ["cadaver"], () => {
  test("a session stores, copies, moves, locks, sets a property, reads and deletes", async () => {
    const account = await newClientAccount(server());
    const home = await temporaryDirectory();
    try {
      const netrc = `machine 127.0.0.1\nlogin ${account.user}\npassword ${account.password}\n`;
      await writeFile(join(home, ".netrc"), netrc, { mode: 0o600 });
      await writeFile(join(home, "local.txt"), "from cadaver");
      const commands = [
        "mkcol folder",
        "cd folder",
        "put local.txt first.txt",
        "copy first.txt second.txt",
        "move second.txt third.txt",
        "lock third.txt",
        "put local.txt third.txt",
        "propset third.txt color blue",
        "propget third.txt color",
        "unlock third.txt",
        "get third.txt back.txt",
        "delete first.txt",
        "ls",
        "quit",
      ];
      const output = await mustRun(["cadaver", `${server().url}/dav/`], { home, stdin: `${commands.join("\n")}\n` });
      expect(output).not.toMatch(/failed|Could not/i);
      expect(output).toContain("blue");
      expect(await readFile(join(home, "back.txt"), "utf8")).toBe("from cadaver");
      const tree = await readServerTree(account);
      expect([...tree.keys()].sort()).toEqual(["folder", "folder/third.txt"]);
      expect(tree.get("folder/third.txt")?.content).toBe(digestOf("from cadaver"));
    } finally {
      await rm(home, { recursive: true });
    }
  });
});
