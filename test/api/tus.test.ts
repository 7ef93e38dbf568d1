import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type ApiResponse, toBytes, checksumOf, type Client, digestOf, randomContent } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { httpChunk, RawConnection } from "../support/raw-http.ts";
import { sharedServer, withServer } from "../support/server.ts";
import {
  appendTus,
  tryCreateTus,
  createClientUpload,
  headTus,
  createTus,
  readOffset,
  sendByClient,
  tusMetadata,
  tusVersion,
} from "../support/tus.ts";

const server = sharedServer({ hasAccounts: true });
const mebibyte = 1024 * 1024;

/** Expects a file to have this content. */
async function expectContent(client: Client, fileId: string | null | undefined, content: Uint8Array | string) {
  const got = await client.get(`/api/files/${fileId}/download`);
  expectStatus(got, 200);
  expect(digestOf(got.bytes)).toBe(digestOf(content));
}

async function usedBytes(client: Client): Promise<number> {
  return (await client.get("/api/users/usage")).number("data.storage.used");
}

/** Lists the files in `uploads/`, which are named by the ids of uploads. */
async function listStaged(): Promise<string[]> {
  return readdir(join(server().dataDir, "uploads"));
}

function base64Of(algorithm: string, bytes: string | Uint8Array): string {
  return createHash(algorithm).update(toBytes(bytes)).digest("base64");
}

function idOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

describe("tus-js-client", () => {
  for (const [title, options] of [
    ["in one request", {}],
    ["in several requests", { chunkSize: 700_001 }],
    ["with all bytes in the first request", { uploadDataDuringCreation: true }],
    ["with the first chunk in the first request", { uploadDataDuringCreation: true, chunkSize: 1_000_000 }],
    ["in parallel, joined", { parallelUploads: 4 }],
    ["in parallel, in several requests each", { parallelUploads: 3, chunkSize: 300_000 }],
    ["with a deferred length", { uploadLengthDeferred: true, chunkSize: 1_200_000 }],
    ["by POST only", { overridePatchMethod: true, chunkSize: 1_200_000 }],
  ] as const) {
    test(`sends a file ${title}`, async () => {
      const { client } = await server().signUp();
      const content = randomContent(3 * mebibyte + 17);
      const { url, fileId } = await sendByClient(client, content, {
        ...options,
        metadata: { filename: "photo.bin", folder: "/trips/2026", tags: "sea,sun" },
      });
      await expectContent(client, fileId, content);
      const record = await client.get(`/api/files/${fileId}`);
      expect(record.at("data")).toMatchObject({ name: "photo.bin", folder: "/trips/2026", tags: ["sea", "sun"] });
      expect(await usedBytes(client)).toBe(content.length);
      expect((await client.get("/api/tus")).at("data.uploads")).toEqual([]);
      const after = await client.get(new URL(url).pathname);
      expect(after.at("data")).toMatchObject({ state: "complete", offset: content.length, expiresAt: null });
      expect(after.at("data.file.id")).toBe(fileId);
      expect(await listStaged()).not.toContain(idOf(url));
    });
  }

  test("sends an empty file", async () => {
    const { client } = await server().signUp();
    await sendByClient(client, new Uint8Array(), { metadata: { filename: "empty.txt" } });
    const [file] = (await client.get("/api/files")).list("data.files");
    expect(file).toMatchObject({ name: "empty.txt", size: 0 });
  });

  test("resumes where it was interrupted", async () => {
    const { client } = await server().signUp();
    const content = randomContent(4 * mebibyte);
    const { promise: reached, resolve } = Promise.withResolvers<void>();
    const first = createClientUpload(client, content, {
      chunkSize: mebibyte,
      onChunkComplete: (_size, accepted) => {
        if (accepted >= 2 * mebibyte) resolve();
      },
    });
    first.start();
    await reached;
    await first.abort();
    const uploadUrl = first.url ?? "";
    const sent: string[] = [];
    const { fileId } = await sendByClient(client, content, {
      uploadUrl,
      onAfterResponse: (request) => {
        sent.push(`${request.getMethod()} ${request.getHeader("Upload-Offset") ?? ""}`);
      },
    });
    await expectContent(client, fileId, content);
    // The client asked for the offset first, and sent no byte twice.
    expect(sent[0]).toBe("HEAD ");
    expect(Number(sent[1]?.split(" ")[1])).toBeGreaterThanOrEqual(2 * mebibyte);
  });

  test("resumes after a restart and after kill -9, with a new token", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const account = await own.signUp();
      const content = randomContent(3 * mebibyte);
      const path = await createTus(account.client, content.length, { filename: "a.bin" });
      expectStatus(await appendTus(account.client, path, 0, content.subarray(0, mebibyte)), 204);
      await own.restart();
      expect(await readOffset(account.client, path)).toBe(mebibyte);
      expectStatus(await appendTus(account.client, path, mebibyte, content.subarray(mebibyte, 2 * mebibyte)), 204);
      await own.kill9();
      await own.start();
      const again = await own.visitor.post("/api/auth/signin", { email: account.email, password: account.password });
      const headers = { authorization: `Bearer ${again.string("token")}` };
      const { fileId } = await sendByClient(account.client, content, { uploadUrl: own.url + path, headers });
      await expectContent(account.client, fileId, content);
    });
  });

  test("cancels an upload", async () => {
    const { client } = await server().signUp();
    const content = randomContent(mebibyte);
    const { promise: started, resolve } = Promise.withResolvers<void>();
    const upload = createClientUpload(client, content, { chunkSize: 1_000, onUploadUrlAvailable: resolve });
    upload.start();
    await started;
    await upload.abort(true);
    const path = new URL(upload.url ?? `${server().url}/gone`).pathname;
    expectStatus(await headTus(client, path), 404);
    expect(await usedBytes(client)).toBe(0);
  });
});

