import { expect, test } from "bun:test";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { checksumOf, digestOf, randomContent } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { clockFails, createMovableClock } from "../support/faults/preload.ts";
import { RawConnection } from "../support/raw-http.ts";
import { withServer } from "../support/server.ts";
import { appendTus, tryCreateTus, headTus, createTus, readOffset, tusVersion } from "../support/tus.ts";

const mebibyte = 1024 * 1024;
const rounds = 4;

test("kill -9 during an upload loses no acknowledged byte, and the file is correct", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { client, token } = await server.signUp();
    const content = randomContent(60 * mebibyte + 33);
    const path = await createTus(client, content.length, { filename: "film.bin", checksum: checksumOf(content) });
    const staged = join(server.dataDir, "uploads", path.slice(path.lastIndexOf("/") + 1));
    let durable = 0;
    for (let round = 0; round < rounds; round++) {
      const at = await readOffset(client, path);
      expect(at).toBeGreaterThanOrEqual(durable);
      // One request is acknowledged; the crash cuts another one.
      const acknowledged = await appendTus(client, path, at, content.subarray(at, at + mebibyte));
      expectStatus(acknowledged, 204);
      durable = Number(acknowledged.header("upload-offset"));
      expect(durable).toBe(at + mebibyte);
      const connection = await RawConnection.open(server.port);
      await connection.write(
        `PATCH ${path} HTTP/1.1\r\nHost: larder.test\r\nAuthorization: Bearer ${token}\r\nTus-Resumable: 1.0.0\r\n` +
          `Content-Type: application/offset+octet-stream\r\nUpload-Offset: ${durable}\r\n` +
          `Content-Length: ${content.length - durable}\r\n\r\n`,
      );
      await connection.write(content.subarray(durable, durable + 7 * mebibyte));
      // In half of the rounds, HEAD returns the offset, which is durable then.
      if (round % 2 === 0) durable = await readOffset(client, path);
      await server.kill9();
      connection.cut();
      await server.start();
      const after = await readOffset(client, path);
      expect(after).toBeGreaterThanOrEqual(durable);
      expect((await stat(staged)).size).toBeGreaterThanOrEqual(after);
    }
    const rest = await readOffset(client, path);
    const done = await appendTus(client, path, rest, content.subarray(rest));
    expectStatus(done, 204);
    const got = await client.get(`/api/files/${done.header("larder-file-id")}/download`);
    expect(digestOf(got.bytes)).toBe(digestOf(content));
    expect(await readdir(join(server.dataDir, "uploads"))).toEqual([]);
    expect((await client.get("/api/users/usage")).number("data.storage.used")).toBe(content.length);
  });
});

test("a crash around the last bytes leaves one file, with any next request of the client", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { client } = await server.signUp();
    const sent = [];
    for (let index = 0; index < 4; index++) {
      const content = randomContent(50_000 + index);
      const path = await createTus(client, content.length, { filename: `${index}.bin` });
      const response = appendTus(client, path, 0, content).catch(() => undefined);
      // Between the first step of the request and its response.
      await Bun.sleep(index * 3);
      await server.kill9();
      await response;
      await server.start();
      // Clients request the offset, and send the rest if there is any.
      const at = await readOffset(client, path);
      if (at < content.length) expectStatus(await appendTus(client, path, at, content.subarray(at)), 204);
      const head = await headTus(client, path);
      const got = await client.get(`/api/files/${head.header("larder-file-id")}/download`);
      expect(digestOf(got.bytes)).toBe(digestOf(content));
      sent.push(content.length);
    }
    expect((await client.names()).toSorted()).toEqual(sent.map((_, index) => `${index}.bin`));
    expect(await readdir(join(server.dataDir, "uploads"))).toEqual([]);
  });
});

