import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, digestOf } from "../support/client.ts";
import { acquireServerLock } from "../../src/server/data/lock.ts";
import { eventually } from "../support/expect.ts";
import {
  type CommandResult,
  dispose,
  runLarder,
  sharedServer,
  startServer,
  temporaryDirectory,
  type TestServer,
  withServer,
} from "../support/server.ts";

const server = sharedServer();

// test/unit/cli tests more of help, mistakes, and settings, in one process.
describe("--help", () => {
  test("lists the commands and exits 0", async () => {
    const { code, stdout } = await runLarder(["--help"]);
    expect(code).toBe(0);
    for (const command of ["serve", "user", "backup", "restore", "verify", "version"])
      expect(stdout).toContain(command);
  });

  test("of serve exits 0 and names its flags", async () => {
    const { code, stdout } = await runLarder(["serve", "--help"]);
    expect(code).toBe(0);
    for (const flag of ["--data", "--host", "--port"]) expect(stdout).toContain(flag);
  });
});

describe("a mistake", () => {
  test.each([[["nonsense"]], [["serve", "--port", "many"]]])("%p exits 2 with a message on stderr", async (args) => {
    const { code, stderr, stdout } = await runLarder(args);
    expect(code).toBe(2);
    expect(stderr.trim()).not.toBe("");
    expect(stdout).not.toContain("listening on");
    expect(stderr).not.toMatch(/\n\s+at .+:\d+:\d+/);
  });
});

describe("version", () => {
  let printed: CommandResult;
  beforeAll(async () => {
    printed = await runLarder(["version"]);
  });

  test("prints the versions of Larder, Bun, SQLite, and libvips, and the commit", () => {
    expect(printed.code).toBe(0);
    expect(printed.stdout).toMatch(/\d+\.\d+\.\d+/);
    for (const word of ["bun", "sqlite", "libvips"]) expect(printed.stdout.toLowerCase()).toContain(word);
  });

  test("prints a SQLite version of at least 3.51.3", () => {
    const [, major = "0", minor = "0", patch = "0"] = /sqlite\D*(\d+)\.(\d+)\.(\d+)/i.exec(printed.stdout) ?? [];
    const number = Number(major) * 1_000_000 + Number(minor) * 1000 + Number(patch);
    expect(number).toBeGreaterThanOrEqual(3_051_003);
  });
});

describe("healthcheck", () => {
  test("exits 0 if the server is running, and otherwise not 0", async () => {
    const env = { LARDER_PORT: String(server().port), LARDER_HOST: "127.0.0.1" };
    expect((await server().larder(["healthcheck"], { env })).code).toBe(0);
    const none = await server().larder(["healthcheck"], { env: { ...env, LARDER_PORT: "1" } });
    expect(none.code).not.toBe(0);
  });
});

