import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Account, type ApiResponse, Client, checksumOf, digestOf, randomContent } from "../support/client.ts";
import { expectError, expectStatus, sortedStatuses, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice, type TestDevice } from "../support/mobile.ts";
import { httpChunk, RawConnection } from "../support/raw-http.ts";
import { seededRandom } from "../support/random.ts";
import { sharedServer, withServer } from "../support/server.ts";
import {
  completeUpload,
  sliceChunk,
  readPlan,
  planUpload,
  putBytes,
  sendChunks,
  getUploadState,
  tryInit,
} from "../support/uploads.ts";

const server = sharedServer({ hasAccounts: true });
const kibibyte = 1024;

/** Creates an account with a phone. */
async function registerPhone(target = server()): Promise<{ account: Account; phone: TestDevice; client: Client }> {
  const account = await target.signUp();
  const phone = await registerDevice(target, account);
  return { account, phone, client: phone.client };
}

/** The used and reserved bytes that the account sees. */
async function getUsedBytes({ client }: Account): Promise<number> {
  return (await client.get("/api/users/usage")).number("data.storage.used");
}

/** Downloads the file of a response. Returns the digest of its content. */
async function downloadContent(client: Client, response: ApiResponse): Promise<string> {
  return digestOf((await client.get(`/api/files/${response.string("data.id")}/download`)).bytes);
}

/** The Content-Digest of some bytes (RFC 9530). */
function contentDigest(bytes: Uint8Array): string {
  return `sha-256=:${Buffer.from(digestOf(bytes), "hex").toString("base64")}:`;
}

describe("upload/init", () => {
  test("returns a session and a plan", async () => {
    const { client } = await registerPhone();
    const response = await client.post("/api/mobile/upload/init", {
      files: [
        {
          localId: "local-7",
          name: "IMG_1.JPG",
          size: 2500,
          mimeType: "image/jpeg",
          folder: "/camera",
          checksum: checksumOf("x"),
          priority: "high",
        },
      ],
      uploadOptions: { wifiOnly: true, chunkSize: 1024, maxRetries: 5 },
    });
    expectStatus(response, 200);
    const id = response.string("data.files.0.uploadId");
    expect(id).toMatch(/^upl_/);
    expect(response.json).toEqual({
      success: true,
      data: {
        uploadSession: expect.stringMatching(/^ups_/),
        expiresAt: expect.stringMatching(timestampPattern),
        uploadOptions: { wifiOnly: true, chunkSize: 1024, maxRetries: 5, automatic: false },
        files: [
          {
            localId: "local-7",
            uploadId: id,
            uploadUrl: expect.stringContaining(`${server().url}/api/mobile/upload/${id}/`),
            totalChunks: 3,
            chunkSize: 1024,
            alreadyStored: false,
            chunks: [
              { index: 0, start: 0, end: 1023, uploadUrl: expect.stringContaining(server().url) },
              { index: 1, start: 1024, end: 2047, uploadUrl: expect.stringContaining(server().url) },
              { index: 2, start: 2048, end: 2499, uploadUrl: expect.stringContaining(server().url) },
            ],
          },
        ],
      },
    });
    const inHours = (Date.parse(response.string("data.expiresAt")) - Date.now()) / 3_600_000;
    expect(Math.round(inHours)).toBe(24);
  });

  test("defaults to 8 MiB, 3 tries and any network", async () => {
    const { client } = await registerPhone();
    const response = await tryInit(client, { size: 20 * 1024 * kibibyte }, {});
    expect(response.at("data.uploadOptions")).toEqual({
      wifiOnly: false,
      chunkSize: 8 * 1024 * kibibyte,
      maxRetries: 3,
      automatic: false,
    });
    expect(response.number("data.files.0.totalChunks")).toBe(3);
  });

  test("plans each file separately: one may have an error instead of a plan", async () => {
    const { client } = await registerPhone();
    const response = await client.post("/api/mobile/upload/init", {
      files: [
        { localId: "a", name: "good.bin", size: 10 },
        { localId: "b", name: "../bad", size: 10 },
        { localId: "c", name: "x", size: 10, folder: "relative" },
        { localId: "d", name: "x", size: 10, checksum: "md5:1" },
        { localId: "e", name: "x", size: 10, fileId: "file_unknown" },
        { localId: "f", name: "large", size: 11_000 * kibibyte },
        { localId: "g", name: "also good.bin", size: 0 },
      ],
      uploadOptions: { chunkSize: kibibyte },
    });
    expectStatus(response, 200);
    const reasons = response
      .list("data.files")
      .map((_, index) => response.at(`data.files.${index}.error.details.reason`));
    expect(reasons).toEqual([
      undefined,
      "invalid_path",
      "invalid_path",
      "invalid_field",
      "not_found",
      "chunk_size",
      undefined,
    ]);
    expect(response.strings("data.files", "localId")).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
    expect(response.number("data.files.5.error.details.min")).toBe(Math.ceil((11_000 * kibibyte) / 10_000));
  });

  test("fails with the first error if no file can be planned", async () => {
    const { client } = await registerPhone();
    expectError(await tryInit(client, { size: 1, name: "a/b" }), 400, "invalid_path");
    expectError(await tryInit(client, { size: 1, fileId: "file_x" }), 404, "not_found");
  });

  test("rejects malformed requests", async () => {
    const { client } = await registerPhone();
    const init = (body: unknown) => client.post("/api/mobile/upload/init", body);
    expectError(await init({ files: [] }), 400, "invalid_field", "files");
    expectError(await init({ files: [{ localId: "1", name: "x" }] }), 400, "invalid_field", "files.0.size");
    for (const size of [-1, 1.5, "10", null, 2 ** 60]) {
      expectError(await tryInit(client, { size }), 400, "invalid_field", "files.0.size");
    }
    for (const chunkSize of [0, 1023, 64 * 1024 * kibibyte + 1, -5]) {
      expectError(await tryInit(client, { size: 1 }, { chunkSize }), 400, "chunk_size");
    }
    for (const maxRetries of [-1, 21])
      expectError(await tryInit(client, { size: 1 }, { maxRetries }), 400, "invalid_field");
    const many = Array.from({ length: 1001 }, (_, index) => ({ localId: `${index}`, name: `${index}`, size: 1 }));
    expectError(await init({ files: many }), 400, "invalid_field", "files");
    expectStatus(await init({ files: many.slice(1) }), 200);
  });

  test("is only for devices with write access", async () => {
    const { account } = await registerPhone();
    expectError(await tryInit(server().visitor, { size: 1 }), 401, "missing_token");
    expectError(await tryInit(account.client, { size: 1 }), 401, "invalid_token");
    const viewer = await server().addUser(["--role", "viewer"]);
    const device = await registerDevice(server(), viewer);
    expectError(await tryInit(device.client, { size: 1 }), 403, "role");
  });

  test("names files of the account with the same content, and then completes without a byte", async () => {
    const { account, client } = await registerPhone();
    const content = randomContent(3000);
    await account.client.stored(content, { name: "there.bin" });
    const init = await tryInit(client, { size: 3000, checksum: checksumOf(content), name: "again.bin" });
    expect(init.at("data.files.0.alreadyStored")).toBe(true);
    const done = await completeUpload(client, init.string("data.files.0.uploadId"));
    expectStatus(done, 200);
    expect(await downloadContent(client, done)).toBe(digestOf(content));
    // The files of other accounts are never revealed.
    const other = await registerPhone();
    const foreign = await tryInit(other.client, { size: 3000, checksum: checksumOf(content) });
    expect(foreign.at("data.files.0.alreadyStored")).toBe(false);
    expectError(await completeUpload(other.client, foreign.string("data.files.0.uploadId")), 409, "upload_state");
    // The same digest with another size is different content.
    const wrong = await tryInit(client, { size: 2999, checksum: checksumOf(content) });
    expect(wrong.at("data.files.0.alreadyStored")).toBe(false);
  });

  test("reports deleted content to an automatic backup; a manual upload succeeds", async () => {
    const { account, client } = await registerPhone();
    const content = randomContent(2000);
    const id = await account.client.storedId(content);
    expectStatus(await account.client.delete(`/api/files/${id}`), 200);
    const file = { size: 2000, checksum: checksumOf(content) };
    expectError(await tryInit(client, { ...file, automatic: true }), 409, "deleted_by_you");
    expectError(await tryInit(client, file, { automatic: true }), 409, "deleted_by_you");
    expectStatus(await tryInit(client, file), 200);
  });
});

