import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Client, toBytes, digestOf, randomContent } from "../support/client.ts";
import { checkCopy } from "../support/copies/check.ts";
import { MixedLoad } from "../support/copies/load.ts";
import { expectStatus } from "../support/expect.ts";
import { boundary, formType } from "../support/multipart.ts";
import { seededRandom, seedsToRun } from "../support/random.ts";
import { RawConnection } from "../support/raw-http.ts";
import { type TestServer, withServer } from "../support/server.ts";

/** How often the server is killed; scripts/rounds/crash sets it. */
const rounds = Number(process.env["LARDER_TEST_ROUNDS"] ?? 6);
const roundMsMax = 30_000;
const uploadRounds = 5;

/** All files of the account by name, with the digests of their downloaded bytes. */
async function visibleFiles(client: Client): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let page = 1; ; page++) {
    const response = await client.get(`/api/files?recursive=true&type=file&limit=100&page=${page}`);
    expectStatus(response, 200);
    const names = response.strings("data.files", "name");
    for (const [index, id] of response.strings("data.files", "id").entries()) {
      const got = await client.get(`/api/files/${id}/download`);
      expectStatus(got, 200);
      found.set(names[index] ?? "", digestOf(got.bytes));
    }
    if (response.at("data.pagination.hasNext") !== true) return found;
  }
}

/** Names of files below blobs/incoming/. */
async function stagedFiles(server: TestServer): Promise<string[]> {
  const entries = await readdir(join(server.dataDir, "blobs", "incoming"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

test("kill -9 during uploads loses nothing that was acknowledged, and leaves no half file", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { client, token } = await server.signUp();
    const sent = new Map<string, string>();
    const acknowledged = new Map<string, string>();
    const replaceable = await client.storedId("base", { name: "replaced" });
    // Replacements are sent one after the other: after a crash, the file has the last acknowledged one or the next.
    let lastReplaced = digestOf("base");
    let lastSent = lastReplaced;

    for (let round = 0; round < uploadRounds; round++) {
      // A large upload that never ends is in progress during the crash.
      const hanging = await RawConnection.open(server.port);
      await hanging.write(
        `POST /api/files/upload HTTP/1.1\r\nHost: larder.test\r\nAuthorization: Bearer ${token}\r\n` +
          `Content-Type: ${formType}\r\nContent-Length: 50000000\r\n\r\n` +
          `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="never-whole"\r\n\r\n`,
      );
      await hanging.write(randomContent(1_000_000));

      const crashAfter = 8 + round * 6;
      let acknowledgedNow = 0;
      const crash = Promise.withResolvers<void>();
      const uploader = async (worker: number) => {
        for (let index = 0; ; index++) {
          const name = `r${round}-w${worker}-${index}`;
          const content = randomContent(1 + ((index * 7919 + worker * 104_729) % 200_000));
          sent.set(name, digestOf(content));
          // A failed connection ends the worker: the server was killed.
          const response = await client.upload(content, { name }).catch(() => undefined);
          if (response === undefined) return;
          if (response.status === 201) acknowledged.set(name, digestOf(content));
          acknowledgedNow += 1;
          if (acknowledgedNow >= crashAfter) crash.resolve();
        }
      };
      const replacer = async () => {
        for (let index = 0; ; index++) {
          const content = toBytes(`round ${round}, content ${index}`);
          lastSent = digestOf(content);
          const response = await client.putContent(replaceable, content).catch(() => undefined);
          if (response === undefined) return;
          if (response.status === 200) lastReplaced = lastSent;
        }
      };
      const workers = [uploader(0), uploader(1), uploader(2), uploader(3), replacer()];
      await crash.promise;
      await server.kill9();
      await Promise.all(workers);
      hanging.cut();
      await server.start();

      const visible = await visibleFiles(client);
      const missing = [...acknowledged].filter(([name, digest]) => visible.get(name) !== digest).map(([name]) => name);
      expect(missing).toEqual([]);
      expect(visible.has("never-whole")).toBe(false);
      // A file that was not acknowledged may be there, but complete.
      for (const [name, digest] of visible) {
        if (name === "replaced") expect([lastReplaced, lastSent]).toContain(digest);
        else expect({ name, digest }).toEqual({ name, digest: sent.get(name) ?? "never sent" });
      }
      expect(visible.has("replaced")).toBe(true);
      lastReplaced = visible.get("replaced") ?? "";
      expect(await stagedFiles(server)).toEqual([]);
    }
    expect(acknowledged.size).toBeGreaterThan(uploadRounds * 8);
    expect(lastReplaced).not.toBe(digestOf("base"));
    const usage = await client.get("/api/users/usage");
    const visible = await visibleFiles(client);
    expect(usage.number("data.storage.files")).toBe(visible.size);
  });
}, 120_000);

test(
  `kill -9 at ${rounds} random instants of everything at once loses nothing that was acknowledged`,
  async () => {
    const [seed = 1] = seedsToRun([1]);
    const random = seededRandom(seed);
    // No grace period: deleted blobs are removed as early as possible.
    await withServer({ hasAccounts: true, env: { LARDER_GC_GRACE: "0s" } }, async (server) => {
      const admin = await server.addUser(["--admin"]);
      let load = await MixedLoad.start(server, seed, 3, 0);
      for (let round = 0; round < rounds; round++) {
        const house = keepHouse(admin.client, random.pick(["gc", "snapshot", "leftovers", "uploads"]));
        await Bun.sleep(random.below(400));
        const killedMs = Date.now();
        await server.kill9();
        await load.waitForCrash();
        await house;
        await server.start();
        const moment = { fromMs: killedMs, untilMs: killedMs };
        const { files, states } = await checkCopy(server, load.accounts, moment);
        if (rounds > 6) console.warn(`${round + 1}: ${load.done} changes, ${files} files`);
        for (const [account, seen] of states) account.resolvePending(seen);
        load = MixedLoad.resume(load.accounts, 0);
      }
      await load.stop();
      expect(load.done).toBeGreaterThan(rounds);
      const verified = await server.larder(["verify", "--json"]);
      expect([verified.code, verified.stdout]).toEqual([0, verified.stdout]);
    });
  },
  60_000 + rounds * roundMsMax,
);

/** Runs a job repeatedly until the server is killed. */
async function keepHouse(admin: Client, name: string): Promise<void> {
  for (;;) {
    const ran = await admin.post(`/api/admin/jobs/${name}/run`).catch(() => undefined);
    if (ran === undefined) return;
    expectStatus(ran, 200);
  }
}

test("a clean stop and start changes nothing", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { client } = await server.signUp();
    for (let index = 0; index < 20; index++)
      await client.stored(`content ${index}`, { name: `${index}`, fields: { folder: `/f${index % 3}`, tags: "t" } });
    const look = async () => {
      const response = await client.get("/api/files?recursive=true&limit=100");
      return response.text.replaceAll(server.url, "");
    };
    const before = await look();
    expect(await server.stop()).toBe(0);
    await server.start();
    expect(await look()).toBe(before);
  });
});
