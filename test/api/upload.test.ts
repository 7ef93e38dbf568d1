import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Client, checksumOf, digestOf, randomContent } from "../support/client.ts";
import { eventually, expectError, expectStatus, sortedStatuses, timestampPattern } from "../support/expect.ts";
import { tinyPng } from "../support/images.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { type Part, field, file, form, formType } from "../support/multipart.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

/** Uploads a form made of these parts. */
async function sendForm(client: Client, parts: Part[], headers: Record<string, string> = {}) {
  return client.request("POST", "/api/files/upload", {
    body: form(parts),
    headers: { "content-type": formType, ...headers },
  });
}

describe("an upload", () => {
  test("returns 201 with the whole record", async () => {
    const { client } = await server().signUp();
    const response = await client.upload("hello", {
      name: "note.txt",
      type: "text/plain",
      fields: { folder: "/docs", description: "A note", tags: "one, two", isPublic: "false" },
    });
    expectStatus(response, 201);
    const id = response.string("data.id");
    expect(id).toMatch(/^file_/);
    expect(response.json).toEqual({
      success: true,
      data: expect.objectContaining({
        id,
        name: "note.txt",
        originalName: "note.txt",
        mimeType: expect.stringMatching(/^text\/plain/),
        size: 5,
        folder: "/docs",
        url: `${server().url}/api/files/${id}/download`,
        thumbnailUrl: `${server().url}/api/files/${id}/download?thumbnail=true`,
        uploadedAt: expect.stringMatching(timestampPattern),
        isPublic: false,
        tags: ["one", "two"],
        metadata: { description: "A note" },
        checksum: checksumOf("hello"),
        version: 1,
      }),
    });
    expect((await client.get(`/api/files/${id}/download`)).text).toBe("hello");
  });

  test("goes to the root by default, private and without metadata", async () => {
    const { client } = await server().signUp();
    const response = await client.stored("x");
    expect(response.json).toMatchObject({ data: { folder: "/", isPublic: false, tags: [] } });
  });

  test("accepts the fields in any order, also after the file", async () => {
    const { client } = await server().signUp();
    const response = await sendForm(client, [
      field("tags", "before"),
      file("a.txt", "content", "text/plain"),
      field("folder", "/late"),
      field("description", "said afterwards"),
      field("tags", "after"),
      field("isPublic", "1"),
    ]);
    expectStatus(response, 201);
    expect(response.json).toMatchObject({
      data: {
        folder: "/late",
        isPublic: true,
        tags: ["before", "after"],
        metadata: { description: "said afterwards" },
      },
    });
    expect(await client.names("/late")).toEqual(["a.txt"]);
    expect(await client.names("/")).toEqual(["late"]);
  });

  test("ignores unknown fields", async () => {
    const { client } = await server().signUp();
    expectStatus(await sendForm(client, [field("colour", "red"), file("a.txt", "x")]), 201);
  });

  test("of zero bytes creates an empty file", async () => {
    const { client } = await server().signUp();
    const response = await client.stored("", { name: "empty" });
    expect(response.json).toMatchObject({ data: { size: 0, checksum: checksumOf("") } });
    const got = await client.get(`/api/files/${response.string("data.id")}/download`);
    expectStatus(got, 200);
    expect(got.bytes).toHaveLength(0);
  });

  test("preserves content that looks like form boundaries", async () => {
    const { client } = await server().signUp();
    const boundary = formType.split("boundary=")[1] ?? "";
    const inner = `x\r\n--${boundary.slice(0, -1)}X\r\n\r\n--\r\n-\n--${boundary}--\r\n--\r\n\r`;
    const response = await sendForm(client, [file("tricky.bin", inner)]);
    expectStatus(response, 201);
    expect(response.string("data.checksum")).toBe(checksumOf(inner));
    expect((await client.get(`/api/files/${response.string("data.id")}/download`)).text).toBe(inner);
  });

  test.each([1, 63, 64, 65, 4095, 65_535, 65_536, 65_537, 1_048_576, 3_000_001])(
    "of %d bytes can be downloaded with the acknowledged digest",
    async (sizeBytes) => {
      const { client } = await server().signUp();
      const content = randomContent(sizeBytes);
      const response = await client.stored(content, { name: "r.bin" });
      expect(response.json).toMatchObject({ data: { size: sizeBytes, checksum: checksumOf(content) } });
      const got = await client.get(`/api/files/${response.string("data.id")}/download`);
      expect(checksumOf(got.bytes)).toBe(checksumOf(content));
    },
  );

  test("is stored under its digest, and no file or folder name of the user appears on the disk", async () => {
    const { client } = await server().signUp();
    const content = randomContent(2000);
    await client.stored(content, { name: "visible-name.bin", fields: { folder: "/visible-folder" } });
    const hex = digestOf(content);
    const path = join(server().dataDir, "blobs", "sha256", hex.slice(0, 2), hex.slice(2, 4), hex);
    expect(digestOf(new Uint8Array(await Bun.file(path).arrayBuffer()))).toBe(hex);
    const names = await readdir(server().dataDir, { recursive: true });
    expect(names.filter((name) => name.includes("visible"))).toEqual([]);
  });

  test("returns URLs below LARDER_PUBLIC_URL if that is set", async () => {
    await withServer({ env: { LARDER_PUBLIC_URL: "https://files.example.com" } }, async (own) => {
      const { client } = await own.signUp();
      const response = await client.stored("x", { fields: { isPublic: "true" } });
      const id = response.string("data.id");
      expect(response.string("data.url")).toBe(`https://files.example.com/api/files/${id}/download`);
      const info = await client.get(`/api/files/${id}`);
      expect(info.string("data.shareLink")).toStartWith("https://files.example.com/s/");
    });
  });

  test("returns URLs with the request's Host otherwise", async () => {
    const { client } = await server().signUp();
    const response = await client.stored("x", { headers: { host: `files.home.arpa:${server().port}` } });
    expect(response.string("data.url")).toStartWith(`http://files.home.arpa:${server().port}/api/files/file_`);
  });
});