describe("upload/init of a file that the device is already uploading", () => {
  const chunkSize = { chunkSize: 1024 };

  test("resumes that upload: same id, chunks and URLs, nothing reserved twice", async () => {
    const { account, client } = await registerPhone();
    const content = randomContent(3000);
    const file = { folder: "/Camera", checksum: checksumOf(content), automatic: true };
    const first = await planUpload(client, content, file);
    await sendChunks(client, first, content, [0]);
    const used = await getUsedBytes(account);
    const again = await tryInit(client, { size: 3000, ...file });
    expect(readPlan(again)).toEqual(first);
    expect(again.at("data.files.0.completedChunks")).toEqual([0]);
    expect(again.string("data.uploadSession")).toMatch(/^ups_/);
    expect(await getUsedBytes(account)).toBe(used);
    expect((await getUploadState(client, first.uploadId)).at("data")).toMatchObject({
      completedChunks: [0],
      expiresAt: again.string("data.expiresAt"),
    });
    await sendChunks(client, first, content, [1, 2]);
    expectStatus(await completeUpload(client, first.uploadId), 200);
    expect(await client.names("/Camera")).toEqual(["photo.bin"]);
  });

  test("takes over the new options", async () => {
    const { account, client } = await registerPhone();
    const content = randomContent(1000);
    await account.client.stored("other", { name: "photo.bin" });
    const file = { size: 1000, checksum: checksumOf(content) };
    const first = readPlan(await tryInit(client, { ...file, onConflict: "error" }));
    await sendChunks(client, first, content);
    expectError(await completeUpload(client, first.uploadId), 409, "name_taken");
    expect(readPlan(await tryInit(client, file)).uploadId).toBe(first.uploadId);
    expect((await completeUpload(client, first.uploadId)).string("data.name")).toBe("photo (1).bin");
  });

  test("replaces that upload if the chunk size differs", async () => {
    const { account, client } = await registerPhone();
    const content = randomContent(3000);
    const file = { size: 3000, checksum: checksumOf(content) };
    const first = readPlan(await tryInit(client, file, chunkSize));
    await sendChunks(client, first, content, [0]);
    const used = await getUsedBytes(account);
    const second = await tryInit(client, file, { chunkSize: 2048 });
    expect(second.string("data.files.0.uploadId")).not.toBe(first.uploadId);
    expect(second.at("data.files.0.completedChunks")).toBeUndefined();
    expect((await getUploadState(client, first.uploadId)).at("data.status")).toBe("cancelled");
    expect(await getUsedBytes(account)).toBe(used);
  });

  test("starts another upload if a field that identifies the file or the device differs, or no checksum is given", async () => {
    const { account, client } = await registerPhone();
    const content = randomContent(3000);
    const file = { localId: "1", name: "a.bin", folder: "/A", size: 3000, checksum: checksumOf(content) };
    const id = await account.client.storedId("doc", { name: "doc.bin" });
    const others = [
      { localId: "2" },
      { name: "b.bin" },
      { folder: "/B" },
      { size: 2999 },
      { checksum: checksumOf("other") },
      { checksum: undefined },
      { checksum: undefined },
      { fileId: id },
    ];
    const ids = new Set<string>();
    for (const other of [{}, ...others]) ids.add(readPlan(await tryInit(client, { ...file, ...other })).uploadId);
    const otherDevice = await registerDevice(server(), account);
    ids.add(readPlan(await tryInit(otherDevice.client, file)).uploadId);
    expect(ids.size).toBe(10);
  });

  test("allows repeated offers of 3 GB on an account of 5 GB", async () => {
    await withServer({ env: { LARDER_PLANS_ENTERPRISE_QUOTA: "5GB" } }, async (own) => {
      const { account, client } = await registerPhone(own);
      const files = Array.from({ length: 30 }, (_, index) => ({
        localId: `${index}`,
        name: `IMG_${index}.heic`,
        size: 100_000_000,
        checksum: checksumOf(`photo ${index}`),
        automatic: true,
      }));
      const offer = (chunk: number) =>
        client.post("/api/mobile/upload/init", { files, uploadOptions: { chunkSize: chunk } });
      const idsOf = (response: ApiResponse) => files.map((_, index) => response.string(`data.files.${index}.uploadId`));
      const first = await offer(8 << 20);
      const second = await offer(8 << 20);
      expect(idsOf(second)).toEqual(idsOf(first));
      expect(await getUsedBytes(account)).toBe(3e9);
      const third = await offer(4 << 20);
      expect(new Set([...idsOf(first), ...idsOf(third)]).size).toBe(60);
      expect(await getUsedBytes(account)).toBe(3e9);
    });
  });
});

