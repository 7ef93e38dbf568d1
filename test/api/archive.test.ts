import { describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fromBuffer, type Entry, type ZipFile } from "yauzl";
import { type Account, type Client, digestOf, randomContent } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { runLarder, sharedServer, type TestServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

/** Paths and contents of an archive, in order. Folders end with a slash and have no content. */
async function unpack(bytes: Uint8Array): Promise<[string, string][]> {
  const options = { lazyEntries: true, autoClose: false, strictFileNames: true };
  const opened = Promise.withResolvers<ZipFile>();
  fromBuffer(Buffer.from(bytes), options, (error, zip) => {
    if (error === null) opened.resolve(zip);
    else opened.reject(error);
  });
  const zip = await opened.promise;
  const listed = Promise.withResolvers<Entry[]>();
  const entries: Entry[] = [];
  zip.on("entry", (entry: Entry) => {
    entries.push(entry);
    zip.readEntry();
  });
  zip.on("end", () => listed.resolve(entries));
  zip.on("error", listed.reject);
  zip.readEntry();
  const found: [string, string][] = [];
  for (const entry of await listed.promise) {
    const { promise, resolve, reject } = Promise.withResolvers<Readable>();
    zip.openReadStream(entry, (error, stream) => (error === null ? resolve(stream) : reject(error)));
    found.push([entry.fileName, Buffer.concat(await Array.fromAsync(await promise)).toString()]);
  }
  return found;
}

/** The names in an archive. */
async function listNames(bytes: Uint8Array): Promise<string[]> {
  return (await unpack(bytes)).map(([name]) => name);
}

async function createAlbum(client: Client): Promise<string> {
  const id = await client.folderId("Album");
  await client.folderId("leer", "/Album");
  await client.stored("one", { name: "b.txt", fields: { folder: "/Album" } });
  await client.stored("two", { name: "a – ü.txt", fields: { folder: "/Album" } });
  await client.stored("deep", { name: "c.txt", fields: { folder: "/Album/x/y" } });
  return id;
}

async function makeViewer(target: TestServer, account: Account): Promise<void> {
  const result = await runLarder(["user", "set", account.email, "--role", "viewer", "--data", target.dataDir]);
  if (result.code !== 0) throw new Error(result.stderr);
}

describe("GET /api/files/folders/{id}/archive", () => {
  test("returns the folder and everything below as a ZIP with length, name and validators", async () => {
    const { client } = await server().signUp();
    const apiResponse = await client.get(`/api/files/folders/${await createAlbum(client)}/archive`);
    expectStatus(apiResponse, 200);
    expect(apiResponse.header("content-type")).toBe("application/zip");
    expect(apiResponse.header("content-disposition")).toBe('attachment; filename="Album.zip"');
    expect(apiResponse.header("content-length")).toBe(String(apiResponse.bytes.length));
    expect(apiResponse.header("accept-ranges")).toBe("bytes");
    expect(apiResponse.header("etag")).toMatch(/^"[0-9a-f]{64}"$/);
    expect(apiResponse.header("x-ratelimit-resource")).toBe("downloads");
    expect(await unpack(apiResponse.bytes)).toEqual([
      ["Album/", ""],
      ["Album/a – ü.txt", "two"],
      ["Album/b.txt", "one"],
      ["Album/leer/", ""],
      ["Album/x/", ""],
      ["Album/x/y/", ""],
      ["Album/x/y/c.txt", "deep"],
    ]);
  });

  test("returns the same bytes and ETag until a file changes", async () => {
    const { client } = await server().signUp();
    const path = `/api/files/folders/${await createAlbum(client)}/archive`;
    const first = await client.get(path);
    await client.stored("elsewhere", { name: "other.txt" });
    const second = await client.get(path);
    expect(digestOf(second.bytes)).toBe(digestOf(first.bytes));
    expect(second.header("etag")).toBe(first.header("etag"));
    expectStatus(await client.get(path, { "if-none-match": first.header("etag") }), 304);

    await client.upload("ONE", { name: "b.txt", fields: { folder: "/Album", onConflict: "version" } });
    const third = await client.get(path, { "if-none-match": first.header("etag") });
    expectStatus(third, 200);
    expect(third.header("etag")).not.toBe(first.header("etag"));
    expectError(await client.get(path, { "if-match": first.header("etag") }), 412, "precondition_failed");
  });

  test("resumes an interrupted download, and starts again if files have changed", async () => {
    const { client } = await server().signUp();
    const path = `/api/files/folders/${await createAlbum(client)}/archive`;
    const whole = await client.get(path);
    const etag = whole.header("etag");
    for (const [range, start, end] of [
      ["bytes=100-199", 100, 200],
      ["bytes=400-", 400, whole.bytes.length],
      ["bytes=-30", whole.bytes.length - 30, whole.bytes.length],
    ] as const) {
      const part = await client.get(path, { range, "if-range": etag });
      expectStatus(part, 206);
      expect(part.header("content-range")).toBe(`bytes ${start}-${end - 1}/${whole.bytes.length}`);
      expect(part.header("x-ratelimit-resource")).toBe("general");
      expect(digestOf(part.bytes)).toBe(digestOf(whole.bytes.subarray(start, end)));
    }
    // Several ranges return the whole; a range beyond the end is 416.
    expectStatus(await client.get(path, { range: "bytes=0-1,5-6" }), 200);
    expectError(await client.get(path, { range: `bytes=${whole.bytes.length}-` }), 416, "range_not_satisfiable");
    await client.stored("new", { name: "n.txt", fields: { folder: "/Album" } });
    expectStatus(await client.get(path, { range: "bytes=100-", "if-range": etag }), 200);
  });

  test("HEAD has the headers of GET, and counts nothing", async () => {
    const { client } = await server().signUp();
    const path = `/api/files/folders/${await createAlbum(client)}/archive`;
    const head = await client.head(path);
    const whole = await client.get(path);
    expectStatus(head, 200);
    expect(head.bytes.length).toBe(0);
    for (const name of ["content-length", "etag", "content-type", "content-disposition", "last-modified"]) {
      expect(head.header(name)).toBe(whole.header(name));
    }
    const transfers = await client.get("/api/users/usage");
    expect(transfers.number("data.transfers.downloads")).toBe(1);
    expect(transfers.number("data.transfers.downloadedBytes")).toBe(whole.bytes.length);
  });

  test("of a large folder is complete, and another program resumes it to the same bytes", async () => {
    const { client, token } = await server().signUp();
    const id = await client.folderId("Large");
    for (let number = 0; number < 4; number++) {
      await client.stored(randomContent(2 * 1024 * 1024), { name: `${number}.bin`, fields: { folder: "/Large" } });
    }
    const path = `/api/files/folders/${id}/archive`;
    const head = await client.head(path);
    const whole = await client.get(path);
    expect(String(whole.bytes.length)).toBe(head.header("content-length"));
    expect((await listNames(whole.bytes)).length).toBe(5);

    const target = join(server().dataDir, "resumed.zip");
    writeFileSync(target, whole.bytes.subarray(0, 5_000_001));
    const curl = Bun.spawn(
      ["curl", "-s", "-C", "-", "-o", target, "-H", `Authorization: Bearer ${token}`, server().url + path],
      { stdout: "ignore", stderr: "ignore" },
    );
    expect(await curl.exited).toBe(0);
    expect(digestOf(await Bun.file(target).bytes())).toBe(digestOf(whole.bytes));
    rmSync(target);
  });

  test("breaks off at an unreadable file, and is never silently short", async () => {
    const { client, token } = await server().signUp();
    const id = await client.folderId("Broken");
    const first = randomContent(5 * 1024 * 1024);
    const second = randomContent(1024 * 1024);
    await client.stored(first, { name: "a.bin", fields: { folder: "/Broken" } });
    await client.stored(second, { name: "b.bin", fields: { folder: "/Broken" } });
    const digest = digestOf(second);
    const blob = join(server().dataDir, "blobs/sha256", digest.slice(0, 2), digest.slice(2, 4), digest);
    rmSync(blob);
    const reading = fetch(`${server().url}/api/files/folders/${id}/archive`, {
      headers: { authorization: `Bearer ${token}` },
    }).then((response) => response.arrayBuffer());
    expect(reading).rejects.toThrow();
    await reading.catch(() => {});
    writeFileSync(blob, second, { mode: 0o600 });
    expectStatus(await client.get(`/api/files/folders/${id}/archive`), 200);
  });

  test("is for everyone who may read the folder: viewers too, other users not", async () => {
    const account = await server().signUp();
    const id = await createAlbum(account.client);
    const file = await account.client.storedId("x", { name: "x.txt" });
    await makeViewer(server(), account);
    expectStatus(await account.client.get(`/api/files/folders/${id}/archive`), 200);
    expectStatus(await account.client.post("/api/files/archive", { fileIds: [id] }), 200);
    const other = await server().signUp();
    expectError(await other.client.get(`/api/files/folders/${id}/archive`), 404, "not_found");
    expectError(await other.client.head(`/api/files/folders/${id}/archive`), 404);
    expectError(await other.client.post("/api/files/archive", { fileIds: [id] }), 404, "not_found");
    expectError(await account.client.get(`/api/files/folders/${file}/archive`), 404, "not_found");
    expectError(await server().visitor.get(`/api/files/folders/${id}/archive`), 401, "missing_token");
    expectError(await server().visitor.post("/api/files/archive", { fileIds: [id] }), 401, "missing_token");
  });
});

describe("POST /api/files/archive", () => {
  test("has files and folders side by side, and numbers duplicate names", async () => {
    const { client } = await server().signUp();
    const folder = await createAlbum(client);
    const one = await client.storedId("1", { name: "same.txt" });
    const two = await client.storedId("2", { name: "same.txt", fields: { folder: "/elsewhere" } });
    const apiResponse = await client.post("/api/files/archive", { fileIds: [one, two, one, folder], name: "Für dich" });
    expectStatus(apiResponse, 200);
    expect(apiResponse.header("content-disposition")).toContain("filename*=UTF-8''F%C3%BCr%20dich.zip");
    expect(apiResponse.header("x-ratelimit-resource")).toBe("downloads");
    const names = await listNames(apiResponse.bytes);
    expect(names.slice(0, 3)).toEqual(["same.txt", "same (1).txt", "Album/"]);
    expect(names.length).toBe(9);
    // Range has a meaning only for GET (RFC 9110 §14.2).
    const ranged = await client.request("POST", "/api/files/archive", {
      json: { fileIds: [one] },
      headers: { range: "bytes=0-9" },
    });
    expectStatus(ranged, 200);
    expect(ranged.header("content-disposition")).toBe('attachment; filename="same.txt.zip"');
  });

  test("accepts the form of a page, so that the browser saves the archive", async () => {
    const account = await server().signUp();
    const { client, email, password } = account;
    const ids = [await client.storedId("1", { name: "one.txt" }), await client.storedId("2", { name: "two.txt" })];
    const signedIn = await server().visitor.post("/api/auth/signin", { email, password, cookie: true });
    const cookie = signedIn.header("set-cookie").split(";")[0] ?? "";
    const send = (headers: Record<string, string>, fields: string[][]) =>
      server().visitor.request("POST", "/api/files/archive", {
        body: new TextEncoder().encode(fields.map((pair) => pair.map(encodeURIComponent).join("=")).join("&")),
        headers: { "content-type": "application/x-www-form-urlencoded", cookie, ...headers },
      });
    const fields = [...ids.map((id) => ["fileIds", id]), ["name", "Both"]];
    const apiResponse = await send({ origin: server().url }, fields);
    expectStatus(apiResponse, 200);
    expect(apiResponse.header("content-disposition")).toBe('attachment; filename="Both.zip"');
    expect((await listNames(apiResponse.bytes)).toSorted()).toEqual(["one.txt", "two.txt"]);
    expectError(await send({ origin: "https://evil.example" }, fields), 403, "csrf");
    expectError(await send({}, fields), 403, "csrf");
    expectError(await send({ origin: server().url, cookie: "" }, fields), 401, "missing_token");
    expectError(await send({ origin: server().url }, [["name", "x"]]), 400, "invalid_field", "fileIds");
    const large = [["fileIds", "x".repeat(200_000)]];
    expectError(await send({ origin: server().url }, large), 413, "body_too_large");
  });

  test("replaces names that are dangerous to unpack, and numbers the duplicates", async () => {
    const { client } = await server().signUp();
    const id = await client.folderId("con");
    for (const name of ["a:b", "a_b", "a_b (1)", "NUL.txt", "dots..", "C:"]) {
      await client.stored(name, { name, fields: { folder: "/con" } });
    }
    const apiResponse = await client.get(`/api/files/folders/${id}/archive`);
    expect((await unpack(apiResponse.bytes)).toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual([
      ["_con/", ""],
      ["_con/C_", "C:"],
      ["_con/_NUL.txt", "NUL.txt"],
      ["_con/a_b", "a_b"],
      ["_con/a_b (1)", "a_b (1)"],
      ["_con/a_b (2)", "a:b"],
      ["_con/dots__", "dots.."],
    ]);
  });

  test("rejects empty and too long lists, unknown ids and invalid names", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { name: "x.txt" });
    expectError(await client.post("/api/files/archive", {}), 400, "invalid_field", "fileIds");
    expectError(await client.post("/api/files/archive", { fileIds: [] }), 400, "invalid_field", "fileIds");
    const many = Array.from({ length: 1_001 }, (_, index) => `file_${index}`);
    expectError(await client.post("/api/files/archive", { fileIds: many }), 400, "invalid_field", "fileIds");
    expectError(await client.post("/api/files/archive", { fileIds: [id, "file_nothing"] }), 404, "not_found");
    expectError(await client.post("/api/files/archive", { fileIds: [id], name: "a/b" }), 400, "invalid_path", "name");
  });
});

testAllResponses(server);
