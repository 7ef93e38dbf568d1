import { expect, test } from "bun:test";
import { checksumOf, Client, randomContent } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { clockFails, createMovableClock } from "../support/faults/preload.ts";
import { runJob } from "../support/jobs.ts";
import { registerDevice } from "../support/mobile.ts";
import { boundary, formType } from "../support/multipart.ts";
import { startServer } from "../support/server.ts";
import { completeUpload, planUpload, sendChunks } from "../support/uploads.ts";

if (clockFails !== undefined) console.warn(`skipped: tests with a clock that jumps: ${clockFails}`);

const HOUR = 3_600;
const YEAR = 365 * 24 * HOUR;

test.skipIf(clockFails !== undefined)(
  "a clock that jumps back and forth loses nothing, locks nobody out and ends no upload in progress",
  async () => {
    const clock = await createMovableClock();
    const server = await startServer({ env: { ...clock.env, LARDER_RATE_LIMITS: "on" } });
    try {
      const account = await server.signUp();
      const { email, password } = account;
      const signIn = async () => {
        const response = await server.visitor.post("/api/auth/signin", { email, password });
        expectStatus(response, 200);
        return new Client(server, response.string("token"));
      };
      const phone = await registerDevice(server, account);
      let syncToken = (await phone.client.get("/api/mobile/sync/status")).string("data.nextSyncToken");
      const stored = new Map<string, string>();
      const trashed = await account.client.storedId("in the trash", { name: "trashed" });
      expectStatus(await account.client.post("/api/files/trash", { fileIds: [trashed] }), 200);
      const replaced = await account.client.storedId("0", { name: "replaced" });
      const content = randomContent(8_192);
      const plan = await planUpload(phone.client, content);
      let chunksSent = 0;

      const steps = [0, HOUR, -HOUR, YEAR, -YEAR, 3 * YEAR, -2 * HOUR, 0];
      for (const [index, seconds] of steps.entries()) {
        await clock.set(seconds);
        const client = await signIn();
        // The tokens of the account may have expired by this clock.
        const { client: device } = await registerDevice(server, account, phone.deviceId);
        const name = `step-${index}`;
        const response = await client.stored(name, { name });
        stored.set(response.string("data.id"), checksumOf(name));
        // The server uses the changed clock.
        const aheadSeconds = (Date.parse(response.string("data.uploadedAt")) - Date.now()) / 1000;
        expect(Math.abs(aheadSeconds - seconds)).toBeLessThan(HOUR / 2);
        expectStatus(await client.putContent(replaced, name), 200);
        // A device gets a change by its number in the journal, regardless of the clock.
        const changes = await device.get(`/api/mobile/sync/status?syncToken=${encodeURIComponent(syncToken)}`);
        expectStatus(changes, 200);
        expect(changes.text).toContain(`"${name}"`);
        syncToken = changes.string("data.nextSyncToken");
        // Within its day, an unfinished upload continues regardless of the clock.
        if (Math.abs(seconds) <= 2 * HOUR) {
          await sendChunks(device, plan, content, [chunksSent]);
          chunksSent += 1;
        }
        expect(await client.names()).toContain(name);
        if (seconds === 3 * YEAR) await runJob((await server.addUser(["--admin"])).client, "login-flows");
      }

      const { client: device } = await registerDevice(server, account, phone.deviceId);
      await sendChunks(
        device,
        plan,
        content,
        plan.chunks.map(({ index }) => index).filter((index) => index >= chunksSent),
      );
      expectStatus(await completeUpload(device, plan.uploadId), 200);
      const client = await signIn();
      for (const [id, checksum] of stored)
        expect(checksumOf((await client.get(`/api/files/${id}/download`)).bytes)).toBe(checksum);
      // A job ran three years ahead. Another one notices that the clock is right again.
      const admin = await server.addUser(["--admin"]);
      await runJob(admin.client, "locks");
      // A year later, today's trash would have expired. The server does not trust a clock that jumped, and keeps it.
      await clock.set(YEAR);
      expect(await server.stop()).toBe(0);
      const { length } = server.log;
      await server.start();
      await eventually("the leap is logged", () => server.log.slice(length).includes("The clock is far ahead"));
      await clock.set(0);
      const later = await signIn();
      const restored = await later.post("/api/files/trash/restore", { fileIds: [trashed] });
      expectStatus(restored, 200);
      expect((await later.get(`/api/files/${trashed}/download`)).text).toBe("in the trash");
      const versions = await later.get(`/api/files/${replaced}/versions`);
      expect(versions.list("data.versions")).toHaveLength(steps.length + 1);
    } finally {
      await server.kill9();
    }
  },
  120_000,
);

test.skipIf(clockFails !== undefined)(
  "an upload to a link finishes although the password grant of an hour expires during it",
  async () => {
    const clock = await createMovableClock();
    const server = await startServer({ env: clock.env });
    try {
      const { client } = await server.signUp();
      const settings = { permissions: "upload", password: "for an hour" };
      const box = await client.post(`/api/files/folders/${await client.folderId("Box")}/shares`, settings);
      const link = `/api/public/${box.string("data.token")}`;
      const unlocked = await server.visitor.post(`${link}/unlock`, { password: "for an hour" });
      const headers = { "content-type": formType, "x-share-grant": unlocked.string("data.grant") };
      const send = () => {
        const { readable, writable } = new TransformStream<string, string>();
        const body = readable.pipeThrough(new TextEncoderStream());
        return {
          writer: writable.getWriter(),
          sending: fetch(`${server.url}${link}/upload`, { method: "POST", headers, body }),
        };
      };
      const { writer, sending } = send();
      await writer.write(
        `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="slow.txt"\r\n\r\n01234`,
      );
      // After the second of these responses, the server has begun the request.
      for (let n = 0; n < 2; n++) expectStatus(await server.visitor.get("/health/live"), 200);
      await clock.set(2 * HOUR);
      await writer.write(`56789\r\n--${boundary}--\r\n`);
      await writer.close();
      expect((await sending).status).toBe(201);
      expect(await client.names("/Box")).toEqual(["slow.txt"]);
      const late = send();
      expect((await late.sending).status).toBe(401);
      await late.writer.abort().catch(() => undefined);
    } finally {
      await server.kill9();
    }
  },
  120_000,
);