describe("a chunk", () => {
  test("counts once it has arrived, in any order, by token or only by signature", async () => {
    const { client } = await registerPhone();
    const content = randomContent(2500);
    const plan = await planUpload(client, content);
    const [first, second, third] = plan.chunks;
    if (first === undefined || second === undefined || third === undefined) throw new Error("three chunks");
    const one = await putBytes(server().visitor, third.path, sliceChunk(content, third));
    expect(one.at("data")).toEqual({
      uploadId: plan.uploadId,
      index: 2,
      completedChunks: [2],
      bytesUploaded: 452,
      totalChunks: 3,
    });
    const [bare = ""] = first.path.split("?");
    expectStatus(await putBytes(client, bare, sliceChunk(content, first)), 200);
    const state = await getUploadState(client, plan.uploadId);
    expect(state.at("data")).toEqual({
      uploadId: plan.uploadId,
      status: "uploading",
      completedChunks: [0, 2],
      missingChunks: [1],
      bytesUploaded: 1476,
      totalBytes: 2500,
      totalChunks: 3,
      percentage: 59.04,
      expiresAt: expect.stringMatching(timestampPattern),
    });
    expectStatus(await putBytes(server().visitor, second.path, sliceChunk(content, second)), 200);
    const done = await completeUpload(client, plan.uploadId, { checksum: checksumOf(content) });
    expectStatus(done, 200);
    expect(await downloadContent(client, done)).toBe(digestOf(content));
  });

  test("can be sent in parallel with all others", async () => {
    const { client } = await registerPhone();
    const content = randomContent(40 * kibibyte + 7);
    const plan = await planUpload(client, content);
    const inAnyOrder = seededRandom(1).shuffled(plan.chunks);
    const responses = await Promise.all(
      inAnyOrder.map((chunk) => putBytes(client, chunk.path, sliceChunk(content, chunk))),
    );
    expect(new Set(sortedStatuses(responses))).toEqual(new Set([200]));
    const done = await completeUpload(client, plan.uploadId);
    expect(done.string("data.checksum")).toBe(checksumOf(content));
    expect(await downloadContent(client, done)).toBe(digestOf(content));
  });

  test("can be sent again: the last complete one counts", async () => {
    const { client } = await registerPhone();
    const content = randomContent(3 * kibibyte);
    const plan = await planUpload(client, content);
    const [, middle] = plan.chunks;
    if (middle === undefined) throw new Error("three chunks");
    await sendChunks(client, plan, content);
    // The same bytes, other bytes from the start, and other bytes only at the end.
    await sendChunks(client, plan, content, [1, 1]);
    const other = randomContent(kibibyte);
    expectStatus(await putBytes(client, middle.path, other), 200);
    const last = other.slice();
    last[kibibyte - 1] = ((last[kibibyte - 1] ?? 0) + 1) % 256;
    const again = await putBytes(client, middle.path, last);
    expect(again.at("data.completedChunks")).toEqual([0, 1, 2]);
    expect(again.number("data.bytesUploaded")).toBe(3 * kibibyte);
    const expected = content.slice();
    expected.set(last, kibibyte);
    const done = await completeUpload(client, plan.uploadId, { checksum: checksumOf(expected) });
    expectStatus(done, 200);
    expect(await downloadContent(client, done)).toBe(digestOf(expected));
  });

  test("does not change if it is sent again with other bytes and cut", async () => {
    const { client, phone } = await registerPhone();
    const content = randomContent(3 * kibibyte);
    const plan = await planUpload(client, content);
    await sendChunks(client, plan, content);
    const connection = await RawConnection.open(server().port);
    await connection.write(
      `PUT ${plan.chunks[1]?.path} HTTP/1.1\r\nHost: larder.test\r\nAuthorization: Bearer ${phone.tokens.accessToken}\r\n` +
        "Content-Length: 1024\r\n\r\n",
    );
    await connection.write(randomContent(700));
    await getUploadState(client, plan.uploadId);
    connection.cut();
    // A chunk that is too short is also rejected entirely.
    const chunked = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(randomContent(1000));
        controller.close();
      },
    });
    expectError(await client.request("PUT", plan.chunks[1]?.path ?? "", { body: chunked }), 400, "chunk_size");
    const done = await completeUpload(client, plan.uploadId, { checksum: checksumOf(content) });
    expectStatus(done, 200);
    expect(await downloadContent(client, done)).toBe(digestOf(content));
  });

  test("of the wrong length is rejected, with and without Content-Length, and does not count", async () => {
    const { client, phone } = await registerPhone();
    const content = randomContent(2500);
    const plan = await planUpload(client, content);
    const path = plan.chunks[0]?.path ?? "";
    for (const length of [0, 1, 1023, 1025, 5000]) {
      expectError(await putBytes(client, path, randomContent(length)), 400, "chunk_size");
    }
    for (const length of [10, 1023, 1025, 300_000]) {
      const connection = await RawConnection.open(server().port);
      await connection.write(
        `PUT ${path} HTTP/1.1\r\nHost: larder.test\r\nAuthorization: Bearer ${phone.tokens.accessToken}\r\n` +
          "Transfer-Encoding: chunked\r\n\r\n",
      );
      await connection.write(httpChunk(randomContent(length)));
      await connection.write(httpChunk(new Uint8Array()));
      expectError(await connection.response(), 400, "chunk_size");
      connection.cut();
    }
    expect((await getUploadState(client, plan.uploadId)).at("data.completedChunks")).toEqual([]);
    expect((await getUploadState(client, plan.uploadId)).at("data.status")).toBe("pending");
  });

  test("does not count if it breaks off", async () => {
    const { client } = await registerPhone();
    const content = randomContent(2500);
    const plan = await planUpload(client, content);
    const connection = await RawConnection.open(server().port);
    await connection.write(`PUT ${plan.chunks[0]?.path} HTTP/1.1\r\nHost: larder.test\r\nContent-Length: 1024\r\n\r\n`);
    await connection.write(randomContent(1000));
    await getUploadState(client, plan.uploadId);
    connection.cut();
    expect((await getUploadState(client, plan.uploadId)).at("data.missingChunks")).toEqual([0, 1, 2]);
    await sendChunks(client, plan, content);
    expectStatus(await completeUpload(client, plan.uploadId, { checksum: checksumOf(content) }), 200);
  });

  test("is taken over at once by a second request", async () => {
    const { client } = await registerPhone();
    const content = randomContent(2500);
    const plan = await planUpload(client, content);
    const path = plan.chunks[0]?.path ?? "";
    const silent = await RawConnection.open(server().port);
    await silent.write(`PUT ${path} HTTP/1.1\r\nHost: larder.test\r\nContent-Length: 1024\r\n\r\n`);
    await silent.write(randomContent(500));
    await getUploadState(client, plan.uploadId);
    await sendChunks(client, plan, content, [0]);
    // Further bytes of the first request are ignored.
    await silent.write(randomContent(524));
    expectError(await silent.response(), 409, "upload_state");
    silent.cut();
    await sendChunks(client, plan, content, [1, 2]);
    expectStatus(await completeUpload(client, plan.uploadId, { checksum: checksumOf(content) }), 200);
  });

  test("is checked against Content-Digest", async () => {
    const { client } = await registerPhone();
    const content = randomContent(2000);
    const plan = await planUpload(client, content);
    const path = plan.chunks[0]?.path ?? "";
    const part = content.slice(0, 1024);
    const put = (digest: string) => putBytes(client, path, part, { "content-digest": digest });
    expectError(await put(contentDigest(randomContent(5))), 400, "checksum_mismatch", "Content-Digest");
    expectError(await put("sha-256=:abc:"), 400, "invalid_field", "Content-Digest");
    expectError(await put("sha-256=abc"), 400, "invalid_field", "Content-Digest");
    expect((await getUploadState(client, plan.uploadId)).at("data.completedChunks")).toEqual([]);
    expectStatus(await put(contentDigest(part)), 200);
    expectStatus(await put(`sha-512=:AAAA:, ${contentDigest(part)}`), 200);
    expectStatus(await put("sha-512=:AAAA:"), 200);
  });

  test("is 404 with an unknown index, or for an unknown or another user's upload", async () => {
    const { client } = await registerPhone();
    const other = await registerPhone();
    const plan = await planUpload(client, randomContent(2000));
    for (const index of ["2", "99999999", "-1", "x", "1e0"]) {
      const path = `/api/mobile/upload/${plan.uploadId}/chunks/${index}`;
      expectError(await putBytes(client, path, randomContent(1024)), 404, "not_found");
    }
    const path = `/api/mobile/upload/${plan.uploadId}/chunks/0`;
    expectError(await putBytes(other.client, path, randomContent(1024)), 404, "not_found");
    expectError(await putBytes(client, "/api/mobile/upload/upl_no/chunks/0", randomContent(1)), 404, "not_found");
  });

  test("needs a device's token or the right signature", async () => {
    const { account, client } = await registerPhone();
    const plan = await planUpload(client, randomContent(2000));
    const [first, second] = plan.chunks;
    if (first === undefined || second === undefined) throw new Error("two chunks");
    const [bare = "", signature = ""] = first.path.split("?sig=");
    const bytes = randomContent(1024);
    const visitor = server().visitor;
    expectError(await putBytes(visitor, bare, bytes), 401, "missing_token");
    expectError(await putBytes(account.client, bare, bytes), 401, "invalid_token");
    for (const wrong of ["", "x", "A".repeat(32), `${signature}A`, signature.slice(1)]) {
      expectError(await putBytes(visitor, `${bare}?sig=${wrong}`, bytes), 401, "invalid_token");
    }
    // A signature is valid only for its own chunk of its own upload.
    const [secondBare = ""] = second.path.split("?");
    expectError(await putBytes(visitor, `${secondBare}?sig=${signature}`, bytes), 401, "invalid_token");
    const [wholeBare = ""] = plan.path.split("?");
    expectError(await putBytes(visitor, `${wholeBare}?sig=${signature}`, bytes), 401, "invalid_token");
    const next = await planUpload(client, randomContent(2000));
    const foreign = `/api/mobile/upload/${next.uploadId}/chunks/0?sig=${signature}`;
    expectError(await putBytes(visitor, foreign, bytes), 401, "invalid_token");
    expectError(await visitor.get(`/api/mobile/upload/${plan.uploadId}?sig=${signature}`), 401, "missing_token");
    // An invalid token does no harm if the signature is valid.
    const stale = new Client(server(), "not a token");
    expectStatus(await putBytes(stale, first.path, bytes), 200);
  });

  test("has a URL that survives a new token, and ends with sign-out or removal of the device", async () => {
    const { account, phone, client } = await registerPhone();
    const content = randomContent(3000);
    const plan = await planUpload(client, content);
    const refreshed = await server().visitor.post("/api/mobile/auth/refresh", {
      refreshToken: phone.tokens.refreshToken,
      deviceId: phone.deviceId,
    });
    expectStatus(refreshed, 200);
    expectStatus(await putBytes(server().visitor, plan.chunks[0]?.path ?? "", content.slice(0, 1024)), 200);
    const fresh = new Client(server(), refreshed.string("tokens.accessToken"));
    const { email, password } = account;
    const signIn = () => server().visitor.post("/api/mobile/auth", { email, password, deviceId: phone.deviceId });
    // A sign-in while signed in keeps the URLs.
    const renewed = await signIn();
    expectStatus(renewed, 200);
    expectStatus(await putBytes(server().visitor, plan.chunks[1]?.path ?? "", content.slice(1024, 2048)), 200);
    expectError(await fresh.get("/api/mobile/devices"), 401, "revoked_token");
    const last = new Client(server(), renewed.string("tokens.accessToken"));
    expectStatus(await last.post("/api/auth/signout", {}), 200);
    const rejected = () => putBytes(server().visitor, plan.chunks[2]?.path ?? "", content.slice(2048));
    expectError(await rejected(), 401, "invalid_token");
    // A later sign-in does not revive the old URLs; the upload continues by the token.
    const back = new Client(server(), (await signIn()).string("tokens.accessToken"));
    expectError(await rejected(), 401, "invalid_token");
    expectStatus(await putBytes(back, plan.chunks[2]?.path ?? "", content.slice(2048)), 200);
    expectStatus(await completeUpload(back, plan.uploadId), 200);

    const second = await registerDevice(server(), account);
    const used = await getUsedBytes(account);
    const other = await planUpload(second.client, content);
    expect(await getUsedBytes(account)).toBe(used + 3000);
    expectStatus(await account.client.delete(`/api/mobile/devices/${second.deviceId}`), 401);
    const third = await registerDevice(server(), account);
    expectStatus(await third.client.delete(`/api/mobile/devices/${second.deviceId}`), 200);
    expectError(
      await putBytes(server().visitor, other.chunks[0]?.path ?? "", content.slice(0, 1024)),
      401,
      "invalid_token",
    );
    // Its uploads are cancelled, and their quota is free again.
    expect(await getUsedBytes(account)).toBe(used);
    expect((await getUploadState(third.client, other.uploadId)).at("data.status")).toBe("cancelled");
  });
});

