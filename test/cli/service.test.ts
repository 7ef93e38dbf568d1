// `larder service` with --root or --dry-run: no test changes the units of this machine.
import { afterAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryRoot, runLarder } from "../support/server.ts";

const folder = mkdtempSync(join(tmpdir(), "larder-service-"));
const unitPath = "etc/systemd/system/larder.service";
const analyze = Bun.which("systemd-analyze");

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function newRoot(passwd = "root:x:0:0::/root:/bin/sh\n"): string {
  const root = mkdtempSync(join(folder, "root-"));
  mkdirSync(join(root, "etc"));
  writeFileSync(join(root, "etc/passwd"), passwd);
  return root;
}

async function printed(...options: string[]): Promise<string> {
  const { code, stdout } = await runLarder(["service", "print", ...options]);
  expect(code).toBe(0);
  return stdout;
}

describe("print", () => {
  test("prints the unit that is in scripts/", async () => {
    const text = await printed();
    const file = readFileSync(join(repositoryRoot, "scripts/larder.service"), "utf8");
    const executable = /^ExecStart=(\S+) serve$/m.exec(text)?.[1] ?? "";
    expect(text.replaceAll(executable, "/usr/local/bin/larder").replace(/^BindReadOnlyPaths=.*\n/m, "")).toBe(
      executable.startsWith("/home") || executable.startsWith("/root")
        ? file.replace("ProtectHome=yes", "ProtectHome=tmpfs")
        : file,
    );
  });

  test("runs the standby on request, and is the same otherwise", async () => {
    const [standby, serve] = [await printed("--standby"), await printed()];
    expect(standby).toMatch(/^ExecStart=.* standby$/m);
    expect(standby.replace(/^(ExecStart=.*) standby$/m, "$1 serve")).toBe(serve);
  });

  test("escapes any path so that systemd reads it back", async () => {
    const text = await printed("--data", '/srv/a b/100%/"q"\\$x');
    expect(text).toContain('Environment="LARDER_DATA=/srv/a b/100%%/\\"q\\"\\\\$x"\n');
    expect(text).toContain('ReadWritePaths="/srv/a b/100%%/\\"q\\"\\\\$x"\n');
    expect(text).not.toContain("StateDirectory=");
  });

  test("shows the service only its data in a home directory", async () => {
    const text = await printed("--data", "/home/ann/larder");
    expect(text).toContain("ProtectHome=tmpfs\n");
    expect(text).toContain("BindPaths=/home/ann/larder\n");
  });

  test("of a user unit needs no privileges of root", async () => {
    const text = await printed("--user", "--data", "/srv/larder");
    for (const word of ["User=", "ProtectSystem", "PrivateDevices", "StateDirectory"]) expect(text).not.toContain(word);
    expect(text).toContain("WantedBy=default.target");
  });

  test.skipIf(analyze === null)("has an exposure of at most 1.5, as systemd measures it", async () => {
    const path = join(folder, "larder.service");
    writeFileSync(path, await printed());
    const result = Bun.spawnSync(["systemd-analyze", "security", "--offline=true", "--no-pager", path]);
    const exposure = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(result.stdout.toString())?.[1]);
    expect(exposure).toBeLessThanOrEqual(1.5);
  });

  test.skipIf(analyze === null)("prints a unit that systemd accepts", async () => {
    for (const options of [[], ["--data", "/home/ann/my files"]]) {
      const path = join(folder, "larder.service");
      writeFileSync(path, (await printed(...options)).replace(/^ExecStart=.* serve$/m, "ExecStart=/bin/true serve"));
      const result = Bun.spawnSync(["systemd-analyze", "verify", "--man=no", path], { stderr: "pipe" });
      // Messages about other units of this machine do not count.
      const said = result.stderr
        .toString()
        .split("\n")
        .filter((line) => line.includes("larder"));
      expect(said).toEqual([]);
    }
  });
});