describe("the form", () => {
  test("must contain exactly one file", async () => {
    const { client } = await server().signUp();
    expectError(await sendForm(client, [field("folder", "/")]), 400, "invalid_field", "file");
    expectError(await sendForm(client, []), 400);
    const two = await sendForm(client, [file("a.txt", "a"), file("b.txt", "b")]);
    expectError(two, 400, "invalid_field", "file");
    const elsewhere = await sendForm(client, [file("a.txt", "a", undefined, "upload")]);
    expectError(elsewhere, 400, "invalid_field");
    expect(await client.names()).toEqual([]);
  });

  test.each([
    ["true", 201, true],
    ["1", 201, true],
    ["false", 201, false],
    ["0", 201, false],
    ["", 201, true],
    ["yes", 400, false],
    ["TRUTH", 400, false],
    ["2", 400, false],
  ])("reads isPublic=%p", async (value, status, isPublic) => {
    const { client } = await server().signUp();
    const response = await sendForm(client, [field("isPublic", value), file("a.txt", "x")]);
    expectStatus(response, status);
    if (status === 201) expect(response.at("data.isPublic")).toBe(isPublic);
    else expect(response.at("error.details.field")).toBe("isPublic");
  });

  test("accepts metadata as a JSON object of strings", async () => {
    const { client } = await server().signUp();
    const metadata = { author: "Ada", version: "v2", description: "from metadata", 键: "值" };
    const response = await sendForm(client, [field("metadata", JSON.stringify(metadata)), file("a.txt", "x")]);
    expectStatus(response, 201);
    expect(response.at("data.metadata")).toEqual(metadata);
  });

  test.each(["{", "[]", '"text"', "7", "null", '{"a":1}', '{"a":{"b":"c"}}', '{"a":null}', '{"a":["x"]}'])(
    "rejects metadata %p",
    async (metadata) => {
      const { client } = await server().signUp();
      const response = await sendForm(client, [field("metadata", metadata), file("a.txt", "x")]);
      expectError(response, 400, undefined, "metadata");
      expect(await client.names()).toEqual([]);
    },
  );

  test("accepts at most 64 KiB of metadata values", async () => {
    const { client } = await server().signUp();
    const half = "x".repeat(32_000);
    const fits = await sendForm(client, [field("metadata", JSON.stringify({ a: half, b: half })), file("a.txt", "x")]);
    expectStatus(fits, 201);
    const over = JSON.stringify({ a: half, b: half, c: "x".repeat(2000) });
    expectError(
      await sendForm(client, [field("metadata", over), file("b.txt", "x")]),
      400,
      "invalid_field",
      "metadata",
    );
  });

  test("accepts tags separated by commas and in repeated fields, trimmed", async () => {
    const { client } = await server().signUp();
    const response = await sendForm(client, [
      field("tags", " red ,  dark blue"),
      field("tags", "grün"),
      file("a.txt", "x"),
    ]);
    expectStatus(response, 201);
    expect(response.at("data.tags")).toEqual(["red", "dark blue", "grün"]);
  });

  test("accepts at most 50 tags of 64 characters", async () => {
    const { client } = await server().signUp();
    const fifty = Array.from({ length: 50 }, (_, index) => `${index}`.padStart(64, "ü"));
    const full = await client.upload("x", { name: "a.txt", fields: { tags: fifty.join(",") } });
    expectStatus(full, 201);
    expect(full.at("data.tags")).toEqual(fifty);
    const more = await client.upload("x", { name: "b.txt", fields: { tags: [...fifty, "one"].join(",") } });
    expectError(more, 400, "invalid_field", "tags");
    const longer = await client.upload("x", { name: "c.txt", fields: { tags: "x".repeat(65) } });
    expectError(longer, 400, "invalid_field", "tags");
    expect(await client.names()).toEqual(["a.txt"]);
  });
});

