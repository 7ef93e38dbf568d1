/** Groups survive a backup, a rebuild, and the return to an earlier state; those who left stay out. */
import { expect, test } from "bun:test";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Account, Client } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { expectStatus } from "../support/expect.ts";
import { expel, join as joinGroup, makeGroup, shareWithGroup } from "../support/groups.ts";
import { runInProcess } from "../support/in-process.ts";
import { runJob } from "../support/jobs.ts";
import { temporaryDirectory, type TestServer, withServer } from "../support/server.ts";

const NEW_PASSWORD = "another horse battery";

/** Status of a file for each account, in a server where they may have another password. */
async function statusesOf(server: TestServer, accounts: readonly Account[], file: string): Promise<number[]> {
  return Promise.all(
    accounts.map(async ({ email, password }) => {
      const signIn = await server.visitor.post("/api/auth/signin", { email, password });
      expectStatus(signIn, 200);
      return (await new Client(server, signIn.string("token")).get(`/api/files/${file}`)).status;
    }),
  );
}

/** Deletes the database, and what else the pattern has. */
async function loseDatabase({ dataDir }: TestServer, pattern: RegExp): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (pattern.test(name)) await rm(join(dataDir, name), { recursive: true });
  }
}

async function newestSnapshot({ dataDir }: TestServer): Promise<string> {
  const names = (await readdir(join(dataDir, "snapshots"))).filter((name) => name.endsWith(".db")).sort();
  return names.at(-1) ?? "";
}

test("members stay, and those who left stay out, after a backup, a rebuild, and a return to a snapshot", async () => {
  await withServer({ env: { LARDER_SHOW_PEOPLE: "on" } }, async (server) => {
    const admin = await server.addUser(["--admin"]);
    const [owner, stays, left, joined] = [
      await server.signUp(),
      await server.signUp(),
      await server.signUp(),
      await server.signUp(),
    ];
    const accounts = [stays, left, joined];
    const group = await makeGroup(admin, "Family", [stays, left]);
    const deleted = await makeGroup(admin, "Deleted", [joined]);
    const file = await owner.client.storedId("a story", { name: "story.txt" });
    for (const each of [group, deleted]) await shareWithGroup(owner.client, file, each);
    expect(await statusesOf(server, accounts, file)).toEqual([200, 200, 200]);
    await runJob(admin.client, "snapshot");
    const snapshot = await newestSnapshot(server);

    await expel(admin, group, left);
    expectStatus(await admin.client.delete(`/api/admin/groups/${deleted}`), 200);
    // The journal's objects may lack the last changes: their end was noted before the response.
    await server.kill9();
    await loseDatabase(server, /^larder\.(db|state)/);
    const restored = await server.larder(["restore", "--snapshot", snapshot]);
    expect(restored.code).toBe(0);
    const merged = await server.larder(["rebuild", "--newer", "--json"]);
    expect(JSON.parse(merged.stdout)).toMatchObject({ groups: { groups: 1, left: 1 } });
    await server.start();
    expect(await statusesOf(server, accounts, file)).toEqual([200, 404, 404]);

    const session = await server.visitor.post("/api/auth/signin", { email: admin.email, password: admin.password });
    const again = await confirmIdentity({ ...admin, client: new Client(server, session.string("token")) });
    await joinGroup(again, group, joined);
    expect(await statusesOf(server, accounts, file)).toEqual([200, 404, 200]);

    const base = await temporaryDirectory();
    expect((await runInProcess(["backup", join(base, "backup"), "--data", server.dataDir])).code).toBe(0);
    await withServer({ dataDir: join(base, "backup") }, async (copy) => {
      expect(await statusesOf(copy, accounts, file)).toEqual([200, 404, 200]);
    });
    await rm(base, { recursive: true });

    await server.stop();
    await loseDatabase(server, /^(larder\.(db|state)|snapshots$)/);
    expect((await server.larder(["rebuild"])).code).toBe(0);
    for (const { email } of accounts) {
      const set = await server.larder(["user", "set", email, "--password-stdin"], { stdin: `${NEW_PASSWORD}\n` });
      expect(set.code).toBe(0);
    }
    await server.start();
    const renewed = accounts.map((account) => ({ ...account, password: NEW_PASSWORD }));
    expect(await statusesOf(server, renewed, file)).toEqual([200, 404, 200]);
  });
}, 120_000);
