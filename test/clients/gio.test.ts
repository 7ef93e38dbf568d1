// gio, the command of GNOME Files, whose WebDAV part (gvfs) needs a D-Bus session.
import { expect, test } from "bun:test";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digestOf } from "../support/client.ts";
import { temporaryDirectory } from "../support/server.ts";
import { clientServer, newClientAccount, readServerTree } from "./support/account.ts";
import { describeWith, runProgram } from "./support/programs.ts";

const server = clientServer();

describeWith("gio", ["gio", "dbus-run-session", "/usr/libexec/gvfsd-dav"], () => {
  test("a session mounts, lists, copies, renames, reads and deletes", async () => {
    const account = await newClientAccount(server());
    await account.client.stored("from the server", { name: "a & b.txt", fields: { folder: "/folder" } });
    const home = await temporaryDirectory();
    try {
      await writeFile(join(home, "local.txt"), "from gio");
      const url = `dav://127.0.0.1:${server().port}/dav`;
      const script = `
set -e
printf '%s\\n%s\\n' "$LARDER_USER" "$LARDER_PASSWORD" | gio mount ${url}/
gio list ${url}/folder
gio copy local.txt ${url}/folder/copied.txt
gio rename ${url}/folder/copied.txt renamed.txt
gio copy "${url}/folder/a%20&%20b.txt" back.txt
gio mkdir ${url}/new
gio move ${url}/folder/renamed.txt ${url}/new/moved.txt
gio remove "${url}/folder/a%20&%20b.txt"
gio list ${url}/new
gio mount --unmount ${url}/
`;
      const { code, output } = await runProgram(["dbus-run-session", "--", "bash", "-c", script], {
        home,
        cwd: home,
        env: { XDG_RUNTIME_DIR: home, LARDER_USER: account.user, LARDER_PASSWORD: account.password },
      });
      if (code !== 0) throw new Error(`the session ended with ${code}:\n${output}`);
      expect(output).toContain("a & b.txt\n");
      expect(output).toContain("moved.txt\n");
      expect(await readFile(join(home, "back.txt"), "utf8")).toBe("from the server");
      const tree = await readServerTree(account);
      expect([...tree.keys()].sort()).toEqual(["folder", "new", "new/moved.txt"]);
      expect(tree.get("new/moved.txt")?.content).toBe(digestOf("from gio"));
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});
