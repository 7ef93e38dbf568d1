import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Client, digestOf, randomContent } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { RawConnection } from "../support/raw-http.ts";
import { sharedServer } from "../support/server.ts";
import { appendTus, tryCreateTus, headTus, createTus, readOffset, tusMetadata } from "../support/tus.ts";

const server = sharedServer({ hasAccounts: true });

async function expectContent(client: Client, fileId: string | null | undefined, content: Uint8Array) {
  const got = await client.get(`/api/files/${fileId}/download`);
  expectStatus(got, 200);
  expect(digestOf(got.bytes)).toBe(digestOf(content));
}

async function usedBytes(client: Client): Promise<number> {
  return (await client.get("/api/users/usage")).number("data.storage.used");
}

test("a retry with the same Idempotency-Key takes over the upload from the open first request", async () => {
  const { client, token } = await server().signUp();
  const content = randomContent(300_000);
  const metadata = { filename: "a.bin" };
  const keyed = { "upload-length": String(content.length), "idempotency-key": "again" };
  const silent = await RawConnection.open(server().port);
  await silent.write(
    `POST /api/tus HTTP/1.1\r\nHost: larder.test\r\nAuthorization: Bearer ${token}\r\nTus-Resumable: 1.0.0\r\n` +
      `Content-Type: application/offset+octet-stream\r\nUpload-Length: ${content.length}\r\nIdempotency-Key: again\r\n` +
      `Upload-Metadata: ${tusMetadata(metadata)}\r\nContent-Length: ${content.length}\r\n\r\n`,
  );
  await silent.write(content.subarray(0, 100_000));
  await eventually("all sent bytes have arrived", async () => {
    const [upload] = (await client.get("/api/tus")).strings("data.uploads", "id");
    return upload !== undefined && (await readOffset(client, `/api/tus/${upload}`)) === 100_000;
  });
  const again = await tryCreateTus(client, keyed, metadata, { bytes: content });
  expectStatus(again, 201);
  expect(again.header("upload-offset")).toBe("100000");
  const path = again.header("location");
  expectStatus(await appendTus(client, path, 100_000, content.subarray(100_000, 200_000)), 204);
  await silent.write(content.subarray(100_000, 101_000));
  expectError(await silent.response("POST"), 409, "upload_state");
  silent.cut();
  const last = await appendTus(client, path, 200_000, content.subarray(200_000));
  expectStatus(last, 204);
  await expectContent(client, last.headers.get("larder-file-id"), content);
});

test("of several concurrent requests that set a deferred length, one wins, and the file can be completed", async () => {
  const { client } = await server().signUp();
  const content = randomContent(100);
  for (let round = 0; round < 5; round++) {
    const path = (await tryCreateTus(client, { "upload-defer-length": "1" })).header("location");
    const lengths = [40, 100, 60, 80, 20];
    const responses = await Promise.all(
      lengths.map((length) =>
        appendTus(client, path, 0, content.subarray(0, length / 2), { "upload-length": String(length) }),
      ),
    );
    const head = await headTus(client, path);
    const length = Number(head.header("upload-length"));
    const offset = Number(head.header("upload-offset"));
    expect(lengths).toContain(length);
    expect(offset).toBeLessThanOrEqual(length);
    for (const response of responses.filter(({ status }) => status === 204))
      expect(response.header("upload-length")).toBe(String(length));
    const last = await appendTus(client, path, offset, content.subarray(offset, length));
    expectStatus(last, 204);
    await expectContent(client, last.headers.get("larder-file-id"), content.subarray(0, length));
  }
});

test("setting a deferred length below the reserved quota releases the rest", async () => {
  const { client } = await server().signUp();
  const path = (await tryCreateTus(client, { "upload-defer-length": "1" })).header("location");
  expectStatus(await appendTus(client, path, 0, randomContent(1_000)), 204);
  expect(await usedBytes(client)).toBeGreaterThan(3_000);
  expectStatus(await appendTus(client, path, 1_000, "", { "upload-length": "3000" }), 204);
  expect(await usedBytes(client)).toBe(3_000);
});

test("a repeated concatenation with the same Idempotency-Key returns the file", async () => {
  const { client } = await server().signUp();
  const bytes = randomContent(5_000_000);
  const part = await createTus(client, bytes.length, {}, { headers: { "upload-concat": "partial" } });
  expectStatus(await appendTus(client, part, 0, bytes), 204);
  const joined = { "upload-concat": `final;${part}`, "idempotency-key": "join" };
  const joinParts = () => tryCreateTus(client, joined, { filename: "one.bin" });
  const responses = await Promise.all([joinParts(), joinParts(), joinParts()]);
  for (const response of responses) {
    // Never an upload that exists but has no bytes yet.
    if (response.status === 201) expect(response.header("upload-offset")).toBe(String(bytes.length));
    else expectError(response, 409, "upload_state");
  }
  const again = await joinParts();
  expectStatus(again, 201);
  await expectContent(client, again.header("larder-file-id"), bytes);
  expect(await client.names()).toEqual(["one.bin"]);
  expect(await readdir(join(server().dataDir, "uploads"))).not.toContain(again.string("data.id"));
});

test("the client has to send bytes again if they were deleted while the server runs", async () => {
  const { client } = await server().signUp();
  const content = randomContent(200_000);
  const path = await createTus(client, content.length);
  const deleteStaged = () =>
    Bun.file(join(server().dataDir, "uploads", path.slice(path.lastIndexOf("/") + 1))).delete();
  expectStatus(await appendTus(client, path, 0, content.subarray(0, 50_000)), 204);
  await deleteStaged();
  const refused = await appendTus(client, path, 50_000, content.subarray(50_000));
  expectError(refused, 409, "upload_offset");
  expect(refused.at("error.details.expected")).toBe(0);
  expectStatus(await appendTus(client, path, 0, content.subarray(0, 70_000)), 204);
  await deleteStaged();
  expect(await readOffset(client, path)).toBe(0);
  const last = await appendTus(client, path, 0, content);
  expectStatus(last, 204);
  await expectContent(client, last.headers.get("larder-file-id"), content);
});

testAllResponses(server);