describe("config", () => {
  test("shows each setting with its source: flag or environment over file over default", async () => {
    const dataDir = await temporaryDirectory();
    try {
      await writeFile(
        join(dataDir, "larder.toml"),
        'port = 9001\nsignup = "closed"\npublicUrl = "https://a.example"\n',
      );
      const env = { LARDER_DATA: dataDir, LARDER_PORT: "9002" };
      const { code, stdout } = await runLarder(["config"], { env });
      expect(code).toBe(0);
      const line = (key: string) => stdout.split("\n").find((one) => new RegExp(`\\b${key}\\b`).test(one)) ?? "";
      expect(line("port")).toContain("9002");
      expect(line("port")).toContain("LARDER_PORT");
      expect(line("signup")).toContain("closed");
      expect(line("signup")).toContain("larder.toml");
      expect(line("host")).toContain("127.0.0.1");
      expect(line("host").toLowerCase()).toContain("default");
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });
});

describe("config rotate-secrets", () => {
  // The command took --data for an option of `config`, and used ./data.
  test("replaces only the requested keys, in the directory of --data", async () => {
    const { dataDir } = server();
    const read = async () => {
      const names = ["jwt", "link", "vapid"];
      return Promise.all(names.map((name) => Bun.file(join(dataDir, "secrets", `${name}.json`)).text()));
    };
    const before = await read();
    expect((await runLarder(["config", "rotate-secrets", "--push", "--data", dataDir])).code).toBe(0);
    const after = await read();
    expect(after.map((key, index) => key === before[index])).toEqual([false, true, false]);
  });

  test("--links ends existing links; their owner gets new addresses that work", async () => {
    const own = server();
    const { client, email, password } = await own.signUp();
    const id = await client.storedId("shared", { name: "shared.txt" });
    const shares = `/api/files/${id}/shares`;
    const before = new URL((await client.post(shares, {})).string("data.url")).pathname;
    expect((await own.visitor.get(before)).status).toBe(200);
    await own.stop();
    expect((await own.larder(["config", "rotate-secrets", "--links"])).code).toBe(0);
    await own.start();
    expect((await own.visitor.get(before)).status).toBe(404);
    const token = (await own.visitor.post("/api/auth/signin", { email, password })).string("token");
    const listed = await new Client(own, token).get(shares);
    expect((await own.visitor.get(new URL(listed.string("data.shares.0.url")).pathname)).status).toBe(200);
  });
});

describe("a bad setting", () => {
  test("in larder.toml stops the start and names the line and the nearest key", async () => {
    const dataDir = await temporaryDirectory();
    try {
      await writeFile(join(dataDir, "larder.toml"), "# first\nprot = 9000\n");
      const { code, stderr, stdout } = await runLarder(["serve", "--data", dataDir, "--port", "0"]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/(?=[\s\S]*\b2\b)(?=[\s\S]*prot)(?=[\s\S]*\bport\b)/);
      expect(stdout).not.toContain("listening on");
      expect(await Bun.file(join(dataDir, "larder.db")).exists()).toBe(false);
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });

  test("in the environment stops the start", async () => {
    const dataDir = await temporaryDirectory();
    try {
      const env = { LARDER_PORT: "0", LARDER_PROT: "9000" };
      const { code, stderr } = await runLarder(["serve", "--data", dataDir], { env });
      expect(code).toBe(2);
      expect(stderr).toMatch(/LARDER_PORT/);
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });
});

test("uploaded bytes can be verified before they are acknowledged", async () => {
  await withServer({ hasAccounts: true, env: { LARDER_VERIFY_AFTER_WRITE: "on" } }, async (own) => {
    const { client } = await own.signUp();
    const id = await client.storedId("read back");
    expect((await client.get(`/api/files/${id}/download`)).text).toBe("read back");
  });
});

describe("precedence", () => {
  const own = sharedServer({
    toml: 'signup = "closed"\n[plans.free]\nmaxFileSize = 1000\n',
    env: { LARDER_PORT: "1" },
  });

  test("of flags: --port wins over LARDER_PORT", async () => {
    expect((await own().visitor.get("/health/live")).status).toBe(200);
  });

  test("of larder.toml: the environment wins over it", async () => {
    const refused = await own().visitor.post("/api/auth/signup", { email: "a@example.com", password: "long enough" });
    expect(refused.status).toBe(403);
    await own().restart({ env: { LARDER_SIGNUP: "open" } });
    const taken = await own().visitor.post("/api/auth/signup", { email: "a@example.com", password: "long enough" });
    expect(taken.status).toBe(201);
  });
});

describe("serve", () => {
  let folder: string;
  let own: TestServer;
  beforeAll(async () => {
    folder = await temporaryDirectory();
    own = await startServer({ dataDir: join(folder, "deep", "data") });
  });
  afterAll(async () => {
    await own.kill9();
    await rm(folder, { recursive: true });
  });

  test("creates the data directory with its folders", async () => {
    const { dataDir } = own;
    expect((await own.visitor.get("/health/ready")).status).toBe(200);
    expect(await Bun.file(join(dataDir, "larder.db")).exists()).toBe(true);
    for (const name of ["blobs", "uploads", "thumbs", "snapshots", "secrets"])
      expect({ name, made: await isFolder(join(dataDir, name)) }).toEqual({ name, made: true });
  });

  test("prints a set-up address at the first start, and creates no default account", async () => {
    await eventually("an address to set up is printed", () => /http:\/\/127\.0\.0\.1:\d+\/\S{16,}/.test(own.log));
    const tried = await own.visitor.post("/api/auth/signin", { email: "admin@example.com", password: "adminadmin" });
    expect(tried.status).toBe(401);
    const { code, stdout } = await own.larder(["user", "list", "--json"]);
    expect({ code, empty: !stdout.includes("@") }).toEqual({ code: 0, empty: true });
  });

  test("ends on SIGTERM with exit code 0", async () => {
    await own.signUp();
    expect(await own.stop()).toBe(0);
  });

  test("ends on SIGINT with exit code 0", async () => {
    await own.restart();
    own.signal("SIGINT");
    expect(await own.exited()).toBe(0);
  });

  test("rejects a port that is in use", async () => {
    const folder = await temporaryDirectory();
    try {
      const { code, stderr } = await runLarder(["serve", "--data", folder, "--port", String(server().port)]);
      expect(code).not.toBe(0);
      expect(stderr).toContain(String(server().port));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe("gc --now", () => {
  test("removes all blobs without a file in one run, and nothing else", async () => {
    // One run only marked the blobs, and a second one removed them.
    const { client } = await server().signUp();
    const contents = Array.from({ length: 20 }, (_, index) => new Uint8Array(5000).fill(index + 1));
    const retained = new Uint8Array(5000).fill(99);
    const ids = await Promise.all(contents.map((content) => client.storedId(content)));
    const retainedId = await client.storedId(retained);
    const digests = contents.map(digestOf);
    const remainingPaths = async () => {
      const names = await readdir(join(server().dataDir, "blobs"), { recursive: true });
      return names.filter((name) => digests.some((digest) => name.endsWith(digest)));
    };
    for (const id of ids) await client.delete(`/api/files/${id}`);
    expect((await server().larder(["gc"])).code).toBe(0);
    expect((await remainingPaths()).every((name) => name.startsWith("sha256/"))).toBe(true);
    expect(await remainingPaths()).toHaveLength(20);
    const { code, stdout, stderr } = await server().larder(["gc", "--now"]);
    expect({ code, said: stdout + stderr }).toEqual({ code: 0, said: expect.any(String) });
    expect(await remainingPaths()).toEqual([]);
    expect((await client.get(`/api/files/${retainedId}/download`)).bytes).toHaveLength(5000);
    const [gone = retained] = contents;
    const again = await client.storedId(gone);
    expect((await client.get(`/api/files/${again}/download`)).bytes).toHaveLength(5000);
  });
});

describe("gc prints", () => {
  test("each blob once, in singular and plural", async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      const { client } = await server.signUp();
      const say = async (...flags: string[]) => (await server.larder(["gc", ...flags])).stdout.trim();
      const leave = async (...contents: string[]) => {
        for (const content of contents) await client.delete(`/api/files/${await client.storedId(content)}`);
      };
      const snapshot = "\nRemoved 1 older snapshot; kept the newest.";
      expect(await say()).toBe("Nothing to remove.");
      expect(await say("--now")).toBe(`Nothing to remove.${snapshot}`);
      await leave("one");
      expect(await say("--now")).toBe(`Removed 1 blob, 3 B.${snapshot}`);
      await leave("two", "three");
      expect(await say("--now")).toBe(`Removed 2 blobs, 8 B.${snapshot}`);
      expect(JSON.parse(await say("--now", "--json"))).toEqual({
        ok: true,
        error: null,
        result: { setAside: 0, removed: 0, freedBytes: 0, snapshotsRemoved: 1 },
      });
    });
  });
});

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
}

test("gc ends with a message if the process that owns the data directory starts no jobs", async () => {
  const stopped = await startServer();
  try {
    await stopped.stop();
    const lock = acquireServerLock(join(stopped.dataDir, "larder.lock"));
    const { code, stderr } = await stopped.larder(["gc"]);
    lock.release();
    expect([code, stderr]).toEqual([2, expect.stringContaining("The server did not start the job")]);
  } finally {
    await dispose(stopped);
  }
});