describe("a whole file at one URL", () => {
  test("counts chunk by chunk", async () => {
    const { client } = await registerPhone();
    const content = randomContent(10 * kibibyte + 5);
    const plan = await planUpload(client, content);
    const response = await putBytes(server().visitor, plan.path, content, { "content-digest": contentDigest(content) });
    expectStatus(response, 200);
    expect(response.at("data.index")).toBeNull();
    expect(response.list("data.completedChunks")).toHaveLength(11);
    expect(response.number("data.bytesUploaded")).toBe(content.length);
    const done = await completeUpload(client, plan.uploadId, { checksum: checksumOf(content) });
    expect(await downloadContent(client, done)).toBe(digestOf(content));
  });

  test("keeps its complete chunks if it breaks off", async () => {
    const { client } = await registerPhone();
    const content = randomContent(10 * kibibyte);
    const plan = await planUpload(client, content);
    const connection = await RawConnection.open(server().port);
    await connection.write(
      `PUT ${plan.path} HTTP/1.1\r\nHost: larder.test\r\nContent-Length: ${content.length}\r\n\r\n`,
    );
    await connection.write(content.slice(0, 4 * kibibyte + 100));
    for (;;) {
      const state = await getUploadState(client, plan.uploadId);
      if (state.list("data.completedChunks").length === 4) break;
    }
    connection.cut();
    await sendChunks(client, plan, content, [4, 5, 6, 7, 8, 9]);
    expectStatus(await completeUpload(client, plan.uploadId, { checksum: checksumOf(content) }), 200);
  });

  test("of the wrong length or digest is rejected", async () => {
    const { client } = await registerPhone();
    const content = randomContent(3000);
    const plan = await planUpload(client, content);
    expectError(await putBytes(client, plan.path, content.slice(1)), 400, "chunk_size");
    const wrong = { "content-digest": contentDigest(content.slice(1)) };
    expectError(await putBytes(client, plan.path, content, wrong), 400, "checksum_mismatch");
    expect((await getUploadState(client, plan.uploadId)).at("data.completedChunks")).toEqual([]);
    expectStatus(await putBytes(client, plan.path, content), 200);
    expectStatus(await completeUpload(client, plan.uploadId, { checksum: checksumOf(content) }), 200);
  });
});

