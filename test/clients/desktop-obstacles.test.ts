// The Nextcloud and ownCloud desktop clients in their command-line form, where something stops them: a full quota, the rate
// limit, a lock, an ended app password, and files that change during the upload. The client ends its run, and a later one
// continues where it stopped.
import { afterAll, expect, test } from "bun:test";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { digestOf, randomContent } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { type TestServer, withServer } from "../support/server.ts";
import {
  type ClientAccount,
  clientServer,
  dav,
  type LoggedRequest,
  newClientAccount,
  readServerTree,
  requestsDuring,
  withAppPassword,
} from "./support/account.ts";
import { describeWith, isLong } from "./support/programs.ts";
import { SMALL_CHUNKS, SYNC_PROGRAMS, SyncedFolder } from "./support/synced-folder.ts";

const LOG = { LARDER_LOG_REQUESTS: "all", LARDER_LOG: "json" };
const KB = 1000;
const LOCK_BODY = `<d:lockinfo xmlns:d="DAV:"><d:lockscope><d:exclusive/></d:lockscope><d:locktype><d:write/></d:locktype></d:lockinfo>`;
const server = clientServer();
const folders: SyncedFolder[] = [];

afterAll(async () => {
  for (const folder of folders) await folder.dispose();
});

/** How many requests with this method and status are among some. */
function countOf(requests: LoggedRequest[], method: string, status: number): number {
  return requests.filter((request) => request.method === method && request.status === status).length;
}

/** Waits until the server has received this many uploads since a position in its log. */
async function waitForUploads(from: number, count: number): Promise<void> {
  const arrived = () => server().log.slice(from).split('"method":"PUT"').length > count;
  await eventually(`${count} uploads`, arrived, 30_000, 2);
}

async function expectSame(account: ClientAccount, folder: SyncedFolder): Promise<void> {
  const remote = [...(await readServerTree(account))].map(([path, { content }]) => `${path} ${content}`);
  const local = [...(await folder.tree())].map(([path, { content }]) => `${path} ${content}`);
  expect(remote.sort()).toEqual(local.sort());
}

