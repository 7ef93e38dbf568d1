import { expect, test } from "bun:test";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Client, toBytes, checksumOf, digestOf, randomContent } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { registerDevice } from "../support/mobile.ts";
import { RawConnection } from "../support/raw-http.ts";
import { type TestServer, withServer } from "../support/server.ts";
import {
  completeUpload,
  type PlannedUpload,
  sliceChunk,
  planUpload,
  putBytes,
  sendChunks,
  getUploadState,
} from "../support/uploads.ts";

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
const rounds = 4;

/** Files in uploads/. */
async function stagedFiles(server: TestServer): Promise<string[]> {
  return readdir(join(server.dataDir, "uploads"));
}

/** Paths instead of addresses, because a restart changes the port. */
async function newPhone(server: TestServer): Promise<Client> {
  const account = await server.signUp();
  const device = await registerDevice(server, account);
  return device.client;
}

test("kill -9 during chunks loses none that was acknowledged", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const client = await newPhone(server);
    const chunkSize = 64 * kibibyte;
    const content = randomContent(400 * chunkSize + 99);
    const plan = await planUpload(client, content, { checksum: checksumOf(content) }, { chunkSize });
    const acknowledged = new Set<number>();
    let next = 0;
    for (let round = 0; round < rounds; round++) {
      // Two chunks never end: one is new, and one would replace a stored chunk.
      const hanging = await Promise.all(
        [plan.chunks.length - 1 - round, [...acknowledged].at(0) ?? plan.chunks.length - 20].map(async (index) => {
          const connection = await RawConnection.open(server.port);
          await connection.write(
            `PUT ${plan.chunks[index]?.path} HTTP/1.1\r\nHost: larder.test\r\nContent-Length: ${chunkSize}\r\n\r\n`,
          );
          await connection.write(randomContent(30_000));
          return connection;
        }),
      );
      const crashAt = acknowledged.size + 5 + round * 4;
      const crash = Promise.withResolvers<void>();
      const worker = async () => {
        for (let index = next++; index < plan.chunks.length; index = next++) {
          const chunk = plan.chunks[index];
          if (chunk === undefined) return;
          const response = await putBytes(client, chunk.path, sliceChunk(content, chunk)).catch(() => undefined);
          if (response === undefined) return;
          expectStatus(response, 200);
          acknowledged.add(index);
          if (acknowledged.size >= crashAt) crash.resolve();
        }
        crash.resolve();
      };
      const workers = [worker(), worker(), worker(), worker()];
      await crash.promise;
      await server.kill9();
      await Promise.all(workers);
      for (const connection of hanging) connection.cut();
      await server.start();
      const there = new Set((await getUploadState(client, plan.uploadId)).list("data.completedChunks"));
      expect([...acknowledged].filter((index) => !there.has(index))).toEqual([]);
    }
    const state = await getUploadState(client, plan.uploadId);
    const missing = state.list("data.missingChunks").map(Number);
    expect(missing.length).toBeGreaterThan(0);
    await sendChunks(client, plan, content, missing);
    const done = await completeUpload(client, plan.uploadId);
    expectStatus(done, 200);
    const got = await client.get(`/api/files/${done.string("data.id")}/download`);
    expect(digestOf(got.bytes)).toBe(digestOf(content));
    expect(await stagedFiles(server)).toEqual([]);
  });
}, 120_000);

test("a crash around complete leaves one file, or an upload that can be completed", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const client = await newPhone(server);
    const plans: { plan: PlannedUpload; content: Uint8Array }[] = [];
    for (let index = 0; index < 6; index++) {
      const content = randomContent(3 * kibibyte + index);
      const plan = await planUpload(client, content, { name: `${index}.bin` });
      await sendChunks(client, plan, content);
      plans.push({ plan, content });
    }
    for (const [index, { plan }] of plans.entries()) {
      const response = completeUpload(client, plan.uploadId).catch(() => undefined);
      // Between the first step of the request and its response.
      await Bun.sleep(index);
      await server.kill9();
      const before = await response;
      await server.start();
      const after = await completeUpload(client, plan.uploadId);
      expectStatus(after, 200);
      if (before?.status === 200) expect(after.string("data.id")).toBe(before.string("data.id"));
    }
    expect((await client.names()).length).toBe(plans.length);
    for (const { plan, content } of plans) {
      const again = await completeUpload(client, plan.uploadId);
      const got = await client.get(`/api/files/${again.string("data.id")}/download`);
      expect(digestOf(got.bytes)).toBe(digestOf(content));
    }
    expect(await stagedFiles(server)).toEqual([]);
    const usage = await client.get("/api/users/usage");
    expect(usage.number("data.storage.used")).toBe(plans.reduce((sum, { content }) => sum + content.length, 0));
  });
}, 120_000);