describe("progress", () => {
  test("returns the real progress, not what the client claims", async () => {
    const { client } = await registerPhone();
    const content = randomContent(2500);
    const plan = await planUpload(client, content);
    const response = await client.post("/api/mobile/upload/progress", {
      uploadId: plan.uploadId,
      completedChunks: [0, 1, 2],
      bytesUploaded: 2500,
      status: "uploading",
    });
    expectStatus(response, 200);
    expect(response.at("data")).toMatchObject({
      status: "uploading",
      completedChunks: [],
      bytesUploaded: 0,
      percentage: 0,
    });
  });

  test("lets the client pause, fail, resume and cancel, and nothing else", async () => {
    const { account, client } = await registerPhone();
    const content = randomContent(2500);
    const plan = await planUpload(client, content);
    const claim = (status: string) => client.post("/api/mobile/upload/progress", { uploadId: plan.uploadId, status });
    expect((await claim("paused")).at("data.status")).toBe("paused");
    await sendChunks(client, plan, content, [0]);
    expect((await getUploadState(client, plan.uploadId)).at("data.status")).toBe("uploading");
    expect((await claim("failed")).at("data.status")).toBe("failed");
    expect((await getUploadState(client, plan.uploadId)).at("data.completedChunks")).toEqual([0]);
    expect((await claim("uploading")).at("data.status")).toBe("uploading");
    for (const status of ["pending", "completed", "expired", "done", ""]) {
      expectError(await claim(status), 400, "invalid_field", "status");
    }
    expect((await claim("cancelled")).at("data.status")).toBe("cancelled");
    // A late report changes nothing; an impossible status is an error.
    for (const late of ["uploading", "cancelled"]) expect((await claim(late)).at("data.status")).toBe("cancelled");
    for (const impossible of ["paused", "failed"]) expectError(await claim(impossible), 409, "upload_state");
    expect(await getUsedBytes(account)).toBe(0);
  });

  test("is 404 for an unknown or another user's upload", async () => {
    const { client } = await registerPhone();
    const other = await registerPhone();
    const plan = await planUpload(client, "x");
    for (const uploadId of [plan.uploadId, "upl_unknown"]) {
      expectError(await other.client.post("/api/mobile/upload/progress", { uploadId }), 404, "not_found");
      expectError(await getUploadState(other.client, uploadId), 404, "not_found");
      expectError(await other.client.delete(`/api/mobile/upload/${uploadId}`), 404, "not_found");
      expectError(await completeUpload(other.client, uploadId), 404, "not_found");
    }
  });
});

