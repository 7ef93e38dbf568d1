import { describe, expect, test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import type { Account, ApiResponse } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";
import { hostileZips, lyingZips, makeZip } from "../support/zip-files.ts";

const server = sharedServer({ hasAccounts: true, env: { LARDER_RATE_LIMITS: "off" } });

const TREE = makeZip([
  { name: "readme.txt", content: "hello", isDeflated: true },
  { name: "pictures/", mode: 0x41ed },
  { name: "pictures/garden/bean.txt", content: "bean ".repeat(100), isDeflated: true },
  { name: "Ümläut.txt", content: "umlaut" },
  { name: "big.bin", content: Buffer.alloc(400_000, "0123456789abcdef"), isZip64: true },
]);

const store = (as: Account, zip: Buffer, name = "things.zip", folder = "/") =>
  as.client.storedId(zip, { name, type: "application/zip", fields: { folder } });

/** Waits until an extraction has ended. */
async function ended(as: Account, begun: ApiResponse): Promise<ApiResponse> {
  expectStatus(begun, 202);
  const path = `/api/files/extractions/${begun.string("data.id")}`;
  let response = await as.client.get(path);
  await eventually("the extraction has ended", async () => {
    response = await as.client.get(path);
    return !["waiting", "running"].includes(response.string("data.state"));
  });
  return response;
}

const extract = async (as: Account, id: string, body: object = {}) =>
  ended(as, await as.client.post(`/api/files/${id}/extract`, body));

describe("GET /api/files/{id}/archive", () => {
  test("lists folders that the archive names or implies, and files with their sizes", async () => {
    const account = await server().signUp();
    const id = await store(account, TREE);
    const list = async (path: string) => {
      const response = await account.client.get(`/api/files/${id}/archive?path=${encodeURIComponent(path)}`);
      expectStatus(response, 200);
      return response.strings("data.entries", "path");
    };
    expect(await list("")).toEqual(["pictures", "big.bin", "readme.txt", "Ümläut.txt"]);
    expect(await list("pictures")).toEqual(["pictures/garden"]);
    expect(await list("pictures/garden")).toEqual(["pictures/garden/bean.txt"]);
    const top = await account.client.get(`/api/files/${id}/archive`);
    expect(top.at("data.entries.1")).toMatchObject({ name: "big.bin", type: "file", size: 400_000 });
    expect(top.at("data.entries.2")).toMatchObject({
      mimeType: "text/plain",
      modifiedAt: expect.stringMatching(/^2024-05-1[67]T/),
    });
    expectError(await account.client.get(`/api/files/${id}/archive?path=none`), 404, "not_found");
    const page = await account.client.get(`/api/files/${id}/archive?limit=2&page=2`);
    expect(page.strings("data.entries", "name")).toEqual(["readme.txt", "Ümläut.txt"]);
  });

  test("reads names in UTF-8, marked or not, and in CP437", async () => {
    const account = await server().signUp();
    const id = await store(
      account,
      makeZip([
        { name: "grün.txt" },
        { name: Buffer.from("blau-ä.txt") },
        { name: Buffer.from([0x81, 0x62, 0x65, 0x72]) },
      ]),
    );
    const response = await account.client.get(`/api/files/${id}/archive`);
    expect(response.strings("data.entries", "name").toSorted()).toEqual(["blau-ä.txt", "grün.txt", "über"]);
  });

  test("sends one file under the policies of stored content, without ranges", async () => {
    const account = await server().signUp();
    const id = await store(
      account,
      makeZip([
        { name: "a/page.html", content: "<script>alert(1)</script>" },
        { name: "b.txt", content: "text ".repeat(2_000), isDeflated: true },
      ]),
    );
    const open = (path: string, headers = {}) =>
      account.client.get(`/api/files/${id}/archive/entry?path=${encodeURIComponent(path)}&inline=true`, headers);
    const page = await open("a/page.html");
    expect(page.header("content-disposition")).toStartWith("attachment");
    expect(page.header("content-security-policy")).toContain("sandbox");
    expect(page.header("x-content-type-options")).toBe("nosniff");
    const text = await open("b.txt", { range: "bytes=0-3" });
    expectStatus(text, 200);
    expect(text.text).toBe("text ".repeat(2_000));
    expect(text.header("content-disposition")).toStartWith("inline");
    expectStatus(await open("b.txt", { "if-none-match": text.header("etag") }), 304);
    expectError(await open("a"), 404, "not_found");
    expectError(await open(""), 400, "invalid_field");
  });

  test("counts the bytes that it sends, not those that the archive declares", async () => {
    // The declared size was counted: with ZIP64, 9 PB for each attempt.
    const account = await server().signUp();
    const lying = { name: "lying.txt", content: "text ".repeat(50), isDeflated: true, size: 4_000_000_000 };
    const id = await store(account, makeZip([lying, { name: "true.txt", content: "true", isDeflated: true }]));
    const open = (name: string) => account.client.get(`/api/files/${id}/archive/entry?path=${name}`);
    expect((await open("true.txt")).text).toBe("true");
    // The connection breaks, because the content has another size.
    await open("lying.txt").catch(() => undefined);
    const usage = await account.client.get("/api/users/usage");
    // A client may try a broken connection again.
    expect(usage.number("data.transfers.downloads")).toBeGreaterThanOrEqual(2);
    expect(usage.number("data.transfers.downloadedBytes")).toBeLessThan(10_000);
  });

  test("is for those who may read the archive", async () => {
    const [owner, reader, stranger] = [await server().signUp(), await server().signUp(), await server().signUp()];
    const id = await store(owner, TREE);
    await shareWith(owner.client, id, reader, { permissions: "read" });
    for (const path of [`/api/files/${id}/archive`, `/api/files/${id}/archive/entry?path=readme.txt`]) {
      expectStatus(await reader.client.get(path), 200);
      expectError(await stranger.client.get(path), 404, "not_found");
    }
    expectError(await stranger.client.post(`/api/files/${id}/extract`, {}), 404, "not_found");
    // The archive may be read, but its folder is not the recipient's.
    expectError(await reader.client.post(`/api/files/${id}/extract`, {}), 403, "share_permission");
    const done = await extract(reader, id, { folderPath: "/" });
    expect(done.at("data")).toMatchObject({ state: "done", folder: { path: "/things" } });
    expect(await owner.client.names()).toEqual(["things.zip"]);
    expectError(await owner.client.get(`/api/files/extractions/${done.string("data.id")}`), 404, "not_found");
  });
});

describe("POST /api/files/{id}/extract", () => {
  test("makes a new folder next to the archive, with everything in it", async () => {
    const account = await server().signUp();
    const id = await store(account, TREE, "things.zip", "/in");
    const done = await extract(account, id);
    expect(done.at("data")).toMatchObject({
      state: "done",
      files: 4,
      filesDone: 4,
      bytes: 400_511,
      bytesDone: 400_511,
      folder: { path: "/in/things" },
      error: null,
    });
    expect(await account.client.names("/in/things")).toEqual(["pictures", "big.bin", "readme.txt", "Ümläut.txt"]);
    const listed = await account.client.get("/api/files?folder=/in/things/pictures/garden");
    expect(listed.at("data.files.0")).toMatchObject({ name: "bean.txt", size: 500, mimeType: "text/plain" });
    expect(String(listed.at("data.files.0.fileModifiedAt"))).toStartWith("2024-05-1");
    const content = await account.client.get(`/api/files/${listed.string("data.files.0.id")}/download`);
    expect(content.text).toBe("bean ".repeat(100));
    const again = await extract(account, id);
    expect(again.string("data.folder.path")).toBe("/in/things (1)");
    const usage = await account.client.get("/api/users/usage");
    expect(usage.at("data.storage.files")).toBe(9);
  });

  test("into a folder that somebody shares for writing", async () => {
    const [owner, writer] = [await server().signUp(), await server().signUp()];
    const id = await store(owner, TREE, "things.zip", "/team");
    const folder = (await owner.client.get("/api/files")).string("data.files.0.id");
    await shareWith(owner.client, folder, writer, { permissions: "write" });
    const done = await extract(writer, id, { name: "unpacked" });
    expect(done.string("data.folder.path")).toBe("/unpacked");
    expect(await owner.client.names("/team")).toEqual(["unpacked", "things.zip"]);
    expect(await writer.client.names()).toEqual([]);
  });

  test("into a folder of a share that is chosen, if it is shared for writing", async () => {
    const [owner, writer] = [await server().signUp(), await server().signUp()];
    const team = await owner.client.folderId("team");
    await owner.client.folderId("2026", "/team");
    const view = await owner.client.folderId("view");
    const share = await shareWith(owner.client, team, writer, { permissions: "write" });
    const viewed = await shareWith(owner.client, view, writer, { permissions: "read" });
    const id = await store(writer, TREE, "things.zip");
    const done = await extract(writer, id, { folderPath: "/2026", share });
    expect(done.string("data.folder.path")).toBe("/2026/things");
    expect(await owner.client.names("/team/2026")).toEqual(["things"]);
    const refused = { folderPath: "/", share: viewed };
    expectError(await writer.client.post(`/api/files/${id}/extract`, refused), 403, "share_permission");
    const unknown = { folderPath: "/", share: "shr_unknown" };
    expectError(await writer.client.post(`/api/files/${id}/extract`, unknown), 404, "not_found");
    expect(await writer.client.names()).toEqual(["things.zip"]);
  });

  test("rejects every archive of an attacker, and leaves nothing", async () => {
    const account = await server().signUp();
    const found: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const [name, [problem, zip]] of Object.entries(hostileZips())) {
      const id = await store(account, zip, `${name}.zip`, "/in");
      const response = await extract(account, id, { folderPath: "/out" });
      found[name] = [response.at("data.state"), response.at("data.error.details.problem")];
      expected[name] = ["failed", problem];
    }
    expect(found).toEqual(expected);
    expect(await account.client.names()).toEqual(["in"]);
  });

  test("extracts a file of blanks next to others", async () => {
    const account = await server().signUp();
    const zip = makeZip([
      { name: "blanks", content: Buffer.alloc(900_000), isDeflated: true },
      { name: "others", content: crypto.getRandomValues(Buffer.alloc(10_000)) },
    ]);
    const response = await extract(account, await store(account, zip), {});
    expect(response.at("data.state")).toBe("done");
    expect(await account.client.names("/things")).toEqual(["blanks", "others"]);
  });

  test("ends when an archive lies, and leaves nothing", async () => {
    const account = await server().signUp();
    const before = await usageOf(account);
    for (const [name, zip] of Object.entries(lyingZips())) {
      const id = await store(account, zip, `${name}.zip`);
      const response = await extract(account, id, { folderPath: "/out" });
      expect([name, response.at("data.state"), response.at("data.error.details.problem")]).toEqual([
        name,
        "failed",
        "damaged",
      ]);
      expectStatus(await account.client.delete(`/api/files/${id}`), 200);
    }
    expect(await account.client.names()).toEqual([]);
    expect(await usageOf(account)).toEqual(before);
  });

  test("can be canceled, and only by its account", async () => {
    const [account, other] = [await server().signUp(), await server().signUp()];
    const id = await store(account, TREE);
    const begun = await account.client.post(`/api/files/${id}/extract`, {});
    const path = `/api/files/extractions/${begun.string("data.id")}`;
    expectError(await other.client.delete(path), 404, "not_found");
    expect((await other.client.get("/api/files/extractions")).at("data.extractions")).toEqual([]);
    expectStatus(await account.client.delete(path), 200);
    const end = await ended(account, begun);
    const isDone = end.at("data.state") === "done";
    expect(["done", "canceled"]).toContain(end.string("data.state"));
    expect(await account.client.names()).toEqual(isDone ? ["things", "things.zip"] : ["things.zip"]);
    expect((await account.client.get("/api/files/extractions")).strings("data.extractions", "id")).toHaveLength(1);
  });
});