describe("OPTIONS /api/tus", () => {
  test("lists the supported versions and extensions, without authentication", async () => {
    const response = await fetch(`${server().url}/api/tus`, { method: "OPTIONS" });
    expect(response.status).toBe(204);
    expect(response.headers.get("tus-version")).toBe("1.0.0");
    expect(response.headers.get("tus-checksum-algorithm")).toBe("sha1,sha256,md5");
    expect(response.headers.get("tus-extension")?.split(",").toSorted()).toEqual([
      "checksum",
      "concatenation",
      "creation",
      "creation-defer-length",
      "creation-with-upload",
      "expiration",
      "termination",
    ]);
    expect(response.headers.has("tus-max-size")).toBe(false);
  });

  test("returns the maximum file size to signed-in users, also for the URL of an upload", async () => {
    const { token } = await server().addUser(["--plan", "free"]);
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${server().url}/api/tus/tus_x`, { method: "OPTIONS", headers });
    expect(Number(response.headers.get("tus-max-size"))).toBeGreaterThan(0);
  });
});

describe("POST /api/tus", () => {
  test("returns an unguessable URL, and when it expires", async () => {
    const { client } = await server().signUp();
    const response = await tryCreateTus(client, { "upload-length": "100" }, { filename: "a.txt" });
    expectStatus(response, 201);
    expect(response.header("location")).toMatch(/^\/api\/tus\/tus_[\w-]{32}$/);
    expect(response.header("tus-resumable")).toBe("1.0.0");
    expect(response.header("upload-offset")).toBe("0");
    const hours = (Date.parse(response.header("upload-expires")) - Date.now()) / 3_600_000;
    expect(Math.round(hours)).toBe(24);
    expect(response.at("data")).toMatchObject({
      state: "receiving",
      offset: 0,
      length: 100,
      name: "a.txt",
      file: null,
    });
    expect(await usedBytes(client)).toBe(100);
  });

  test("creates missing folders from folder and relativePath", async () => {
    const { client } = await server().signUp();
    for (const [metadata, folder, name] of [
      [{ filename: "a.txt", folder: "/in" }, "/in", "a.txt"],
      [{ relativePath: "tree/deep/b.txt", folder: "/in" }, "/in/tree/deep", "b.txt"],
      [{ filename: "c.txt", relativePath: "c.txt" }, "/", "c.txt"],
      [{ name: "d.txt", relativePath: "null" }, "/", "d.txt"],
      [{}, "/", "file"],
    ] as const) {
      const response = await tryCreateTus(client, { "upload-length": "3" }, metadata, { bytes: "abc" });
      expectStatus(response, 201);
      expect(response.at("data.file")).toMatchObject({ folder, name });
      expect(response.header("larder-file-id")).toBe(response.string("data.file.id"));
    }
  });

  test("stores the file's metadata", async () => {
    const { client } = await server().signUp();
    const response = await tryCreateTus(
      client,
      { "upload-length": "3" },
      {
        filename: "a.thing",
        filetype: "application/x-thing",
        lastModified: "1700000000000",
        tags: "one, two",
        description: "Grüße",
        metadata: JSON.stringify({ city: "Graz" }),
        checksum: checksumOf("abc"),
        unknownKey: "is ignored",
      },
      { bytes: "abc" },
    );
    expect(response.at("data.file")).toMatchObject({
      mimeType: "application/x-thing",
      tags: ["one", "two"],
      metadata: { city: "Graz", description: "Grüße" },
      fileModifiedAt: "2023-11-14T22:13:20.000Z",
      checksum: checksumOf("abc"),
    });
  });

  test("follows onConflict, and rejects a taken name before the bytes", async () => {
    const { client } = await server().signUp();
    const first = await client.storedId("old", { name: "a.txt" });
    const send = (onConflict: string) =>
      tryCreateTus(client, { "upload-length": "3" }, { filename: "a.txt", onConflict }, { bytes: "new" });
    expect((await send("rename")).at("data.file.name")).toBe("a (1).txt");
    expect((await send("version")).at("data.file")).toMatchObject({ id: first, version: 2 });
    expectError(await send("error"), 409, "name_taken");
    const begun = await createTus(client, 3, { filename: "b.txt", onConflict: "error" });
    await client.storedId("taken in between", { name: "b.txt" });
    expectError(await appendTus(client, begun, 0, "new"), 409, "name_taken");
    // Once the name is free again, the upload completes, and no byte has to be sent again.
    const [other] = (await client.get("/api/files?search=b.txt")).strings("data.files", "id");
    expectStatus(await client.delete(`/api/files/${other}`), 200);
    expect(await readOffset(client, begun)).toBe(3);
    expect((await client.get(begun)).at("data.file.name")).toBe("b.txt");
  });

  test("rejects invalid headers and metadata, and names the field", async () => {
    const { client } = await server().signUp();
    const expectRejected = async (headers: Record<string, string>, field: string, reason = "invalid_field") =>
      expectError(await tryCreateTus(client, headers), 400, reason, field);
    for (const length of ["-1", "1.5", "NaN", "", "0x10", "9".repeat(16), "1e3", " "])
      await expectRejected({ "upload-length": length }, "Upload-Length");
    await expectRejected({}, "Upload-Length");
    await expectRejected({ "upload-length": "1", "upload-defer-length": "1" }, "Upload-Length");
    await expectRejected({ "upload-defer-length": "2" }, "Upload-Defer-Length");
    await expectRejected({ "upload-length": "1", "upload-concat": "some" }, "Upload-Concat");
    await expectRejected({ "upload-concat": "final;" }, "Upload-Concat");
    await expectRejected({ "upload-length": "1", "upload-concat": "final;/api/tus/tus_a" }, "Upload-Length");
    await expectRejected({ "upload-concat": "final;/api/tus/tus_a /api/tus/tus_a" }, "Upload-Concat");
    for (const metadata of ["filename", "filename !!!", "a YQ==,a YQ==", "filename YQ== x", "filename gICA"]) {
      const response = await tryCreateTus(client, { "upload-length": "1", "upload-metadata": metadata });
      // A key without a value has an empty value.
      if (metadata === "filename") expectStatus(response, 201);
      else expectError(response, 400, "invalid_field", "Upload-Metadata");
    }
    for (const [pairs, reason, field] of [
      [{ filename: "..", folder: "/" }, "invalid_path", "file"],
      [{ folder: "relative" }, "invalid_path", "folder"],
      [{ relativePath: "../../etc/passwd" }, "invalid_path", "folder"],
      [{ checksum: "md5:1" }, "invalid_field", "checksum"],
      [{ onConflict: "burn" }, "invalid_field", "onConflict"],
      [{ lastModified: "yesterday" }, "invalid_field", "fileModifiedAt"],
      [{ lastModified: "99999999999999999" }, "invalid_field", "fileModifiedAt"],
      [{ metadata: "[]" }, "invalid_field", "metadata"],
    ] as const)
      expectError(await tryCreateTus(client, { "upload-length": "1" }, pairs), 400, reason, field);
    const old = await tryCreateTus(client, { "upload-length": "1", "tus-resumable": "0.2.2" });
    expectError(old, 412, "precondition_failed");
    expect(old.header("tus-version")).toBe("1.0.0");
    const none = await client.request("POST", "/api/tus", { headers: { "upload-length": "1" } });
    expectError(none, 412, "precondition_failed");
    const type = { "upload-length": "1", "content-type": "text/plain" };
    expectError(await tryCreateTus(client, type, {}, { bytes: "x" }), 415, "unsupported_media_type");
    expect(await usedBytes(client)).toBe(1);
  });

  test("returns the same upload for the same Idempotency-Key", async () => {
    const { client } = await server().signUp();
    const begin = (length: string) =>
      tryCreateTus(client, { "upload-length": length, "idempotency-key": "once" }, { filename: "a" });
    const [first, second] = [await begin("10"), await begin("10")];
    expect(second.header("location")).toBe(first.header("location"));
    expect(await usedBytes(client)).toBe(10);
    expectError(await begin("11"), 409, "idempotency_key");
  });

  test("returns the completed file for the same key, and starts again after a rejection", async () => {
    const { client } = await server().signUp();
    const metadata = { filename: "a.txt", onConflict: "error" };
    const begin = () =>
      tryCreateTus(client, { "upload-length": "3", "idempotency-key": "k" }, metadata, { bytes: "abc" });
    const taken = await client.storedId("other", { name: "a.txt" });
    expectError(await begin(), 409, "name_taken");
    expectStatus(await client.delete(`/api/files/${taken}`), 200);
    const first = await begin();
    expectStatus(first, 201);
    const again = await begin();
    expectStatus(again, 201);
    expect(again.header("location")).toBe(first.header("location"));
    expect(again.at("data.file.id")).toBe(first.string("data.file.id"));
    expect(await client.names()).toEqual(["a.txt"]);
    // A key whose first request had a wrong checksum can be used again.
    const wrong = {
      "upload-length": "3",
      "idempotency-key": "other",
      "upload-checksum": `sha1 ${base64Of("sha1", "no")}`,
    };
    expectError(await tryCreateTus(client, wrong, {}, { bytes: "abc" }), 460, "chunk_checksum");
    const right = { ...wrong, "upload-checksum": `sha1 ${base64Of("sha1", "abc")}` };
    expectStatus(await tryCreateTus(client, right, {}, { bytes: "abc" }), 201);
  });

  test("rejects more than plan and quota allow, and reserves quota for the declared length", async () => {
    const { client } = await server().addUser(["--plan", "free"]);
    const quota = (await client.get("/api/users/usage")).number("data.storage.quota");
    const tooLarge = await tryCreateTus(client, { "upload-length": "999999999999999" });
    expectError(tooLarge, 413, "file_too_large");
    const each = tooLarge.number("error.details.limit");
    let refused: ApiResponse | undefined;
    for (let reserved = 0; refused === undefined && reserved <= quota + each; reserved += each) {
      const response = await tryCreateTus(client, { "upload-length": String(each) });
      if (response.status !== 201) refused = response;
    }
    if (refused === undefined) throw new Error("uploads reserved more than the quota");
    expectError(refused, 413, "quota_exceeded");
    expect(refused.at("error.details.plan")).toBe("free");
  });

  test("with a deferred length accepts no bytes beyond the quota", async () => {
    const { client } = await server().addUser(["--plan", "free"]);
    const begun = await tryCreateTus(client, { "upload-defer-length": "1" });
    expectStatus(begun, 201);
    expect(begun.header("upload-defer-length")).toBe("1");
    const path = begun.header("location");
    expectStatus(await appendTus(client, path, 0, randomContent(1_000)), 204);
    // Quota is reserved ahead of the received bytes, and released with the upload.
    expect(await usedBytes(client)).toBeGreaterThanOrEqual(1_000);
    const tooLong = await appendTus(client, path, 1_000, "", { "upload-length": "999999999999999" });
    expectError(tooLong, 413, "file_too_large");
    expectError(await appendTus(client, path, 1_000, "", { "upload-length": "999" }), 400, "invalid_field");
    expectStatus(await appendTus(client, path, 1_000, "", { "upload-length": "1000" }), 204);
    expect(await usedBytes(client)).toBe(1_000);
  });
});

describe("PATCH /api/tus/{id}", () => {
  test("accepts bytes only at the current offset", async () => {
    const { client } = await server().signUp();
    const path = await createTus(client, 6);
    expectError(await appendTus(client, path, 3, "def"), 409, "upload_offset", "Upload-Offset");
    const first = await appendTus(client, path, 0, "abc");
    expectStatus(first, 204);
    expect(first.header("upload-offset")).toBe("3");
    expectError(await appendTus(client, path, 0, "abc"), 409, "upload_offset");
    expectError(await appendTus(client, path, 3, "defg"), 413, "file_too_large");
    for (const offset of ["-1", "x", ""]) {
      const response = await client.request("PATCH", path, {
        headers: { ...tusVersion, "content-type": "application/offset+octet-stream", "upload-offset": offset },
        body: "x",
      });
      expectError(response, 400, "invalid_field", "Upload-Offset");
    }
    expectError(await appendTus(client, path, 3, "def", { "content-type": "text/plain" }), 415);
    expectError(await appendTus(client, path, 3, "def", { "tus-resumable": "2.0.0" }), 412);
    expectError(await appendTus(client, path, 3, "def", { "upload-length": "7" }), 400, "invalid_field");
    const last = await appendTus(client, path, 3, "def");
    expectStatus(last, 204);
    await expectContent(client, last.headers.get("larder-file-id"), "abcdef");
    // Repeated, as if the response was lost.
    expectStatus(await appendTus(client, path, 6, ""), 204);
    expectError(await appendTus(client, path, 6, "g"), 409, "upload_offset");
    expect(await client.names()).toEqual(["file"]);
  });

  test("stores no bytes that don't match Upload-Checksum", async () => {
    const { client } = await server().signUp();
    const content = randomContent(300_000);
    const path = await createTus(client, content.length);
    let at = 0;
    for (const algorithm of ["sha1", "sha256", "md5"]) {
      const bytes = content.subarray(at, at + 100_000);
      const wrong = `${algorithm} ${base64Of(algorithm, "other")}`;
      expectError(await appendTus(client, path, at, bytes, { "upload-checksum": wrong }), 460, "chunk_checksum");
      expect(await readOffset(client, path)).toBe(at);
      const right = `${algorithm} ${base64Of(algorithm, bytes)}`;
      expectStatus(await appendTus(client, path, at, bytes, { "upload-checksum": right }), 204);
      at += bytes.length;
    }
    for (const header of ["crc32 AAAA", "sha1", "sha1 x", "sha256 YQ==", "sha1 YQ== b"]) {
      const response = await appendTus(client, path, at, "", { "upload-checksum": header });
      expectError(response, 400, "invalid_field", "Upload-Checksum");
    }
    const [file] = (await client.get("/api/files")).strings("data.files", "id");
    await expectContent(client, file, content);
    const atOnce = { "upload-length": "1", "upload-checksum": `sha1 ${base64Of("sha1", "other")}` };
    const before = await usedBytes(client);
    expectError(await tryCreateTus(client, atOnce, {}, { bytes: "x" }), 460, "chunk_checksum");
    expect(await usedBytes(client)).toBe(before);
  });

  test("rejected bytes are not part of the file, even if its length is set after them", async () => {
    const { client } = await server().signUp();
    const begun = await tryCreateTus(client, { "upload-defer-length": "1" });
    const path = begun.header("location");
    const wrong = `sha1 ${base64Of("sha1", "other")}`;
    expectError(await appendTus(client, path, 0, randomContent(5_000), { "upload-checksum": wrong }), 460);
    const done = await appendTus(client, path, 0, "abc", { "upload-length": "3" });
    expectStatus(done, 204);
    await expectContent(client, done.headers.get("larder-file-id"), "abc");
    const checked = await client.get(`/api/files/${done.header("larder-file-id")}/checksum`);
    expectStatus(checked, 200);
    expect(await usedBytes(client)).toBe(3);
  });

  test("deletes an upload whose file doesn't match the declared checksum", async () => {
    const { client } = await server().signUp();
    const path = await createTus(client, 3, { checksum: checksumOf("abc") });
    expectError(await appendTus(client, path, 0, "abd"), 400, "checksum_mismatch");
    expectStatus(await headTus(client, path), 404);
    expect(await usedBytes(client)).toBe(0);
    expect(await client.names()).toEqual([]);
  });

  test("keeps the bytes that arrived before an interruption", async () => {
    const { client, token } = await server().signUp();
    const content = randomContent(400_000);
    const path = await createTus(client, content.length);
    const connection = await RawConnection.open(server().port);
    await connection.write(patchHead(path, token, 0, content.length));
    await connection.write(content.subarray(0, 250_000));
    // While the request is open, HEAD returns the offset that the server has read.
    await eventually("all sent bytes have arrived", async () => (await readOffset(client, path)) === 250_000);
    connection.cut();
    expect(await readOffset(client, path)).toBe(250_000);
    const { fileId } = await sendByClient(client, content, { uploadUrl: server().url + path });
    await expectContent(client, fileId, content);
  });

  test("rejects more bytes than declared, even without a Content-Length", async () => {
    const { client, token } = await server().signUp();
    const path = await createTus(client, 1_000);
    const connection = await RawConnection.open(server().port);
    await connection.write(
      `PATCH ${path} HTTP/1.1\r\nHost: larder.test\r\nAuthorization: Bearer ${token}\r\nTus-Resumable: 1.0.0\r\n` +
        "Content-Type: application/offset+octet-stream\r\nUpload-Offset: 0\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    await connection.write(httpChunk(randomContent(900)));
    await connection.write(httpChunk(randomContent(900)));
    await connection.write("0\r\n\r\n");
    expectError(await connection.response("PATCH"), 413, "file_too_large");
    connection.cut();
    expect(await readOffset(client, path)).toBeLessThanOrEqual(1_000);
    expect(await client.names()).toEqual([]);
  });

  test("a second request takes over at once from a first one that sends nothing", async () => {
    const { client, token } = await server().signUp();
    const content = randomContent(200_000);
    const path = await createTus(client, content.length);
    const silent = await RawConnection.open(server().port);
    await silent.write(patchHead(path, token, 0, content.length));
    await silent.write(content.subarray(0, 120_000));
    await eventually("the first bytes have arrived", async () => (await readOffset(client, path)) === 120_000);
    const second = await appendTus(client, path, 120_000, content.subarray(120_000));
    expectStatus(second, 204);
    await expectContent(client, second.headers.get("larder-file-id"), content);
    // Later bytes of the first request don't change the file.
    await silent.write(randomContent(80_000));
    expectError(await silent.response("PATCH"), 409, "upload_state");
    silent.cut();
    await expectContent(client, second.headers.get("larder-file-id"), content);
  });

  test("of concurrent requests with the same bytes at most one succeeds, and the file is complete", async () => {
    const { client } = await server().signUp();
    const content = randomContent(60_000);
    const path = await createTus(client, content.length);
    const responses = await Promise.all(Array.from({ length: 6 }, () => appendTus(client, path, 0, content)));
    const refused = responses.filter(({ status }) => status !== 204);
    for (const response of refused) expect(response.status).toBe(409);
    // The last request takes over; if another has already completed the upload, it is rejected, too.
    const { fileId } =
      refused.length < responses.length
        ? { fileId: responses.find(({ status }) => status === 204)?.headers.get("larder-file-id") }
        : await sendByClient(client, content, { uploadUrl: server().url + path });
    await expectContent(client, fileId, content);
    expect(await client.names()).toEqual(["file"]);
  });
});

describe("concatenation", () => {
  const partial = { "upload-concat": "partial" };

  test("joins parts in the given order, and releases their quota", async () => {
    const { client } = await server().signUp();
    const [one, two, three] = [randomContent(1_500_000), randomContent(1), randomContent(2_000_000)];
    const paths = [];
    for (const bytes of [one, two, three]) {
      const response = await tryCreateTus(client, { ...partial, "upload-length": String(bytes.length) }, {}, { bytes });
      expectStatus(response, 201);
      expect(response.at("data")).toMatchObject({ kind: "partial", file: null });
      expect((await headTus(client, response.header("location"))).header("upload-concat")).toBe("partial");
      paths.push(response.header("location"));
    }
    const total = one.length + two.length + three.length;
    expect(await usedBytes(client)).toBe(total);
    const list = `final;${paths[2]} ${server().url}${paths[0]} ${paths[1]}`;
    const joined = await tryCreateTus(client, { "upload-concat": list }, { filename: "joined.bin" });
    expectStatus(joined, 201);
    const whole = Buffer.concat([three, one, two]);
    expect(joined.at("data.file")).toMatchObject({ name: "joined.bin", checksum: checksumOf(whole) });
    expect(joined.header("upload-length")).toBe(String(total));
    await expectContent(client, joined.header("larder-file-id"), whole);
    const head = await headTus(client, joined.header("location"));
    expect(head.header("upload-concat")).toBe(`final;${paths[2]} ${paths[0]} ${paths[1]}`);
    expect(head.header("upload-offset")).toBe(String(total));
    expect(await usedBytes(client)).toBe(total);
    for (const path of paths) expect(await listStaged()).not.toContain(idOf(path));
    // Repeated, as if the response was lost.
    const twice = await tryCreateTus(client, { "upload-concat": list }, { filename: "joined.bin" });
    expectStatus(twice, 201);
    expect(twice.header("location")).toBe(joined.header("location"));
    expect(twice.header("larder-file-id")).toBe(joined.header("larder-file-id"));
    const otherwise = await tryCreateTus(client, { "upload-concat": `final;${paths[0]} ${paths[1]}` });
    expectError(otherwise, 409, "upload_state");
    expect(await client.names()).toEqual(["joined.bin"]);
    expectError(await appendTus(client, joined.header("location"), total, ""), 403, "final_upload");
  });

  test("keeps the parts if they can't be joined", async () => {
    const { client } = await server().signUp();
    const other = await server().signUp();
    const whole = await createTus(client, 2);
    const part = await createTus(client, 2, {}, { headers: partial });
    const join = (paths: string[], metadata: Record<string, string> = {}) =>
      tryCreateTus(client, { "upload-concat": `final;${paths.join(" ")}` }, metadata);
    expectError(await join([part]), 409, "upload_state");
    expectError(await join([whole]), 400, "invalid_field");
    expectError(await join(["/api/tus/tus_nothing"]), 404, "not_found");
    expectStatus(await appendTus(client, part, 0, "ab"), 204);
    const strange = await createTus(other.client, 2, {}, { headers: partial });
    expectError(await join([part, strange]), 404, "not_found");
    expectError(await join([part], { checksum: checksumOf("other") }), 400, "checksum_mismatch");
    expect(await usedBytes(client)).toBe(4);
    expectStatus(await join([part], { checksum: checksumOf("ab") }), 201);
  });

  test("creates one file for concurrent requests", async () => {
    const { client } = await server().signUp();
    const bytes = randomContent(3 * mebibyte);
    const part = await createTus(client, bytes.length, {}, { headers: partial });
    expectStatus(await appendTus(client, part, 0, bytes), 204);
    const join = () => tryCreateTus(client, { "upload-concat": `final;${part}` }, { filename: "one.bin" });
    const responses = await Promise.all([join(), join(), join()]);
    expect(responses.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
    const again = await join();
    expectStatus(again, 201);
    await expectContent(client, again.header("larder-file-id"), bytes);
    expect(await client.names()).toEqual(["one.bin"]);
    expect(await usedBytes(client)).toBe(bytes.length);
  });

  test("works with parts of a deferred length", async () => {
    const { client } = await server().signUp();
    const begun = await tryCreateTus(client, { ...partial, "upload-defer-length": "1" });
    const path = begun.header("location");
    expectStatus(await appendTus(client, path, 0, "abc", { "upload-length": "3" }), 204);
    const joined = await tryCreateTus(client, { "upload-concat": `final;${path}` });
    await expectContent(client, joined.header("larder-file-id"), "abc");
  });
});

describe("DELETE and HEAD /api/tus/{id}", () => {
  test("a deleted upload releases its quota and its bytes", async () => {
    const { client } = await server().signUp();
    const path = await createTus(client, 1_000);
    expectStatus(await appendTus(client, path, 0, randomContent(500)), 204);
    expect(await listStaged()).toContain(idOf(path));
    const ended = await client.request("DELETE", path, { headers: tusVersion });
    expectStatus(ended, 204);
    expectStatus(await headTus(client, path), 404);
    expectError(await appendTus(client, path, 500, "x"), 404, "not_found");
    expect(await usedBytes(client)).toBe(0);
    expect(await listStaged()).not.toContain(idOf(path));
  });

  test("deleting a completed upload keeps the file", async () => {
    const { client } = await server().signUp();
    const begun = await tryCreateTus(client, { "upload-length": "1" }, {}, { bytes: "x" });
    expectStatus(await client.request("DELETE", begun.header("location"), { headers: tusVersion }), 204);
    await expectContent(client, begun.header("larder-file-id"), "x");
  });

  test("HEAD returns the metadata that the client sent", async () => {
    const { client } = await server().signUp();
    const pairs = { filename: "a.txt", folder: "/x", mine: "my own" };
    const path = await createTus(client, 10, pairs);
    const head = await headTus(client, path);
    expectStatus(head, 200);
    expect(head.header("upload-metadata")).toBe(tusMetadata(pairs));
    expect(head.header("upload-length")).toBe("10");
    expect(head.header("cache-control")).toContain("no-store");
    expectStatus(await headTus(client, path, { "tus-resumable": "0.9" }), 412);
    const list = await client.get("/api/tus");
    expect(list.at("data.uploads")).toMatchObject([{ id: idOf(path), offset: 0, length: 10, folder: "/x" }]);
  });

  test("methods can be set with X-HTTP-Method-Override", async () => {
    const { client } = await server().signUp();
    const path = await createTus(client, 6);
    const override = (method: string, options: { headers?: Record<string, string>; body?: string } = {}) =>
      client.request("POST", path, {
        ...options,
        headers: { ...tusVersion, "x-http-method-override": method, ...options.headers },
      });
    const type = { "content-type": "application/offset+octet-stream" };
    expectStatus(await override("PATCH", { headers: { ...type, "upload-offset": "0" }, body: "abc" }), 204);
    expect((await override("HEAD")).header("upload-offset")).toBe("3");
    expectError(await override("PUT"), 405, "method_not_allowed");
    expectStatus(await override("DELETE"), 204);
    expectStatus(await headTus(client, path), 404);
  });

  test("another user's upload is not found, and not listed", async () => {
    const [mine, theirs] = [await server().signUp(), await server().signUp()];
    const path = await createTus(mine.client, 10);
    expectStatus(await headTus(theirs.client, path), 404);
    expectError(await appendTus(theirs.client, path, 0, "x"), 404, "not_found");
    expectError(await theirs.client.request("DELETE", path, { headers: tusVersion }), 404, "not_found");
    expectError(await theirs.client.get(path), 404, "not_found");
    expectError(await server().visitor.get(path), 401, "missing_token");
    expect((await theirs.client.get("/api/tus")).at("data.uploads")).toEqual([]);
    expect(await readOffset(mine.client, path)).toBe(0);
  });
});

describe("shared folders", () => {
  test("an upload into a folder shared for writing counts in the owner's quota", async () => {
    const [owner, guest] = [await server().signUp(), await server().signUp()];
    const folder = await owner.client.folderId("ours");
    const shareFolder = async (permissions: string) => {
      const made = await owner.client.post(`/api/files/folders/${folder}/shares`, { user: guest.email, permissions });
      expectStatus(made, 201);
      return made.string("data.id");
    };
    const id = await shareFolder("write");
    const path = await createTus(guest.client, 5, { filename: "gift.txt", folder: "/deep", share: id });
    expect(await usedBytes(owner.client)).toBe(5);
    const sent = await appendTus(guest.client, path, 0, "hello");
    expectStatus(sent, 204);
    expect(await owner.client.names("/ours/deep")).toEqual(["gift.txt"]);
    expect((await guest.client.get(path)).at("data")).toMatchObject({ folder: "/deep", file: { folder: "/deep" } });
    // Revoking the share ends an upload that started before.
    const late = await createTus(guest.client, 5, { filename: "late.txt", share: id });
    expectStatus(await owner.client.delete(`/api/shares/${id}`), 200);
    expectError(await appendTus(guest.client, late, 0, "hello"), 404, "not_found");
    expectError(await tryCreateTus(guest.client, { "upload-length": "1" }, { share: id }), 404, "not_found");
  });
});

test("the audit log has one entry for an uploaded file", async () => {
  await withServer({ hasAccounts: true, env: { LARDER_AUDIT_FILES: "all" } }, async (own) => {
    const admin = await own.addUser(["--admin"]);
    const { fileId } = await sendByClient(admin.client, randomContent(5_000), { chunkSize: 2_000 });
    const listEntries = async () =>
      (await admin.client.get("/api/admin/audit?action=file.upload")).list("data.entries");
    await eventually("it is in the log", async () => (await listEntries()).length > 0);
    expect(await listEntries()).toMatchObject([{ action: "file.upload", target: { type: "file", id: fileId } }]);
  });
});

test("abandoned uploads expire, and release their quota and bytes", async () => {
  await withServer({ hasAccounts: true }, async (own) => {
    const { client } = await own.signUp();
    const path = await createTus(client, 1_000);
    expectStatus(await appendTus(client, path, 0, randomContent(10)), 204);
    const admin = await own.addUser(["--admin"]);
    await own.stop();
    const { Database } = await import("bun:sqlite");
    const sqlite = new Database(join(own.dataDir, "larder.db"));
    sqlite.run("UPDATE upload_sessions SET expires_at = 1");
    sqlite.close();
    await own.start();
    expectStatus(await headTus(client, path), 410);
    expectError(await appendTus(client, path, 10, "x"), 410, "upload_expired");
    expect((await client.get("/api/tus")).at("data.uploads")).toEqual([]);
    expectStatus(await admin.client.post("/api/admin/jobs/uploads/run"), 200);
    expect(await usedBytes(client)).toBe(0);
    expect(await readdir(join(own.dataDir, "uploads"))).toEqual([]);
  });
});

function patchHead(path: string, token: string, offset: number, length: number): string {
  return (
    `PATCH ${path} HTTP/1.1\r\nHost: larder.test\r\nAuthorization: Bearer ${token}\r\nTus-Resumable: 1.0.0\r\n` +
    `Content-Type: application/offset+octet-stream\r\nUpload-Offset: ${offset}\r\nContent-Length: ${length}\r\n\r\n`
  );
}

testAllResponses(server);