describe("cancelling", () => {
  test("frees quota, addresses and bytes", async () => {
    const { account, client } = await registerPhone();
    const content = randomContent(5000);
    const plan = await planUpload(client, content);
    await sendChunks(client, plan, content, [0, 1]);
    expect(await getUsedBytes(account)).toBe(5000);
    const response = await client.delete(`/api/mobile/upload/${plan.uploadId}`);
    expect(response.at("data")).toMatchObject({ status: "cancelled", completedChunks: [], bytesUploaded: 0 });
    expect(await getUsedBytes(account)).toBe(0);
    const path = plan.chunks[2]?.path ?? "";
    expectError(await putBytes(server().visitor, path, content.slice(2048, 3072)), 401, "invalid_token");
    expectError(await putBytes(client, path, content.slice(2048, 3072)), 409, "upload_state");
    expectError(await completeUpload(client, plan.uploadId), 409, "upload_state");
    expectStatus(await client.delete(`/api/mobile/upload/${plan.uploadId}`), 200);
    const left = await readdir(join(server().dataDir, "uploads"));
    expect(left.filter((name) => name.startsWith(plan.uploadId))).toEqual([]);
  });

  test("is rejected for a completed upload", async () => {
    const { client } = await registerPhone();
    const plan = await planUpload(client, "");
    const done = await completeUpload(client, plan.uploadId);
    expectError(await client.delete(`/api/mobile/upload/${plan.uploadId}`), 409, "upload_state");
    const report = { uploadId: plan.uploadId, status: "uploading" };
    expect((await client.post("/api/mobile/upload/progress", report)).at("data.status")).toBe("completed");
    expectError(
      await client.post("/api/mobile/upload/progress", { ...report, status: "cancelled" }),
      409,
      "upload_state",
    );
    expectStatus(await client.get(`/api/files/${done.string("data.id")}`), 200);
  });
});