describe("the checksum field", () => {
  test.each(["before", "after"])("is verified %s the file", async (position) => {
    const { client } = await server().signUp();
    const good = field("checksum", checksumOf("content"));
    const bad = field("checksum", checksumOf("other content"));
    const order = (checksum: Part, name: string) =>
      position === "before" ? [checksum, file(name, "content")] : [file(name, "content"), checksum];
    expectStatus(await sendForm(client, order(good, "good.txt")), 201);
    const refused = await sendForm(client, order(bad, "bad.txt"));
    expectError(refused, 400, "checksum_mismatch");
    const details = JSON.stringify(refused.at("error"));
    expect(details).toContain(digestOf("content"));
    expect(details).toContain(digestOf("other content"));
    expect(await client.names()).toEqual(["good.txt"]);
    expect((await client.get("/api/users/usage")).number("data.storage.used")).toBe(7);
  });

  test.each(["abc", "md5:d41d8cd98f00b204e9800998ecf8427e", `sha256:${"g".repeat(64)}`, `sha256:${"a".repeat(63)}`])(
    "is rejected as %p",
    async (checksum) => {
      const { client } = await server().signUp();
      const response = await sendForm(client, [field("checksum", checksum), file("a.txt", "x")]);
      expectError(response, 400, "invalid_field", "checksum");
      expect(await client.names()).toEqual([]);
    },
  );
});

describe("the media type", () => {
  test.each([
    ["detected from the content, despite name and declaration", tinyPng(), "a.txt", "text/plain", "image/png"],
    ["declared, if the content is not recognized", "plain words", "a.bin", "text/csv", "text/csv"],
    ["derived from the extension, if nothing is declared", "plain words", "a.csv", "", "text/csv"],
    ["octet-stream, if unknown", new Uint8Array([1, 2, 3]), "nothing", "", "application/octet-stream"],
  ])("is %s", async (_, content, name, declared, expected) => {
    const { client } = await server().signUp();
    const parts = [file(name, content, declared === "" ? undefined : declared)];
    const response = await sendForm(client, parts);
    expectStatus(response, 201);
    expect(response.string("data.mimeType").split(";")[0]).toBe(expected);
  });
});

