import { beforeAll, describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { shareWith } from "../support/account-shares.ts";
import type { Account, ApiResponse, RequestOptions } from "../support/client.ts";
import { expectStatus, sortedStatuses } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer, type TestServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });
const MIB = 1024 * 1024;

/** A sync client with an app password. */
class SyncClient {
  constructor(
    readonly own: TestServer,
    readonly account: Account,
    readonly authorization: string,
  ) {}

  /** @param path below `/remote.php/dav/`, with `{user}` for the account */
  request(method: string, path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    const headers = { authorization: this.authorization, ...options.headers };
    return this.own.visitor.request(method, this.pathOf(path), { ...options, headers });
  }

  pathOf(path: string): string {
    return `/remote.php/dav/${path.replace("{user}", encodeURIComponent(this.account.email))}`;
  }

  /** @param totalBytes size of the complete file, which the desktop clients announce */
  begin(transfer: string, totalBytes?: number): Promise<ApiResponse> {
    const headers = totalBytes === undefined ? {} : { "oc-total-length": String(totalBytes) };
    return this.request("MKCOL", `uploads/{user}/${transfer}`, { headers });
  }

  put(transfer: string, name: string, body: Uint8Array<ArrayBuffer> | string): Promise<ApiResponse> {
    return this.request("PUT", `uploads/{user}/${transfer}/${name}`, { body });
  }

  finish(transfer: string, target: string, headers: Record<string, string> = {}): Promise<ApiResponse> {
    const destination = this.own.url + this.pathOf(`files/{user}/${target}`);
    return this.request("MOVE", `uploads/{user}/${transfer}/.file`, { headers: { destination, ...headers } });
  }

  /** The names and sizes of the stored chunks. */
  async list(transfer: string): Promise<[string, number][]> {
    const listed = await this.request("PROPFIND", `uploads/{user}/${transfer}/`, { headers: { depth: "1" } });
    expectStatus(listed, 207);
    const items = [...listed.text.matchAll(/<d:href>([^<]*)<\/d:href>.*?(?:getcontentlength>(\d+)<|<d:collection)/g)];
    return items.slice(1).map(([, href = "", size]) => [href.slice(href.lastIndexOf("/") + 1), Number(size)]);
  }

  async content(target: string): Promise<Uint8Array> {
    const got = await this.request("GET", `files/{user}/${target}`);
    expectStatus(got, 200);
    return got.bytes;
  }
}

async function connect(own: TestServer, account?: Account, settings: object = {}): Promise<SyncClient> {
  const owner = account ?? (await own.signUp());
  const { email, password, client } = owner;
  const made = await client.post("/api/users/app-passwords", { name: "test", currentPassword: password, ...settings });
  expectStatus(made, 201);
  const credentials = Buffer.from(`${email}:${made.string("data.password")}`).toString("base64");
  return new SyncClient(own, owner, `Basic ${credentials}`);
}

function randomBytes(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}

function sha(bytes: Uint8Array, algorithm = "sha256"): string {
  return createHash(algorithm).update(bytes).digest("hex");
}

/** The sizes of the files with the bytes of chunks. */
async function stagedSizes({ dataDir }: TestServer): Promise<number[]> {
  const names = await Array.fromAsync(new Bun.Glob("cup_*").scan({ cwd: `${dataDir}/uploads` }));
  return names.map((name) => Bun.file(`${dataDir}/uploads/${name}`).size).sort((a, b) => a - b);
}

/** Sends chunks that must be accepted. */
async function sendAll(client: SyncClient, transfer: string, chunks: Record<string, Uint8Array<ArrayBuffer> | string>) {
  expectStatus(await client.begin(transfer), 201);
  for (const [name, body] of Object.entries(chunks)) expectStatus(await client.put(transfer, name, body), 201);
}

let sync: SyncClient;
beforeAll(async () => {
  sync = await connect(server());
});