describe("complete", () => {
  test("returns the file's record with the photo's location and time", async () => {
    const { client } = await registerPhone();
    const content = randomContent(1500);
    const plan = await planUpload(client, content, {
      name: "IMG_7.HEIC",
      folder: "/camera/2026",
      mimeType: "image/heic",
    });
    await sendChunks(client, plan, content);
    const done = await completeUpload(client, plan.uploadId, {
      checksum: checksumOf(content),
      metadata: { location: "48.2082,16.3738", capturedAt: "2026-07-01T12:30:00+02:00" },
    });
    expectStatus(done, 200);
    expect(done.at("data")).toMatchObject({
      name: "IMG_7.HEIC",
      originalName: "IMG_7.HEIC",
      mimeType: "image/heic",
      size: 1500,
      folder: "/camera/2026",
      checksum: checksumOf(content),
      version: 1,
      metadata: { location: "48.2082,16.3738", capturedAt: "2026-07-01T12:30:00+02:00" },
      capturedAt: "2026-07-01T12:30:00+02:00",
    });
    expect((await getUploadState(client, plan.uploadId)).at("data")).toMatchObject({
      status: "completed",
      completedChunks: [0, 1],
      missingChunks: [],
      percentage: 100,
      fileId: done.string("data.id"),
    });
  });

  test("is rejected while chunks are missing, and lists them", async () => {
    const { client } = await registerPhone();
    const content = randomContent(3500);
    const plan = await planUpload(client, content);
    await sendChunks(client, plan, content, [0, 2]);
    const response = await completeUpload(client, plan.uploadId);
    expectError(response, 409, "upload_state");
    expect(response.at("error.details.missingChunks")).toEqual([1, 3]);
  });

  test("rejects bytes that differ from the checksum, given at init or now, and can then be resumed", async () => {
    const { account, client } = await registerPhone();
    const content = randomContent(2500);
    const plan = await planUpload(client, content, { checksum: checksumOf(content) });
    const wrong = content.slice();
    wrong[0] = ((wrong[0] ?? 0) + 1) % 256;
    await sendChunks(client, plan, wrong);
    expectError(await completeUpload(client, plan.uploadId), 400, "checksum_mismatch");
    expectError(await completeUpload(client, plan.uploadId, { checksum: checksumOf(wrong) }), 400, "checksum_mismatch");
    expect((await getUploadState(client, plan.uploadId)).at("data.missingChunks")).toEqual([]);
    expect(await getUsedBytes(account)).toBe(2500);
    await sendChunks(client, plan, content, [0]);
    expectError(await completeUpload(client, plan.uploadId, { checksum: checksumOf("x") }), 400, "checksum_mismatch");
    expectStatus(await completeUpload(client, plan.uploadId, { checksum: checksumOf(content) }), 200);
    expect(await getUsedBytes(account)).toBe(2500);
  });

  test("returns the same file when repeated, also concurrently", async () => {
    const { account, client } = await registerPhone();
    const content = randomContent(2500);
    const plan = await planUpload(client, content);
    await sendChunks(client, plan, content);
    const responses = await Promise.all(Array.from({ length: 5 }, () => completeUpload(client, plan.uploadId)));
    responses.push(await completeUpload(client, plan.uploadId));
    expect(new Set(sortedStatuses(responses))).toEqual(new Set([200]));
    expect(new Set(responses.map((response) => response.string("data.id"))).size).toBe(1);
    expect(await client.names()).toEqual(["photo.bin"]);
    expect(await getUsedBytes(account)).toBe(2500);
    expectError(await putBytes(client, plan.chunks[0]?.path ?? "", content.slice(0, 1024)), 409, "upload_state");
  });

  test("creates an empty file from no chunk", async () => {
    const { client } = await registerPhone();
    const plan = await planUpload(client, "", { name: "empty.txt" });
    expect(plan.chunks).toEqual([]);
    const done = await completeUpload(client, plan.uploadId, { checksum: checksumOf("") });
    expectStatus(done, 200);
    expect(done.at("data")).toMatchObject({ size: 0, checksum: checksumOf("") });
    expect((await client.get(`/api/files/${done.string("data.id")}/download`)).bytes).toHaveLength(0);
  });

  test("stores existing content once, and lists both files", async () => {
    const { account, client } = await registerPhone();
    const content = randomContent(2500);
    await account.client.stored(content, { name: "one.bin" });
    const plan = await planUpload(client, content, { name: "two.bin" });
    await sendChunks(client, plan, content);
    const done = await completeUpload(client, plan.uploadId);
    expect(await downloadContent(client, done)).toBe(digestOf(content));
    expect(await client.names()).toEqual(["one.bin", "two.bin"]);
  });

  test("returns the existing file with the same content to an automatic backup, in any folder", async () => {
    const { account, client } = await registerPhone();
    const content = randomContent(3000);
    const file = { name: "IMG_1.jpg", folder: "/Camera", checksum: checksumOf(content) };
    const first = await planUpload(client, content, { ...file, automatic: true });
    await sendChunks(client, first, content);
    const created = await completeUpload(client, first.uploadId);
    const id = created.string("data.id");
    // The response was lost, and then the user moved the file.
    for (const folder of ["/Camera", "/Albums/Summer"]) {
      expectStatus(await account.client.put(`/api/files/${id}`, { folder }), 200);
      const again = await planUpload(client, content, file, { chunkSize: 1024, automatic: true });
      const response = await completeUpload(client, again.uploadId);
      expectStatus(response, 200);
      expect(response.at("data")).toMatchObject({ id, folder, version: 1 });
      expect((await getUploadState(client, again.uploadId)).at("data")).toMatchObject({
        status: "completed",
        fileId: id,
      });
    }
    // Without a checksum, the match is found only when all bytes are there.
    const unknown = await planUpload(client, content, { ...file, checksum: undefined, automatic: true });
    await sendChunks(client, unknown, content);
    expect((await completeUpload(client, unknown.uploadId)).string("data.id")).toBe(id);
    expect([await client.names("/Camera"), await client.names("/Albums/Summer")]).toEqual([[], ["IMG_1.jpg"]]);
    expect(await getUsedBytes(account)).toBe(3000);
  });

  test("ends the waiting operations in the device's queue even if it creates no file", async () => {
    const { account, client } = await registerPhone();
    const content = randomContent(1000);
    await account.client.stored(content, { name: "IMG_2.jpg", fields: { folder: "/Albums" } });
    const operation = { id: "op-1", type: "upload", localPath: "/dcim/IMG_2.jpg", remotePath: "/Camera/IMG_2.jpg" };
    const createdAt = new Date().toISOString();
    const queued = await client.post("/api/mobile/queue/add", {
      operations: [{ ...operation, priority: "high", createdAt }],
    });
    expectStatus(queued, 200);
    const file = { name: "IMG_2.jpg", folder: "/Camera", checksum: checksumOf(content), automatic: true };
    const plan = await planUpload(client, content, file);
    expect((await completeUpload(client, plan.uploadId)).string("data.folder")).toBe("/Albums");
    const queue = await client.get("/api/mobile/queue");
    expect(queue.at("data.operations.0")).toMatchObject({ id: "op-1", status: "completed" });
  });

  test("creates no file for a manual upload only if name and bytes exist and it would be renamed", async () => {
    const { account, client } = await registerPhone();
    const content = randomContent(2500);
    const id = await account.client.storedId(content, { name: "one.bin", fields: { folder: "/A" } });
    const send = async (file: Record<string, unknown>) => {
      const plan = await planUpload(client, content, { name: "one.bin", folder: "/A", ...file });
      await sendChunks(client, plan, content);
      return completeUpload(client, plan.uploadId);
    };
    expect((await send({})).string("data.id")).toBe(id);
    expect((await send({ checksum: checksumOf(content) })).string("data.id")).toBe(id);
    expectError(await send({ onConflict: "error" }), 409, "name_taken");
    for (const other of [{ folder: "/B" }, { name: "two.bin" }]) {
      expect((await send(other)).string("data.id")).not.toBe(id);
    }
    expect([await client.names("/A"), await client.names("/B")]).toEqual([["one.bin", "two.bin"], ["one.bin"]]);
  });

  test("respects onConflict", async () => {
    const { client } = await registerPhone();
    const make = async (onConflict?: string) => {
      const content = randomContent(100);
      const plan = await planUpload(client, content, {
        name: "a.txt",
        ...(onConflict !== undefined && { onConflict }),
      });
      await sendChunks(client, plan, content);
      return completeUpload(client, plan.uploadId);
    };
    const first = await make();
    expect((await make()).string("data.name")).toBe("a (1).txt");
    const version = await make("version");
    expect([version.string("data.id"), version.number("data.version")]).toEqual([first.string("data.id"), 2]);
    expectError(await make("error"), 409, "name_taken");
  });

  test("creates the next version of a file, unless the file has changed since", async () => {
    const { account, client } = await registerPhone();
    const id = await account.client.storedId("first", { name: "doc.txt" });
    const make = async (base: string) => {
      const content = randomContent(1500);
      const plan = await planUpload(client, content, {
        name: "ignored.txt",
        fileId: id,
        baseChecksum: checksumOf(base),
      });
      await sendChunks(client, plan, content);
      return { content, plan, response: await completeUpload(client, plan.uploadId) };
    };
    const { response, content } = await make("first");
    expectStatus(response, 200);
    expect(response.at("data")).toMatchObject({ id, name: "doc.txt", version: 2, checksum: checksumOf(content) });
    // The response was lost, and the request is repeated.
    const repeated = await planUpload(client, content, { fileId: id, baseChecksum: checksumOf("first") });
    await sendChunks(client, repeated, content);
    expect((await completeUpload(client, repeated.uploadId)).at("data")).toMatchObject({ id, version: 2 });
    const { response: rejected, plan } = await make("first");
    expectError(rejected, 409, "version_conflict");
    expect(rejected.at("error.details.checksum")).toBe(checksumOf(content));
    expect((await getUploadState(client, plan.uploadId)).at("data.status")).toBe("uploading");
    expect(await downloadContent(client, response)).toBe(digestOf(content));
  });

  test("rejects an invalid location, time or digest", async () => {
    const { client } = await registerPhone();
    const plan = await planUpload(client, "");
    const expectInvalid = async (fields: Record<string, unknown>, field: string) =>
      expectError(await completeUpload(client, plan.uploadId, fields), 400, "invalid_field", field);
    for (const location of ["here", "91,0", "0,181", "1", "1,2,3"])
      await expectInvalid({ metadata: { location } }, "metadata.location");
    for (const capturedAt of ["yesterday", "2026-01-02", "2026-13-01T00:00:00Z"]) {
      await expectInvalid({ metadata: { capturedAt } }, "metadata.capturedAt");
    }
    await expectInvalid({ checksum: "sha256:x" }, "checksum");
    await expectInvalid({ metadata: { location: 5 } }, "metadata.location");
  });
});