describe("a taken name", () => {
  test("gets the lowest free number before the extension by default", async () => {
    const { client } = await server().signUp();
    const names: string[] = [];
    const ids: string[] = [];
    for (let index = 0; index < 4; index++) {
      const response = await client.stored(`content ${index}`, { name: "photo.jpg" });
      names.push(response.string("data.name"));
      ids.push(response.string("data.id"));
    }
    expect(names).toEqual(["photo.jpg", "photo (1).jpg", "photo (2).jpg", "photo (3).jpg"]);
    expect(new Set(ids).size).toBe(4);
    await client.delete(`/api/files/${ids[1]}`);
    const response = await client.stored("again", { name: "photo.jpg" });
    expect(response.json).toMatchObject({ data: { name: "photo (1).jpg", originalName: "photo.jpg" } });
  });

  test.each([
    ["noextension", "noextension (1)"],
    ["two.parts.tar", "two.parts (1).tar"],
    ["photo (1).jpg", "photo (1) (1).jpg"],
  ])("%p becomes %p", async (name, numbered) => {
    const { client } = await server().signUp();
    await client.stored("one", { name });
    expect((await client.stored("two", { name })).string("data.name")).toBe(numbered);
  });

  test("of 255 bytes is shortened so that the number fits", async () => {
    const { client } = await server().signUp();
    const name = `${"ä".repeat(125)}x.txt`;
    expect(Buffer.byteLength(name)).toBe(255);
    await client.stored("one", { name });
    const second = (await client.stored("two", { name })).string("data.name");
    expect(second).toMatch(/^ä+x? \(1\)\.txt$/);
    expect(Buffer.byteLength(second)).toBeLessThanOrEqual(255);
    expect(Buffer.byteLength(second)).toBeGreaterThan(250);
  });

  test("of a folder counts for files, too", async () => {
    const { client } = await server().signUp();
    await client.folderId("thing");
    expect((await client.stored("x", { name: "thing" })).string("data.name")).toBe("thing (1)");
    const error = await client.upload("x", { name: "thing", fields: { onConflict: "error" } });
    expectError(error, 409, "name_taken");
  });

  test("is 409 name_taken with onConflict=error, and nothing changes", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("first", { name: "a.txt" });
    const response = await client.upload("second", { name: "a.txt", fields: { onConflict: "error" } });
    expectError(response, 409, "name_taken");
    expect(await client.names()).toEqual(["a.txt"]);
    expect((await client.get(`/api/files/${id}/download`)).text).toBe("first");
  });

  test("gets a new version with onConflict=version", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("first", { name: "a.txt", fields: { tags: "kept" } });
    const response = await client.upload("second!", { name: "a.txt", fields: { onConflict: "version" } });
    expectStatus(response, 201);
    expect(response.json).toMatchObject({
      data: { id, name: "a.txt", version: 2, size: 7, checksum: checksumOf("second!") },
    });
    expect((await client.get(`/api/files/${id}/download`)).text).toBe("second!");
    expect(await client.names()).toEqual(["a.txt"]);
  });

  test("that is free makes version 1 with onConflict=version", async () => {
    const { client } = await server().signUp();
    const response = await client.upload("x", { name: "new.txt", fields: { onConflict: "version" } });
    expectStatus(response, 201);
    expect(response.json).toMatchObject({ data: { name: "new.txt", version: 1 } });
  });

  test.each(["overwrite", "RENAME", "rename,error"])("rejects onConflict=%p", async (onConflict) => {
    const { client } = await server().signUp();
    const response = await client.upload("x", { fields: { onConflict } });
    expectError(response, 400, "invalid_field", "onConflict");
  });

  test("is case-sensitive", async () => {
    const { client } = await server().signUp();
    await client.stored("x", { name: "Readme" });
    expect((await client.stored("x", { name: "README" })).string("data.name")).toBe("README");
  });
});