describe("install", () => {
  test("writes unit, account, and link, and changes nothing when repeated", async () => {
    const root = newRoot();
    const first = await runLarder(["service", "install", "--root", root, "--data", "/srv/larder"]);
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: "" });
    expect(readFileSync(join(root, unitPath), "utf8")).toContain("LARDER_DATA=/srv/larder\n");
    expect(statSync(join(root, unitPath)).mode & 0o777).toBe(0o644);
    expect(readFileSync(join(root, "etc/sysusers.d/larder.conf"), "utf8")).toStartWith("u larder - ");
    expect(readlinkSync(join(root, "etc/systemd/system/multi-user.target.wants/larder.service"))).toBe(`/${unitPath}`);
    expect(statSync(join(root, "srv/larder")).mode & 0o777).toBe(0o700);
    const before = statSync(join(root, unitPath)).mtimeMs;
    const second = await runLarder(["service", "install", "--root", root, "--data", "/srv/larder"]);
    expect(second.code).toBe(0);
    expect(second.stdout).toContain("is up to date");
    expect(statSync(join(root, unitPath)).mtimeMs).toBe(before);
  });

  test("creates no account if there is one", async () => {
    const root = newRoot("keeper:x:500:500::/:/bin/false\n");
    await runLarder(["service", "install", "--root", root, "--account", "keeper"]);
    expect(readFileSync(join(root, unitPath), "utf8")).toContain("User=keeper\nGroup=keeper\n");
    expect(existsSync(join(root, "etc/sysusers.d"))).toBe(false);
  });

  test("with --dry-run changes nothing, and prints what it would do", async () => {
    const root = newRoot();
    const { code, stdout } = await runLarder(["service", "install", "--root", root, "--dry-run"]);
    expect(code).toBe(0);
    expect(stdout).toContain(`would write ${root}/${unitPath}\n`);
    expect(existsSync(join(root, "etc/systemd"))).toBe(false);
    const here = await runLarder(["service", "install", "--dry-run"]);
    // An executable below /tmp, as from a checkout there, is rejected: the service would not see it.
    if (here.code === 2) expect(here.stderr).toContain("is in a temporary directory");
    else expect(here.stdout).toContain("would run: systemctl enable larder.service\n");
  });

  test("of a user service needs no root, and does not change /etc", async () => {
    const root = newRoot();
    const env = { HOME: "/home/ann" };
    const { code } = await runLarder(["service", "install", "--user", "--root", root], { env });
    expect(code).toBe(0);
    const text = readFileSync(join(root, "home/ann/.config/systemd/user/larder.service"), "utf8");
    expect(text).toContain("LARDER_DATA=/home/ann/.local/share/larder\n");
    expect(existsSync(join(root, "etc/systemd"))).toBe(false);
  });

  test("rejects data that the service could not see, and invalid account names", async () => {
    const hidden = await runLarder(["service", "install", "--root", newRoot(), "--data", "/tmp/larder"]);
    expect({ code: hidden.code, stderr: hidden.stderr }).toMatchObject({ code: 2 });
    expect(hidden.stderr).toContain("cannot access");
    expect((await runLarder(["service", "install", "--root", newRoot(), "--account", "a b"])).code).toBe(2);
    expect((await runLarder(["service", "install", "more", "--root", newRoot()])).code).toBe(2);
  });
});

describe("uninstall", () => {
  test("removes unit and link, and keeps the data", async () => {
    const root = newRoot();
    await runLarder(["service", "install", "--root", root, "--data", "/srv/larder"]);
    writeFileSync(join(root, "srv/larder/larder.db"), "kept");
    const { code } = await runLarder(["service", "uninstall", "--root", root, "--data", "/srv/larder"]);
    expect(code).toBe(0);
    expect(existsSync(join(root, unitPath))).toBe(false);
    expect(existsSync(join(root, "etc/systemd/system/multi-user.target.wants/larder.service"))).toBe(false);
    expect(readFileSync(join(root, "srv/larder/larder.db"), "utf8")).toBe("kept");
    const again = await runLarder(["service", "uninstall", "--root", root]);
    expect({ code: again.code, said: again.stdout.includes("Nothing to do") }).toEqual({ code: 0, said: true });
  });
});

test("status exits 1 if the service is not installed", async () => {
  const env = { HOME: join(folder, "nobody") };
  const { code, stdout } = await runLarder(["service", "status", "--user"], { env });
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: "The unit is not installed. To install it: larder service install\n",
  });
});