test("quota is reserved at init, freed on cancel, settled at the end, and never exceeded by concurrent requests", async () => {
  await withServer({ env: { LARDER_PLANS_ENTERPRISE_QUOTA: "100000" } }, async (own) => {
    const { account, client } = await registerPhone(own);
    const content = randomContent(30_000);
    const responses = await Promise.all(Array.from({ length: 8 }, () => tryInit(client, { size: 30_000 })));
    expect(sortedStatuses(responses)).toEqual([200, 200, 200, 413, 413, 413, 413, 413]);
    expect(await getUsedBytes(account)).toBe(90_000);
    const rejected = responses.find((response) => response.status === 413);
    expect(rejected?.at("error.details")).toMatchObject({
      reason: "quota_exceeded",
      limit: 100_000,
      plan: "enterprise",
    });
    const [first, second] = responses
      .filter((response) => response.status === 200)
      .map((response) => readPlan(response));
    if (first === undefined || second === undefined) throw new Error("three plans");
    // Reserved bytes also count for an ordinary upload.
    expectError(await account.client.upload(randomContent(20_000)), 413, "quota_exceeded");
    await client.delete(`/api/mobile/upload/${first.uploadId}`);
    expect(await getUsedBytes(account)).toBe(60_000);
    await sendChunks(client, second, content);
    expectStatus(await completeUpload(client, second.uploadId), 200);
    expect(await getUsedBytes(account)).toBe(60_000);
    // Within one request, files that fit are planned, and the others have errors.
    const mixed = await client.post("/api/mobile/upload/init", {
      files: [20_000, 15_000, 15_000, 5_000].map((size, index) => ({ localId: `${index}`, name: `m${index}`, size })),
    });
    const reasons = [0, 1, 2, 3].map((index) => mixed.at(`data.files.${index}.error.details.reason`));
    expect(reasons).toEqual([undefined, undefined, "quota_exceeded", undefined]);
    expect(await getUsedBytes(account)).toBe(100_000);
  });
});

test("a file beyond the plan's size is rejected before anything is reserved", async () => {
  await withServer({ env: { LARDER_DEFAULT_PLAN: "free", LARDER_PLANS_FREE_MAX_FILE_SIZE: "50000" } }, async (own) => {
    const { account, client } = await registerPhone(own);
    const response = await tryInit(client, { size: 50_001 });
    expectError(response, 413, "file_too_large");
    expect(response.at("error.details")).toMatchObject({ limit: 50_000, plan: "free" });
    expect(await getUsedBytes(account)).toBe(0);
  });
});

test("init counts once per file it plans, as uploads; chunks and the rest count as general", async () => {
  const env = { LARDER_RATE_LIMITS: "on", LARDER_DEFAULT_PLAN: "free", LARDER_PLANS_FREE_LIMIT_UPLOADS: "5" };
  await withServer({ env }, async (own) => {
    const { client } = await registerPhone(own);
    const init = (count: number, name = "x") =>
      client.post("/api/mobile/upload/init", {
        files: Array.from({ length: count }, (_, index) => ({ localId: `${index}`, name, size: 10 })),
      });
    const first = await init(3);
    expectStatus(first, 200);
    expect(first.header("x-ratelimit-resource")).toBe("uploads");
    expect(first.header("x-ratelimit-remaining")).toBe("2");
    // A request that plans nothing does not count.
    const none = await init(2, "a/b");
    expectError(none, 400, "invalid_path");
    expect(none.header("x-ratelimit-resource")).toBe("general");
    const malformed = await client.post("/api/mobile/upload/init", { files: 5 });
    expect(malformed.header("x-ratelimit-resource")).toBe("general");
    const second = await init(4);
    expectStatus(second, 200);
    const reasons = [0, 1, 2, 3].map((index) => second.at(`data.files.${index}.error.details.reason`));
    expect(reasons).toEqual([undefined, undefined, "rate_limited", "rate_limited"]);
    const third = await init(1);
    expectError(third, 429, "rate_limited");
    expect(third.header("x-ratelimit-resource")).toBe("uploads");
    const chunk = await putBytes(client, readPlan(first).chunks[0]?.path ?? "", randomContent(10));
    expect(chunk.header("x-ratelimit-resource")).toBe("general");
    const before = Number(chunk.header("x-ratelimit-remaining"));
    // With only the signature, it counts for its owner.
    const signed = await putBytes(own.visitor, readPlan(first, 1).chunks[0]?.path ?? "", randomContent(10));
    expect(Number(signed.header("x-ratelimit-remaining"))).toBe(before - 1);
  });
});

test("content that a backup offers again needs no quota, even on a full account", async () => {
  // An existing picture was once rejected with quota_exceeded, because its size was reserved again.
  const account = await server().addUser(["--quota", "150000"]);
  const { client } = await registerDevice(server(), account);
  const bytes = randomContent(100_000);
  const entry = {
    localId: "1",
    name: "a.jpg",
    folder: "/Camera",
    size: bytes.length,
    mimeType: "image/jpeg",
    checksum: checksumOf(bytes),
    automatic: true,
  };
  const stored = await account.client.storedId(bytes, { name: "a.jpg", fields: { folder: "/Camera" } });
  const init = await client.post("/api/mobile/upload/init", { files: [entry] });
  expectStatus(init, 200);
  expect(init.at("data.files.0.alreadyStored")).toBe(true);
  const done = await client.post("/api/mobile/upload/complete", { uploadId: init.string("data.files.0.uploadId") });
  expectStatus(done, 200);
  expect(done.string("data.id")).toBe(stored);
  expect(await account.client.names("/Camera")).toEqual(["a.jpg"]);
});

testAllResponses(server);