for (const program of SYNC_PROGRAMS) {
  const newFolder = async (account: ClientAccount, on: TestServer = server()) => {
    const folder = await SyncedFolder.create(program, on, account);
    folders.push(folder);
    return folder;
  };

  describeWith(program, [program], () => {
    test("a full quota ends the uploads, and they continue when there is room", async () => {
      const owner = await server().addUser(["--quota", String(1000 * KB)]);
      const account = await withAppPassword(owner);
      const one = await newFolder(account);
      for (let index = 0; index < 30; index += 1) await one.write(`${index % 3}/${index}.bin`, randomContent(100 * KB));
      const before = await one.tree();
      const first = await requestsDuring(server(), async () => {
        expect((await one.trySync()).code).not.toBe(0);
      });
      expect(countOf(first, "PUT", 201)).toBe(10);
      expect(countOf(first, "PUT", 507)).toBeGreaterThan(0);
      // The client does not send what failed a moment ago.
      const second = await requestsDuring(server(), async () => one.trySync());
      expect(second.filter(({ method }) => method === "PUT")).toEqual([]);
      await server().change(owner.id, { quota: 100_000 * KB });
      await one.forgetFailures();
      await one.sync();
      expect(await one.tree()).toEqual(before);
      await expectSame(account, one);
    });

    test("over the rate limit, the client ends its run, and a later one continues", async () => {
      const env = { ...LOG, LARDER_RATE_LIMITS: "on", LARDER_PLANS_ENTERPRISE_LIMIT_DAV: "50" };
      await withServer({ hasAccounts: true, env }, async (own) => {
        // The programs regard another port as another account.
        const args = ["--port", String(own.port)];
        const account = await newClientAccount(own);
        const one = await newFolder(account, own);
        for (let index = 0; index < 100; index += 1) await one.write(`${index % 3}/${index}.txt`, `content ${index}`);
        const before = await one.tree();
        const first = await requestsDuring(own, async () => {
          expect((await one.trySync()).code).not.toBe(0);
        });
        // The questions without a password do not count, and owncloudcmd asks for each file that it has just stored.
        expect(first.filter(({ status }) => status < 400).length).toBeLessThanOrEqual(65);
        // The client sends six at once, and on a slow machine as many again before it reads the first response.
        expect(first.filter(({ status }) => status === 503).length).toBeLessThanOrEqual(12);
        await own.restart({ env: { LARDER_PLANS_ENTERPRISE_LIMIT_DAV: "5000" }, args });
        // No file was blamed: the client does not wait before it sends the rest.
        await one.sync();
        expect(await one.tree()).toEqual(before);
        await expectSame(account, one);
      });
    });

    test("a file that another program has locked is uploaded after the lock, and the others before", async () => {
      const account = await newClientAccount(server());
      const one = await newFolder(account);
      await one.write("letter.txt", "first");
      await one.sync();
      const locked = await dav(server(), account, "LOCK", "/dav/letter.txt", { body: LOCK_BODY });
      expectStatus(locked, 200);
      await one.write("letter.txt", "second, longer");
      await one.write("other.txt", "other");
      const requests = await requestsDuring(server(), async () => one.trySync());
      expect(countOf(requests, "PUT", 423)).toBeGreaterThan(0);
      const during = await readServerTree(account);
      expect(during.get("letter.txt")?.content).toBe(digestOf("first"));
      expect(during.get("other.txt")?.content).toBe(digestOf("other"));
      const headers = { "lock-token": locked.header("lock-token") ?? "" };
      expectStatus(await dav(server(), account, "UNLOCK", "/dav/letter.txt", { headers }), 204);
      await one.forgetFailures();
      await one.sync();
      expect((await readServerTree(account)).get("letter.txt")?.content).toBe(digestOf("second, longer"));
      await expectSame(account, one);
    });

    test("an upload in chunks continues after a kill with a new app password", async () => {
      const account = await newClientAccount(server());
      const one = await newFolder(account);
      one.env = SMALL_CHUNKS;
      const chunks = 60;
      const content = randomContent(chunks * 200 * KB);
      await one.write("film.mp4", content);
      const from = server().log.length;
      const child = one.start();
      await waitForUploads(from, 20);
      child.kill("SIGKILL");
      await child.exited;
      const passwords = await account.client.get("/api/users/app-passwords");
      const [id = ""] = passwords.strings("data.appPasswords", "id");
      expectStatus(await account.client.delete(`/api/users/app-passwords/${id}`), 200);
      const { password } = await withAppPassword(account.account);
      const rejected = await requestsDuring(server(), async () => {
        expect((await one.trySync()).code).not.toBe(0);
      });
      expect(rejected.filter(({ method }) => method === "PUT")).toEqual([]);
      const rest = await requestsDuring(server(), async () => {
        expect((await one.trySync(password)).code).toBe(0);
      });
      // At least the chunks before the kill are not sent again.
      const sent = rest.filter(({ method }) => method === "PUT").length;
      expect(sent).toBeLessThanOrEqual(chunks - 19);
      expect(sent).toBeGreaterThan(0);
      expect((await readServerTree(account)).get("film.mp4")?.content).toBe(digestOf(content));
    });

    test("an edit by the API between the chunks of an upload is not overwritten", async () => {
      const account = await newClientAccount(server());
      const one = await newFolder(account);
      await one.write("film.mp4", "base", new Date("2020-01-01T00:00:00Z"));
      await one.sync();
      const id = (await readServerTree(account)).get("film.mp4")?.id ?? "";
      const content = randomContent(20 * 200 * KB);
      await one.write("film.mp4", content, new Date("2020-01-02T00:00:00Z"));
      one.env = SMALL_CHUNKS;
      const requests = await requestsDuring(server(), async () => {
        const from = server().log.length;
        const child = one.start();
        await waitForUploads(from, 3);
        expectStatus(await account.client.putContent(id, "edit in the page"), 200);
        await child.exited;
      });
      expect(requests.find(({ method }) => method === "MOVE")?.status).toBe(412);
      expect((await readServerTree(account)).get("film.mp4")).toMatchObject({
        content: digestOf("edit in the page"),
        version: 2,
      });
      await one.forgetFailures();
      await one.sync();
      const local = [...(await one.tree()).values()].map((entry) => entry.content);
      expect(local.sort()).toEqual([digestOf("edit in the page"), digestOf(content)].sort());
    });

    if (isLong)
      test("a file that grows during its upload ends as it is on the computer", async () => {
        const account = await newClientAccount(server());
        const [one, two] = [await newFolder(account), await newFolder(account)];
        one.env = SMALL_CHUNKS;
        for (const [name, bytes] of [
          ["small", 100 * KB],
          ["large", 8000 * KB],
        ] as const) {
          await one.write(name, randomContent(bytes));
          const child = one.start();
          while (child.exitCode === null) {
            await appendFile(join(one.path, name), randomContent(KB));
            await Promise.race([child.exited, Bun.sleep(2)]);
          }
          for (let run = 0; run < 2; run += 1) {
            await one.forgetFailures();
            await one.sync();
          }
          await two.sync();
          expect(await two.tree()).toEqual(await one.tree());
          await expectSame(account, one);
        }
      });

    // Not owncloudcmd: it never ends if the folder of a file that it has just uploaded is renamed.
    const renamesDuringUpload = isLong && program === "nextcloudcmd";
    if (renamesDuringUpload)
      test("a folder that is renamed in the page during an upload into it", async () => {
        const account = await newClientAccount(server());
        const [one, two] = [await newFolder(account), await newFolder(account)];
        await one.write("album/first.txt", "first");
        await one.sync();
        for (let index = 0; index < 60; index += 1) await one.write(`album/${index}.txt`, `photo ${index}`);
        const from = server().log.length;
        const child = one.start();
        await waitForUploads(from, 20);
        const { id = "" } = (await readServerTree(account)).get("album") ?? {};
        expectStatus(await account.client.put(`/api/files/folders/${id}`, { name: "renamed" }), 200);
        await child.exited;
        for (let run = 0; run < 3; run += 1) {
          for (const computer of [one, two]) {
            await computer.forgetFailures();
            await computer.trySync();
          }
        }
        const contents = new Set([...(await readServerTree(account)).values()].map(({ content }) => content));
        for (let index = 0; index < 60; index += 1) expect(contents).toContain(digestOf(`photo ${index}`));
        expect(await two.tree()).toEqual(await one.tree());
        await expectSame(account, one);
      });
  });
}