test("a concatenation that a crash interrupted can be repeated, and leaves no files", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { client } = await server.signUp();
    const parts = Array.from({ length: 3 }, () => randomContent(12 * mebibyte));
    const paths: string[] = [];
    for (const bytes of parts) {
      const headers = { "upload-concat": "partial", "upload-length": String(bytes.length) };
      const response = await tryCreateTus(client, headers, {}, { bytes });
      expectStatus(response, 201);
      paths.push(response.header("location"));
    }
    const joinParts = () =>
      tryCreateTus(client, { "upload-concat": `final;${paths.join(" ")}` }, { filename: "whole.bin" });
    const whole = Buffer.concat(parts);
    const broken = joinParts().catch(() => undefined);
    await Bun.sleep(20);
    await server.kill9();
    const first = await broken;
    await server.start();
    const names = await client.names();
    if (first === undefined && names.length === 0) expectStatus(await joinParts(), 201);
    const [id] = (await client.get("/api/files")).strings("data.files", "id");
    const got = await client.get(`/api/files/${id}/download`);
    expect(digestOf(got.bytes)).toBe(digestOf(whole));
    expect(await readdir(join(server.dataDir, "uploads"))).toEqual([]);
    expect((await client.get("/api/users/usage")).number("data.storage.used")).toBe(whole.length);
    expect((await client.get("/api/tus")).at("data.uploads")).toEqual([]);
  });
});

test.skipIf(clockFails !== undefined)(
  "a full drop box evicts the upload that has been without bytes longest, and none that received some",
  async () => {
    const clock = await createMovableClock();
    await withServer(
      { hasAccounts: true, env: { ...clock.env, LARDER_TRUSTED_PROXIES: "127.0.0.1,::1" } },
      async (server) => {
        const { client } = await server.signUp();
        const folder = await client.folderId("box");
        const made = await client.post(`/api/files/folders/${folder}/shares`, { permissions: "upload" });
        const home = `/api/public/${made.string("data.token")}/tus`;
        const guest = server.visitor;
        const begin = (address: string) =>
          tryCreateTus(guest, { "upload-length": "9", "x-forwarded-for": address }, {}, { home, bytes: "a" });
        const begun: string[] = [];
        for (let at = 0; at < 200; at++)
          begun.push((await begin(`203.0.113.${Math.floor(at / 20)}`)).header("location"));
        const [alive = "", idle = "", next = ""] = begun;
        await clock.set(4 * 60);
        expectError(await begin("198.51.100.1"), 503, "overloaded");
        expectStatus(await appendTus(guest, alive, 1, "b"), 204);
        // Six minutes after the others, two after this one. Without a new upload, all stay.
        await clock.set(6 * 60);
        for (const path of begun) expectStatus(await headTus(guest, path), 200);
        expectStatus(await begin("198.51.100.1"), 201);
        expectStatus(await headTus(guest, idle), 404);
        for (const path of [alive, next]) expectStatus(await headTus(guest, path), 200);
        // An upload that never received bytes is evicted first, after some time to send them.
        const announced = await createTus(guest, 9, {}, { home, headers: { "x-forwarded-for": "198.51.100.1" } });
        expectStatus(await headTus(guest, next), 404);
        expectStatus(await begin("198.51.100.1"), 201);
        expectStatus(await headTus(guest, announced), 200);
        await clock.set(8 * 60);
        expectStatus(await begin("198.51.100.1"), 201);
        expectStatus(await headTus(guest, announced), 404);
      },
    );
  },
);

test("lost bytes must be sent again", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { client } = await server.signUp();
    const path = await createTus(client, 100);
    expectStatus(await appendTus(client, path, 0, randomContent(60)), 204);
    await server.stop();
    await Bun.file(join(server.dataDir, "uploads", path.slice(path.lastIndexOf("/") + 1))).delete();
    await server.start();
    expect(await readOffset(client, path)).toBe(0);
    const content = randomContent(100);
    const done = await appendTus(client, path, 0, content);
    expectStatus(done, 204);
    expectStatus(await client.request("DELETE", path, { headers: tusVersion }), 204);
    const got = await client.get(`/api/files/${done.header("larder-file-id")}/download`);
    expect(digestOf(got.bytes)).toBe(digestOf(content));
  });
});