describe("a large file in chunks", () => {
  test("becomes a file, then the next version of it", async () => {
    const content = randomBytes(3 * MIB + 17);
    await sendAll(sync, "t1", {
      "0000000000000000": content.slice(0, MIB),
      "0000000001048576": content.slice(MIB, 3 * MIB),
      "0000000003145728": content.slice(3 * MIB),
    });
    expect(await sync.list("t1")).toEqual([
      ["0000000000000000", MIB],
      ["0000000001048576", 2 * MIB],
      ["0000000003145728", 17],
    ]);
    const moved = await sync.finish("t1", "video.mp4", {
      "oc-total-length": String(content.length),
      "oc-checksum": `SHA256:${sha(content)}`,
      "x-oc-mtime": "1600000000",
    });
    expectStatus(moved, 201);
    expect(moved.header("x-oc-mtime")).toBe("accepted");
    expect(moved.header("oc-etag")).toBe(moved.header("etag"));
    expect(moved.header("oc-fileid")).toMatch(/^\d{8,}/);
    expect(sha(await sync.content("video.mp4"))).toBe(sha(content));
    expectStatus(await sync.request("PROPFIND", "uploads/{user}/t1"), 404);

    await sendAll(sync, "t2", { "1": "new ", "2": "content" });
    const replaced = await sync.finish("t2", "video.mp4", { "if-match": moved.header("etag") });
    expectStatus(replaced, 204);
    expect(replaced.header("oc-fileid")).toBe(moved.header("oc-fileid"));
    expect(Buffer.from(await sync.content("video.mp4")).toString()).toBe("new content");
    const found = (await sync.account.client.get("/api/files")).list("data.files");
    expect(found).toMatchObject([{ name: "video.mp4", version: 2 }]);
  });

  test("chunks may come in any order, in parallel, again, and in any size", async () => {
    const parts = [randomBytes(100), randomBytes(70_000), randomBytes(0), randomBytes(MIB), randomBytes(5)];
    expectStatus(await sync.begin("mixed"), 201);
    const order = [9, 1, 3, 2, 10];
    await Promise.all(
      parts.map(async (part, index) => expectStatus(await sync.put("mixed", String(order[index]), part), 201)),
    );
    expectStatus(await sync.put("mixed", "3", "replaced before"), 204);
    expectStatus(await sync.put("mixed", "1", randomBytes(MIB)), 204);
    expectStatus(await sync.put("mixed", "1", parts[1] ?? ""), 204);
    const sorted = order.toSorted((a, b) => a - b);
    expect((await sync.list("mixed")).map(([name]) => Number(name))).toEqual(sorted);
    expectStatus(await sync.finish("mixed", "mixed.bin"), 201);
    const expected = Buffer.concat(
      sorted.map((number) =>
        number === 3 ? Buffer.from("replaced before") : (parts[order.indexOf(number)] ?? Buffer.alloc(0)),
      ),
    );
    expect(sha(await sync.content("mixed.bin"))).toBe(sha(expected));
  });

  test("every checksum that clients send is verified", async () => {
    const content = randomBytes(150_000);
    const right = {
      SHA256: sha(content),
      SHA1: sha(content, "sha1"),
      MD5: sha(content, "md5"),
      ADLER32: Bun.hash.adler32(content).toString(16),
    };
    await sendAll(sync, "sums", { "1": content.slice(0, 70_000), "2": content.slice(70_000) });
    for (const kind of Object.keys(right)) {
      const wrong = {
        "oc-checksum": `${kind}:${"1".repeat(kind === "SHA256" ? 64 : kind === "SHA1" ? 40 : kind === "MD5" ? 32 : 8)}`,
      };
      expectStatus(await sync.finish("sums", "sums.bin", wrong), 400);
    }
    expectStatus(await sync.finish("sums", "sums.bin", { "oc-checksum": "SHA1:xyz" }), 400);
    expectStatus(await sync.finish("sums", "sums.bin", { "oc-total-length": "150001" }), 400);
    expectStatus(await sync.request("GET", "files/{user}/sums.bin"), 404);
    for (const [kind, value] of Object.entries(right)) {
      const transfer = `sum-${kind}`;
      await sendAll(sync, transfer, { "1": content });
      const moved = await sync.finish(transfer, `${kind}.bin`, { "oc-checksum": `${kind}:${value}` });
      expectStatus(moved, 201);
    }
    expectStatus(await sync.finish("sums", "sums.bin"), 201);
  });

  test("an upload without chunks becomes an empty file only if the client sent one", async () => {
    expectStatus(await sync.begin("empty"), 201);
    const empty = new Uint8Array();
    for (const kind of ["sha256", "md5"]) {
      const wrong = { "oc-checksum": `${kind}:${sha(randomBytes(1), kind)}` };
      expectStatus(await sync.finish("empty", "empty.bin", wrong), 400);
    }
    expectStatus(await sync.finish("empty", "empty.bin", { "oc-total-length": "1" }), 400);
    expectStatus(await sync.finish("empty", "empty.bin"), 400);
    expectStatus(await sync.request("GET", "files/{user}/empty.bin"), 404);
    expectStatus(await sync.finish("empty", "empty.bin", { "oc-checksum": `SHA256:${sha(empty)}` }), 201);
    expect(await sync.content("empty.bin")).toHaveLength(0);
    expectStatus(await sync.begin("empty"), 201);
    expectStatus(await sync.finish("empty", "empty.bin", { "oc-total-length": "0" }), 204);
    await sendAll(sync, "empty", { "1": empty });
    expectStatus(await sync.finish("empty", "empty.bin"), 204);
  });

  test("a rejected end loses nothing: more chunks can follow", async () => {
    const [first, second] = [randomBytes(MIB), randomBytes(MIB)];
    await sendAll(sync, "retry", { "1": first });
    expectStatus(await sync.finish("retry", "missing/folder.bin"), 409);
    expectStatus(await sync.finish("retry", "retry.bin", { "if-match": '"other"' }), 412);
    expectStatus(await sync.put("retry", "2", second), 201);
    expectStatus(await sync.finish("retry", "retry.bin", { "oc-total-length": String(2 * MIB) }), 201);
    expect(sha(await sync.content("retry.bin"))).toBe(sha(Buffer.concat([first, second])));
  });

  test("chunks can follow after a wrong checksum, when the first ones are hashed already", async () => {
    const [first, second, third] = [randomBytes(MIB), randomBytes(10), randomBytes(MIB)];
    await sendAll(sync, "hashed", { "1": first, "2": second });
    const wrong = { "oc-checksum": `SHA256:${"0".repeat(64)}` };
    expectStatus(await sync.finish("hashed", "hashed.bin", wrong), 400);
    expectStatus(await sync.request("DELETE", "uploads/{user}/hashed/2"), 204);
    expectStatus(await sync.finish("hashed", "hashed.bin", wrong), 400);
    expectStatus(await sync.put("hashed", "3", third), 201);
    const whole = Buffer.concat([first, third]);
    expectStatus(await sync.finish("hashed", "hashed.bin", { "oc-checksum": `SHA256:${sha(whole)}` }), 201);
    expect(sha(await sync.content("hashed.bin"))).toBe(sha(whole));
  });

  test("bytes that were stored as another file stay whole when a rejected upload continues", async () => {
    const content = randomBytes(MIB);
    await sendAll(sync, "linked", { "1": content });
    // The bytes are the same, so both files share them in the store.
    await sync.account.client.upload(content, { name: "same.bin" });
    expectStatus(await sync.finish("linked", "linked.bin", { overwrite: "T", "if-match": '"x"' }), 412);
    expectStatus(await sync.put("linked", "2", randomBytes(MIB)), 201);
    expectStatus(await sync.put("linked", "1", randomBytes(MIB)), 204);
    expectStatus(await sync.finish("linked", "linked.bin"), 201);
    expect(sha(await sync.content("same.bin"))).toBe(sha(content));
  });

  test("Overwrite: F does not replace a file", async () => {
    await sendAll(sync, "over", { "1": "new" });
    await sync.account.client.upload("old", { name: "over.txt" });
    expectStatus(await sync.finish("over", "over.txt", { overwrite: "F" }), 412);
    expectStatus(await sync.finish("over", "over.txt"), 204);
  });

  test("the header If of the desktop clients is honored", async () => {
    const stored = await sync.account.client.upload("one", { name: "if.txt" });
    expectStatus(stored, 201);
    const path = sync.pathOf("files/{user}/if.txt");
    const etag = (await sync.request("HEAD", "files/{user}/if.txt")).header("etag");
    await sendAll(sync, "if", { "1": "two" });
    expectStatus(await sync.finish("if", "if.txt", { if: `<${path}> (["another"])` }), 412);
    expectStatus(await sync.finish("if", "if.txt", { if: `<${path}> ([${etag}])` }), 204);
  });
});