async function usageOf(account: Account): Promise<unknown> {
  return (await account.client.get("/api/users/usage")).at("data.storage");
}

describe("the quota of an extraction", () => {
  const small = sharedServer({
    env: {
      LARDER_DEFAULT_PLAN: "free",
      LARDER_PLANS_FREE_QUOTA: "400000",
      LARDER_PLANS_FREE_MAX_FILE_SIZE: "310000",
      LARDER_PLANS_FREE_MAX_NODES: "20",
    },
  });

  test("is checked before anything is written", async () => {
    const account = await small().signUp();
    const content = Buffer.from(crypto.getRandomValues(new Uint8Array(150_000))).toString("hex");
    const id = await store(account, makeZip([{ name: "a", content, isDeflated: true }]));
    const response = await extract(account, id);
    expect(response.at("data.error")).toMatchObject({ reason: "quota_exceeded", details: { plan: "free" } });
    expect(response.at("data.bytesDone")).toBe(0);
    expect(await account.client.names()).toEqual(["things.zip"]);
  });

  test("includes the size of each file, and the number of files and folders", async () => {
    const account = await small().signUp();
    const large = await store(
      account,
      makeZip([{ name: "a", content: Buffer.alloc(320_000, "0123456789"), isDeflated: true }]),
    );
    expect((await extract(account, large)).at("data.error.reason")).toBe("file_too_large");
    const many = await store(account, makeZip(Array.from({ length: 20 }, (_, n) => ({ name: `${n}` }))), "many.zip");
    const response = await extract(account, many);
    expect(response.at("data.error.reason")).toBe("quota_exceeded");
    expect(response.at("data.filesDone")).toBe(0);
    expect(await account.client.names()).toEqual(["many.zip", "things.zip"]);
  });
});

testAllResponses(server);