describe("an upload rejected after its bytes arrived", () => {
  /** Lists the files below blobs/, except the metadata journal, which is written later in the background. */
  const listBlobs = async () => {
    const entries = await readdir(join(server().dataDir, "blobs"), { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && !entry.parentPath.includes("/blobs/journal"))
      .map((entry) => entry.name);
  };

  test("leaves no bytes in the store", async () => {
    // Such bytes once stayed in blobs/ for up to a week, outside every quota.
    const { client } = await server().signUp();
    const headers = { "idempotency-key": "k" };
    const id = await client.storedId("first", { name: "a.txt", headers });
    await client.stored("a file", { name: "file" });
    const before = await listBlobs();
    for (const size of [10, 400_000]) {
      const content = () => randomContent(size);
      const taken = { name: "a.txt", fields: { onConflict: "error" } };
      expectError(await client.upload(content(), taken), 409, "name_taken");
      expectError(await client.upload(content(), { name: "a.txt", headers }), 409, "idempotency_key");
      expectError(await client.putContent(id, content(), headers), 409, "idempotency_key");
      expectError(await client.putContent(id, content(), { "if-match": '"other"' }), 412);
      expectError(await client.upload(content(), { fields: { folder: "/file" } }), 400, "not_a_folder");
    }
    const expected = before.sort().join();
    await eventually("nothing is left of them", async () => (await listBlobs()).sort().join() === expected);
  });

  test("leaves another file with the same bytes intact", async () => {
    // Removing a rejected upload's bytes must not remove those of another file, even if both arrive at the same time.
    const { client } = await server().signUp();
    const content = randomContent(50_000);
    await client.stored("first", { name: "taken" });
    const uploadTaken = () => client.upload(content, { name: "taken", fields: { onConflict: "error" } });
    const [first, ...responses] = await Promise.all([
      client.upload(content, { name: "kept" }),
      ...Array.from({ length: 4 }, uploadTaken),
    ]);
    responses.push(await uploadTaken());
    expectStatus(first, 201);
    for (const response of responses) expectError(response, 409, "name_taken");
    const back = await client.get(`/api/files/${first.string("data.id")}/download`);
    expect(checksumOf(back.bytes)).toBe(checksumOf(content));
  });
});

describe("concurrent uploads", () => {
  test("of one name each get their own name", async () => {
    const { client } = await server().signUp();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => client.upload(`content ${index}`, { name: "same.txt" })),
    );
    expect(sortedStatuses(responses)).toEqual(Array.from({ length: 20 }, () => 201));
    const expected = ["same.txt", ...Array.from({ length: 19 }, (_, index) => `same (${index + 1}).txt`)];
    expect((await client.names()).sort()).toEqual(expected.sort());
    for (const [index, response] of responses.entries()) {
      const got = await client.get(`/api/files/${response.string("data.id")}/download`);
      expect(got.text).toBe(`content ${index}`);
    }
  });

  test("with onConflict=error: exactly one succeeds", async () => {
    const { client } = await server().signUp();
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        client.upload(`content ${index}`, { name: "one.txt", fields: { onConflict: "error" } }),
      ),
    );
    expect(sortedStatuses(responses)).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
  });

  test("with onConflict=version create one file with a version for each", async () => {
    const { client } = await server().signUp();
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        client.upload(`content ${index}`, { name: "one.txt", fields: { onConflict: "version" } }),
      ),
    );
    expect(sortedStatuses(responses)).toEqual(Array.from({ length: 8 }, () => 201));
    expect(new Set(responses.map((response) => response.string("data.id"))).size).toBe(1);
    const versions = responses.map((response) => response.number("data.version")).sort((a, b) => a - b);
    expect(versions).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await client.names()).toEqual(["one.txt"]);
  });

  test("of equal content store it once", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    const content = randomContent(50_000);
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? a : b).client.upload(content, { name: `${index}.bin` }),
      ),
    );
    expect(sortedStatuses(responses)).toEqual(Array.from({ length: 12 }, () => 201));
    const blobs = await readdir(join(server().dataDir, "blobs"), { recursive: true });
    expect(blobs.filter((name) => name.endsWith(digestOf(content)))).toHaveLength(1);
    for (const response of responses) expect(response.at("data.checksum")).toBe(checksumOf(content));
  });

  test("of equal content in another account get the same response as the first", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    const content = randomContent(5000);
    const [first, second] = [await a.client.stored(content), await b.client.stored(content)];
    expect(Object.keys(second.at("data") ?? {}).sort()).toEqual(Object.keys(first.at("data") ?? {}).sort());
    expect((await b.client.get("/api/users/usage")).number("data.storage.used")).toBe(5000);
    expect((await b.client.get("/api/users/usage")).number("data.transfers.uploadedBytes")).toBe(5000);
  });

  test("create each folder of a path once", async () => {
    const { client } = await server().signUp();
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        client.upload("x", { name: `${index}.txt`, fields: { folder: "/new/deep/folder" } }),
      ),
    );
    expect(sortedStatuses(responses)).toEqual(Array.from({ length: 10 }, () => 201));
    expect(await client.names("/")).toEqual(["new"]);
    expect(await client.names("/new")).toEqual(["deep"]);
    expect(await client.names("/new/deep")).toEqual(["folder"]);
    expect(await client.names("/new/deep/folder")).toHaveLength(10);
  });
});

testAllResponses(server);