describe("the folder of an upload", () => {
  test("can be made once, and deleted", async () => {
    expectStatus(await sync.begin("folder"), 201);
    expectStatus(await sync.begin("folder"), 405);
    expectStatus(await sync.put("folder", "1", "x"), 201);
    expectStatus(await sync.request("DELETE", "uploads/{user}/folder"), 204);
    expectStatus(await sync.request("DELETE", "uploads/{user}/folder"), 404);
    expectStatus(await sync.put("folder", "1", "x"), 404);
    expectStatus(await sync.finish("folder", "x.txt"), 404);
    expectStatus(await sync.begin("folder"), 201);
    expect(await sync.list("folder")).toEqual([]);
  });

  test("single chunks can be deleted", async () => {
    await sendAll(sync, "parts", { "1": "one", "2": "two", "3": "three" });
    expectStatus(await sync.request("DELETE", "uploads/{user}/parts/2"), 204);
    expectStatus(await sync.request("DELETE", "uploads/{user}/parts/2"), 404);
    expectStatus(await sync.put("parts", "4", "four"), 201);
    expectStatus(await sync.finish("parts", "parts.txt"), 201);
    expect(Buffer.from(await sync.content("parts.txt")).toString()).toBe("onethreefour");
  });

  test("belongs to its account, and needs write access", async () => {
    const other = await connect(server());
    await sendAll(sync, "mine", { "1": "secret" });
    for (const [method, path] of [
      ["PROPFIND", "uploads/USER/mine"],
      ["PUT", "uploads/USER/mine/2"],
      ["DELETE", "uploads/USER/mine/1"],
      ["DELETE", "uploads/USER/mine"],
      ["MKCOL", "uploads/USER/new"],
    ] as const) {
      const address = path.replace("USER", encodeURIComponent(sync.account.email));
      expectStatus(await other.request(method, address), 404);
      expectStatus(await sync.own.visitor.request(method, `/remote.php/dav/${address}`), 401);
    }
    expectStatus(await other.finish("mine", "stolen.txt"), 404);
    const reader = await connect(server(), sync.account, { access: "read" });
    expectStatus(await reader.begin("read"), 403);
    expectStatus(await reader.put("mine", "2", "x"), 403);
    expectStatus(await reader.finish("mine", "x.txt"), 403);
    expectStatus(await reader.request("DELETE", "uploads/{user}/mine"), 403);
    expect(await reader.list("mine")).toEqual([["1", 6]]);
  });

  test("wrong requests are rejected", async () => {
    await sendAll(sync, "wrong", { "1": "x" });
    for (const name of ["x", "-1", "1.5", "%ff", "1e3", "99999999999999999999", ".file", "1%202"]) {
      expectStatus(await sync.put("wrong", name, "x"), 400);
    }
    const move = (headers: Record<string, string>, from = ".file") =>
      sync.request("MOVE", `uploads/{user}/wrong/${from}`, { headers });
    expectStatus(await move({}), 400);
    expectStatus(await move({ destination: "https://elsewhere.example/remote.php/webdav/x" }), 502);
    expectStatus(await move({ destination: `${server().url}/remote.php/dav/uploads/x/y` }), 502);
    expectStatus(await move({ destination: `${server().url}/remote.php/webdav/x` }, "1"), 403);
    for (const header of ["-1", "x", "1.5"])
      expectStatus(await sync.finish("wrong", "x", { "oc-total-length": header }), 400);
    expectStatus(await sync.finish("wrong", "x", { "x-oc-mtime": "x" }), 400);
    for (const name of ["a".repeat(300), "%ff", "a%2Fb", "..%2fa", "a%00", "a%0A"]) {
      expectStatus(await sync.request("MKCOL", `uploads/{user}/${name}`), 400);
      expectStatus(await sync.put(name, "1", "x"), name.startsWith("aaa") ? 404 : 400);
    }
    expectStatus(await sync.request("MKCOL", "uploads/%ff/wrong"), 400);
    expectStatus(await sync.request("MKCOL", "uploads/{user}/length", { headers: { "oc-total-length": "x" } }), 400);
    const malformed = { body: "<propfind", headers: { "content-type": "application/xml" } };
    expectStatus(await sync.request("PROPFIND", "uploads/{user}/wrong", malformed), 400);
    expect(await sync.list("wrong")).toEqual([["1", 1]]);
  });
});