test("a replaced chunk is the old one or the new one after a crash, never a mix", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const client = await newPhone(server);
    const chunkSize = mebibyte;
    const content = randomContent(3 * chunkSize);
    const plan = await planUpload(client, content, {}, { chunkSize });
    await sendChunks(client, plan, content);
    const path = plan.chunks[1]?.path ?? "";
    const candidates = [content.slice(chunkSize, 2 * chunkSize)];
    let isAcknowledged = true;
    for (let round = 0; round < 5; round++) {
      const next = randomContent(chunkSize);
      if (isAcknowledged) candidates.splice(0, candidates.length - 1);
      candidates.push(next);
      const response = putBytes(client, path, next).catch(() => undefined);
      await Bun.sleep(round * 2);
      await server.kill9();
      isAcknowledged = (await response)?.status === 200;
      await server.start();
    }
    if (isAcknowledged) candidates.splice(0, candidates.length - 1);
    const done = await completeUpload(client, plan.uploadId);
    expectStatus(done, 200);
    const wholes = candidates.map((middle) => {
      const whole = content.slice();
      whole.set(middle, chunkSize);
      return checksumOf(whole);
    });
    expect(wholes).toContain(done.string("data.checksum"));
    expect(await stagedFiles(server)).toEqual([]);
  });
}, 120_000);

test("at the start, unused files are removed, and missing chunks must be sent again", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const client = await newPhone(server);
    const content = toBytes("0123456789".repeat(300));
    const plan = await planUpload(client, content);
    const other = await planUpload(client, content);
    await sendChunks(client, plan, content, [0, 1]);
    await sendChunks(client, other, content, [0, 1, 2]);
    await server.stop();
    const uploads = join(server.dataDir, "uploads");
    await writeFile(join(uploads, "upl_nobody"), "x");
    await writeFile(join(uploads, "1-1.part"), "x");
    await writeFile(join(uploads, "upl_nobody.3.next"), "x");
    // As after the restore of a database without these bytes, or with half of them.
    await rm(join(uploads, plan.uploadId));
    const bytes = await readFile(join(uploads, other.uploadId));
    await writeFile(join(uploads, other.uploadId), bytes.subarray(0, 2000));
    await server.start();
    expect(await stagedFiles(server)).toEqual([other.uploadId]);
    expect((await getUploadState(client, plan.uploadId)).at("data.missingChunks")).toEqual([0, 1, 2]);
    expect((await getUploadState(client, other.uploadId)).at("data.missingChunks")).toEqual([1, 2]);
    expectError(await completeUpload(client, plan.uploadId), 409, "upload_state");
    await sendChunks(client, plan, content);
    expectStatus(await completeUpload(client, plan.uploadId, { checksum: checksumOf(content) }), 200);
  });
});

test.skipIf(process.platform !== "linux")(
  "memory stays within 96 MiB over idle with large chunks on four connections",
  async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      const client = await newPhone(server);
      const memory = async (name: "VmRSS" | "VmHWM") => {
        const status = await readFile(`/proc/${server.pid}/status`, "utf8");
        return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
      };
      const chunkSize = 8 * mebibyte;
      const chunk = randomContent(chunkSize);
      const run = async (chunks: number) => {
        const response = await client.post("/api/mobile/upload/init", {
          files: [{ localId: "1", name: "film.bin", size: chunks * chunkSize }],
          uploadOptions: { chunkSize },
        });
        const paths = response.list("data.files.0.chunks").map((_, index) => {
          const { pathname, search } = new URL(response.string(`data.files.0.chunks.${index}.uploadUrl`));
          return pathname + search;
        });
        const worker = async () => {
          const connection = await RawConnection.open(server.port);
          for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
            await connection.write(`PUT ${path} HTTP/1.1\r\nHost: larder.test\r\nContent-Length: ${chunkSize}\r\n\r\n`);
            for (let at = 0; at < chunkSize; at += 256 * kibibyte)
              await connection.write(chunk.subarray(at, at + 256 * kibibyte));
            expectStatus(await connection.response(), 200);
          }
          connection.cut();
        };
        await Promise.all([worker(), worker(), worker(), worker()]);
        expectStatus(await completeUpload(client, response.string("data.files.0.uploadId")), 200);
      };
      await run(4);
      const idle = await memory("VmRSS");
      await writeFile(`/proc/${server.pid}/clear_refs`, "5");
      await run(48);
      expect((await memory("VmHWM")) - idle).toBeLessThan(96 * mebibyte);
    });
  },
  120_000,
);
