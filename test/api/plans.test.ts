import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { toBytes, randomContent } from "../support/client.ts";
import { expectError, expectStatus, sortedStatuses } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { boundary, file, form, formType } from "../support/multipart.ts";
import { RawConnection, httpChunk } from "../support/raw-http.ts";
import { sharedServer, withServer } from "../support/server.ts";

const sizeMax = 100_000;
const quota = 250_000;
const server = sharedServer({
  env: {
    LARDER_DEFAULT_PLAN: "free",
    LARDER_PLANS_FREE_MAX_FILE_SIZE: String(sizeMax),
    LARDER_PLANS_FREE_QUOTA: String(quota),
  },
});

/** Lists the files below uploads/, which unfinished uploads leave. */
async function listStagedFiles(): Promise<string[]> {
  const entries = await readdir(join(server().dataDir, "uploads"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

describe("the size of a file", () => {
  test("may equal the limit exactly, and not exceed it by a byte", async () => {
    const { client } = await server().signUp();
    expectStatus(await client.upload(randomContent(sizeMax), { name: "full" }), 201);
    const over = await client.upload(randomContent(sizeMax + 1), { name: "over" });
    expectError(over, 413, "file_too_large");
    expect(over.json).toMatchObject({ error: { details: { limit: sizeMax, plan: "free" } } });
    expect(await client.names()).toEqual(["full"]);
    expect((await client.get("/api/users/usage")).number("data.storage.used")).toBe(sizeMax);
    expect(await listStagedFiles()).toEqual([]);
  });

  test("applies to PUT content, which then leaves the old content", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("old");
    expectError(await client.putContent(id, randomContent(sizeMax + 1)), 413, "file_too_large");
    expect((await client.get(`/api/files/${id}/download`)).text).toBe("old");
    expectStatus(await client.putContent(id, randomContent(sizeMax)), 200);
  });

  test("is checked against Content-Length before the body is read, with a response", async () => {
    const { client, token } = await server().signUp();
    const id = await client.storedId("old");
    for (const [method, path, type] of [
      ["POST", "/api/files/upload", formType],
      ["PUT", `/api/files/${id}/content`, "application/octet-stream"],
    ] as const) {
      const connection = await RawConnection.open(server().port);
      await connection.write(
        `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n` +
          `Content-Type: ${type}\r\nContent-Length: 900000000\r\n\r\n`,
      );
      const response = await connection.response();
      expectError(response, 413);
      expect(["file_too_large", "body_too_large"]).toContain(response.string("error.details.reason"));
      expect(response.number("error.details.limit")).toBeGreaterThanOrEqual(sizeMax);
      connection.cut();
    }
  });

  test("without a declared length is checked at the first byte over the limit, with a response", async () => {
    const { client, token } = await server().signUp();
    const connection = await RawConnection.open(server().port);
    await connection.write(
      `POST /api/files/upload HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n` +
        `Content-Type: ${formType}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`;
    await connection.write(httpChunk(toBytes(head)));
    await connection.write(httpChunk(randomContent(sizeMax + 1)));
    expectError(await connection.response(), 413, "file_too_large");
    connection.cut();
    expect(await client.names()).toEqual([]);
    expect(await listStagedFiles()).toEqual([]);
  });

  test("of a form counts the file only, not the parts around it", async () => {
    const { client } = await server().signUp();
    const long = { headers: ['Content-Disposition: form-data; name="description"'], content: "x".repeat(20_000) };
    const response = await client.request("POST", "/api/files/upload", {
      body: form([long, file("full.bin", randomContent(sizeMax))]),
      headers: { "content-type": formType },
    });
    expectStatus(response, 201);
  });
});

describe("the quota", () => {
  test("is exact to the byte, and reported", async () => {
    const { client } = await server().signUp();
    await client.stored(randomContent(sizeMax), { name: "1" });
    await client.stored(randomContent(sizeMax), { name: "2" });
    const over = await client.upload(randomContent(50_001), { name: "3" });
    expectError(over, 413, "quota_exceeded");
    expect(over.json).toMatchObject({ error: { details: { limit: quota, plan: "free" } } });
    expectStatus(await client.upload(randomContent(50_000), { name: "3" }), 201);
    const storage = (await client.get("/api/users/usage")).at("data.storage");
    expect(storage).toMatchObject({ used: quota, remaining: 0, percentage: 100 });
    expectError(await client.upload("x", { name: "4" }), 413, "quota_exceeded");
    expectStatus(await client.upload("", { name: "empty" }), 201);
  });

  test("is never exceeded by concurrent uploads", async () => {
    const { client } = await server().signUp();
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, index) => client.upload(randomContent(60_000), { name: `${index}` })),
    );
    expect(sortedStatuses(responses)).toEqual([201, 201, 201, 201, 413, 413, 413, 413, 413, 413]);
    expect((await client.get("/api/users/usage")).number("data.storage.used")).toBe(240_000);
    expect(await client.names()).toHaveLength(4);
  });

  test("and the plan are named in every rejection", async () => {
    // Rejections inside the transaction (a copy, the last of several concurrent uploads) once left the plan out.
    const { client } = await server().signUp();
    for (const name of ["a", "b"]) await client.stored(randomContent(90_000), { name, fields: { folder: "/box" } });
    const [box = ""] = (await client.get("/api/files?type=folder")).strings("data.files", "id");
    const details = { reason: "quota_exceeded", limit: quota, plan: "free" };
    const copy = await client.post("/api/files/copy", { fileIds: [box], destinationFolder: "/copies" });
    expectError(copy, 413, "quota_exceeded");
    expect(copy.at("error.details")).toMatchObject(details);
    const many = await Promise.all(
      Array.from({ length: 6 }, (_, index) => client.upload(randomContent(60_000), { name: `${index}` })),
    );
    const refused = many.filter((response) => response.status !== 201);
    expect(refused).toHaveLength(5);
    for (const response of refused) expect(response.at("error.details")).toMatchObject(details);
  });

  test("counts versions and copies, and deletion frees it at once", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(randomContent(90_000), { name: "a" });
    expectStatus(await client.putContent(id, randomContent(90_000)), 200);
    expectError(await client.putContent(id, randomContent(90_000)), 413, "quota_exceeded");
    const copy = { fileIds: [id], destinationFolder: "/copies" };
    expectError(await client.post("/api/files/copy", copy), 413, "quota_exceeded");
    await client.delete(`/api/files/${id}`);
    expectStatus(await client.upload(randomContent(sizeMax), { name: "b" }), 201);
    expect((await client.get("/api/users/usage")).number("data.storage.used")).toBe(sizeMax);
  });

  test("counts bytes that are already stored again: sharing a blob saves no quota", async () => {
    const { client } = await server().signUp();
    const content = randomContent(sizeMax);
    await client.stored(content, { name: "1" });
    await client.stored(content, { name: "2" });
    expectError(await client.upload(content, { name: "3" }), 413, "quota_exceeded");
  });

  test("of one account can be set on the command line", async () => {
    const { client } = await server().addUser(["--quota", "1000"]);
    expectError(await client.upload(randomContent(1001)), 413, "quota_exceeded");
    expectStatus(await client.upload(randomContent(1000)), 201);
    expect((await client.get("/api/users/usage")).number("data.storage.quota")).toBe(1000);
  });
});

test("the numbers of every plan can be set", async () => {
  const env = { LARDER_PLANS_PRO_MAX_FILE_SIZE: "5000", LARDER_PLANS_PRO_QUOTA: "6000", LARDER_PLANS_PRO_DEVICES: "4" };
  await withServer({ env: { ...env, LARDER_DEFAULT_PLAN: "pro" } }, async (own) => {
    const { client } = await own.signUp();
    expect((await client.get("/api/users/usage")).json).toMatchObject({
      data: { storage: { quota: 6000 }, devices: { limit: 4 }, plan: { name: "pro", maxFileSize: 5000 } },
    });
    expectError(await client.upload(randomContent(5001)), 413, "file_too_large");
  });
});

test("free accepts files of at most 10 MB by default", async () => {
  await withServer({ env: { LARDER_DEFAULT_PLAN: "" } }, async (own) => {
    const { client } = await own.signUp();
    expectStatus(await client.upload(new Uint8Array(10_485_760), { name: "full" }), 201);
    const over = await client.upload(new Uint8Array(10_485_761), { name: "over" });
    expectError(over, 413, "file_too_large");
    expect(over.json).toMatchObject({ error: { details: { limit: 10_485_760, plan: "free" } } });
  });
});

testAllResponses(server);