describe("limits", () => {
  test("the quota holds while chunks arrive, and the reservation ends with the upload", async () => {
    const account = await server().signUp();
    await server().change(account.id, { quota: 3 * MIB });
    const sizesBefore = await stagedSizes(server());
    const limited = await connect(server(), account);
    // The desktop clients announce the size, so a file that can't fit is rejected before its bytes are sent.
    expectStatus(await limited.begin("a", 3 * MIB + 1), 507);
    expectStatus(await limited.put("a", "1", "x"), 404);
    expectStatus(await limited.begin("whole", 3 * MIB), 201);
    await sendAll(limited, "a", { "1": randomBytes(2 * MIB) });
    expectStatus(await limited.begin("second", 2 * MIB), 507);
    expectStatus(await limited.put("a", "2", randomBytes(2 * MIB)), 507);
    // Without a length it is rejected while it arrives, and what arrived does not stay on the disk.
    const unsized = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let count = 0; count < 4; count++) controller.enqueue(randomBytes(MIB / 2));
        controller.close();
      },
    });
    expectStatus(await limited.request("PUT", "uploads/{user}/a/2", { body: unsized }), 507);
    expect(await stagedSizes(server())).toEqual(sizesBefore.concat(2 * MIB).sort((a, b) => a - b));
    expectStatus(await account.client.upload(randomBytes(2 * MIB), { name: "big.bin" }), 413);
    // Repeating a chunk reserves nothing more.
    expectStatus(await limited.put("a", "2", randomBytes(MIB)), 201);
    expectStatus(await limited.put("a", "2", randomBytes(MIB)), 204);
    expectStatus(await limited.finish("a", "a.bin"), 201);
    expect((await account.client.get("/api/users/usage")).number("data.storage.used")).toBe(3 * MIB);
    expectStatus(await limited.begin("b"), 201);
    expectStatus(await limited.put("b", "1", "x"), 507);
    expectStatus(await limited.request("DELETE", "uploads/{user}/b"), 204);
  });

  test("the plan's largest file holds for all chunks together", async () => {
    const env = { LARDER_PLANS_ENTERPRISE_MAX_FILE_SIZE: String(MIB) };
    await withServer({ env }, async (own) => {
      const limited = await connect(own);
      expectStatus(await limited.begin("a", MIB + 1), 413);
      expectStatus(await limited.begin("b", Number.MAX_SAFE_INTEGER), 413);
      await sendAll(limited, "a", { "1": randomBytes(MIB - 10) });
      expectStatus(await limited.put("a", "2", randomBytes(11)), 413);
      expectStatus(await limited.put("a", "2", randomBytes(10)), 201);
      expectStatus(await limited.finish("a", "a.bin"), 201);
      expectStatus(await limited.begin("parallel"), 201);
      const part = randomBytes(700_000);
      const sent = await Promise.all(["1", "2", "3"].map((name) => limited.put("parallel", name, part)));
      expect(sortedStatuses(sent)).toEqual([201, 413, 413]);
      expect(await stagedSizes(own)).toEqual([part.length]);
    });
  });

  // Bytes of rejected chunks stayed on the disk, outside of every quota. A chunked upload ignored the plan of the owner.
  test("a chunk that is rejected in the middle leaves no bytes, and the plan of a share's owner holds", async () => {
    await withServer({ env: { LARDER_PLANS_FREE_MAX_FILE_SIZE: "1000" } }, async (own) => {
      const guest = await own.addUser(["--quota", String(3 * MIB), "--plan", "enterprise"]);
      const limited = await connect(own, guest);
      await sendAll(limited, "a", { "1": randomBytes(2 * MIB) });
      const parts = [randomBytes(MIB / 2), randomBytes(MIB)];
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          const part = parts.shift();
          if (part === undefined) controller.close();
          else controller.enqueue(part);
        },
      });
      expectStatus(await limited.request("PUT", "uploads/{user}/a/2", { body }), 507);
      const files = await Array.fromAsync(new Bun.Glob("*").scan({ cwd: `${own.dataDir}/uploads`, absolute: true }));
      expect(files.map((path) => Bun.file(path).size)).toEqual([2 * MIB]);
      expectStatus(await limited.put("a", "2", randomBytes(MIB)), 201);

      const owner = await own.addUser(["--plan", "free"]);
      const id = await owner.client.storedId("small", { name: "small.bin" });
      await shareWith(owner.client, id, guest, { permissions: "write" });
      expectStatus(await limited.finish("a", "Shared%20with%20me/small.bin"), 413);
      expect(Buffer.from(await limited.content("Shared%20with%20me/small.bin")).toString()).toBe("small");
      expectStatus(await limited.finish("a", "a.bin"), 201);
    });
  });
});

