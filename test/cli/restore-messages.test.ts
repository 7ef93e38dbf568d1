// Messages that wait in a restored database: those of an older one were probably sent since.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { cp, utimes } from "node:fs/promises";
import { join } from "node:path";
import { type Account, Client } from "../support/client.ts";
import { temporaryFolders } from "../support/data-directory.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { makeGroup, shareWithGroup } from "../support/groups.ts";
import { runInProcess } from "../support/in-process.ts";
import { runJob } from "../support/jobs.ts";
import { MailServer } from "../support/mail-server.ts";
import { type TestServer, withServer } from "../support/server.ts";

const folder = temporaryFolders();
const MINUTE_MS = 60_000;

/** How many messages say that something was shared with this account. */
async function countReceived({ client }: Account): Promise<number> {
  const titles = (await client.get("/api/users/notifications")).strings("data.notifications", "title");
  return titles.filter((title) => title.includes("shared with you")).length;
}

/** Stops the server, and restores its database with a change. @param ageMs how old it is */
async function restoreWith(server: TestServer, sql: string, ageMs: number): Promise<void> {
  await server.stop();
  const path = join(await folder(), "larder.db");
  await cp(join(server.dataDir, "larder.db"), path);
  const database = new Database(path);
  database.run(sql);
  database.close();
  const takenAt = new Date(Date.now() - ageMs);
  await utimes(path, takenAt, takenAt);
  const restored = await runInProcess(["restore", "--database", path, "--data", server.dataDir]);
  expect({ code: restored.code, stderr: restored.stderr }).toEqual({ code: 0, stderr: "" });
}

test.each([
  ["after a snapshot of this hour", 0, [2, 2]],
  // A restored snapshot notified members of groups who had been notified before it was restored.
  ["but not after an older one", 61 * MINUTE_MS, [1, 1]],
])("members of a group who wait for a notice of a share are notified %s", async (_when, ageMs, expected) => {
  await withServer({ hasAccounts: true }, async (server) => {
    const admin = await server.addUser(["--admin"]);
    const members = [await server.signUp(), await server.signUp()];
    const group = await makeGroup(admin, "Family", members);
    await shareWithGroup(admin.client, await admin.client.storedId("x"), group);
    await eventually("both are notified", async () => {
      const counts = await Promise.all(members.map(countReceived));
      return counts.every((count) => count === 1);
    });
    // As a snapshot has it that was taken before the job ran.
    await restoreWith(server, "INSERT OR REPLACE INTO group_notices SELECT id, 0 FROM shares", ageMs);
    await server.start();
    await runJob(admin.client, "group-notices");
    expect(await Promise.all(members.map(countReceived))).toEqual(expected);
  });
});

test.each([
  ["of this hour", 0, true],
  ["that is older", 61 * MINUTE_MS, false],
])("a request for a new password in a snapshot %s", async (_age, ageMs, isSent) => {
  const mails = new MailServer();
  await mails.start();
  const env = {
    LARDER_MAIL_HOST: "127.0.0.1",
    LARDER_MAIL_PORT: String(mails.port),
    LARDER_MAIL_SECURE: "none",
    LARDER_MAIL_FROM: "Larder <larder@example.test>",
    LARDER_PUBLIC_URL: "http://files.example.test",
  };
  try {
    await withServer({ env, hasAccounts: true }, async (server) => {
      const [first, next] = [await server.signUp(), await server.signUp()];
      await restoreWith(server, `INSERT INTO reset_requests VALUES ('${first.email}', 1)`, ageMs);
      await server.start();
      expectStatus(await new Client(server).post("/api/auth/password/forgot", { email: next.email }), 200);
      // Requests are handled in order.
      await mails.waitForMail(next.email);
      await mails.waitForMails(isSent ? 2 : 1);
      expect(mails.attempts.includes(first.email)).toBe(isSent);
    });
  } finally {
    await mails.stop();
  }
});