describe("restarts", () => {
  test("kill -9 loses no stored chunk, in order or not", async () => {
    await withServer({}, async (own) => {
      const client = await connect(own);
      const parts = [randomBytes(MIB), randomBytes(MIB), randomBytes(MIB)];
      const [one = "", two = "", three = ""] = parts;
      await sendAll(client, "ordered", { "1": one, "2": two });
      await sendAll(client, "mixed", { "03": three, "01": one });
      await own.kill9();
      await own.restart();
      expect(await client.list("ordered")).toHaveLength(2);
      expect(await client.list("mixed")).toHaveLength(2);
      expectStatus(await client.put("ordered", "3", three), 201);
      expectStatus(await client.put("mixed", "2", two), 201);
      for (const transfer of ["ordered", "mixed"]) {
        expectStatus(await client.finish(transfer, `${transfer}.bin`), 201);
        expect(sha(await client.content(`${transfer}.bin`))).toBe(sha(Buffer.concat(parts)));
      }
      // Clients continue after the sum of the listed sizes, so what follows a lost chunk must go too.
      await sendAll(client, "lost", { "02": two, "01": one, "03": three });
      const ownFiles = await Array.fromAsync(new Bun.Glob("*.*").scan({ cwd: `${own.dataDir}/uploads` }));
      expect(ownFiles).toHaveLength(1);
      await own.kill9();
      await rm(`${own.dataDir}/uploads/${ownFiles[0]}`);
      await own.restart();
      expect(await client.list("lost")).toEqual([]);
      for (const [name, part] of [
        ["1", one],
        ["2", two],
        ["3", three],
      ] as const) {
        expectStatus(await client.put("lost", name, part), 201);
      }
      expectStatus(await client.finish("lost", "lost.bin"), 201);
      expect(sha(await client.content("lost.bin"))).toBe(sha(Buffer.concat(parts)));
      const left = await Array.fromAsync(new Bun.Glob("*").scan({ cwd: `${own.dataDir}/uploads` }));
      expect(left).toEqual([]);
    });
  });

  test("an abandoned upload expires, and releases its quota and its bytes", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const client = await connect(own);
      const admin = await own.addUser(["--admin"]);
      await sendAll(client, "old", { "02": "two", "01": "one" });
      await sendAll(client, "same", { "01": "one" });
      await own.stop();
      const sqlite = new Database(`${own.dataDir}/larder.db`);
      sqlite.run("UPDATE upload_sessions SET expires_at = 1");
      sqlite.close();
      await own.start();
      expectStatus(await client.request("PROPFIND", "uploads/{user}/old"), 404);
      expectStatus(await client.put("old", "03", "three"), 404);
      expectStatus(await client.finish("old", "old.txt"), 404);
      // A client that returns later begins with the same name again.
      expectStatus(await client.begin("same"), 201);
      expect(await client.list("same")).toEqual([]);
      expectStatus(await client.request("DELETE", "uploads/{user}/same"), 204);
      await runJob(admin.client, "uploads");
      expect((await client.account.client.get("/api/users/usage")).number("data.storage.used")).toBe(0);
      expect(await stagedSizes(own)).toEqual([]);
    });
  });
});

testAllResponses(server, { mayFail: [502, 507] });
