// The list of recent files: with openings after a backup, and from the changes alone after a rebuild or an import.
import { expect, test } from "bun:test";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Database } from "bun:sqlite";
import { type Account, Client } from "../support/client.ts";
import { temporaryFolders } from "../support/data-directory.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { runInProcess } from "../support/in-process.ts";
import { type TestServer, withServer } from "../support/server.ts";

const folder = temporaryFolders();

interface Recent {
  readonly name: string;
  readonly activity: string;
  readonly activityAt: string;
}

async function recentFiles(client: Client): Promise<Recent[]> {
  const response = await client.get("/api/files/recent");
  expectStatus(response, 200);
  const [names, kinds, times] = ["name", "activity", "activityAt"].map((field) =>
    response.strings("data.files", field),
  );
  return (names ?? []).map((name, index) => ({
    name,
    activity: kinds?.[index] ?? "",
    activityAt: times?.[index] ?? "",
  }));
}

const summary = (files: readonly Recent[]) => files.map(({ name, activity }) => `${name} ${activity}`);

async function signIn(server: TestServer, { email, password }: Pick<Account, "email" | "password">): Promise<Client> {
  const signedIn = await server.visitor.post("/api/auth/signin", { email, password });
  return new Client(server, signedIn.string("token"));
}

/** An account with three files, of which it opened the first one last. */
async function openedFile(server: TestServer) {
  const account = await server.signUp();
  const ids: string[] = [];
  for (const name of ["a", "b", "c"]) ids.push(await account.client.storedId(name, { name: `${name}.txt` }));
  const [first = ""] = ids;
  // Openings are stored within a second; a backup that is made earlier lacks them.
  expectStatus(await account.client.post(`/api/files/${first}/opened`, {}), 200);
  const database = new Database(join(server.dataDir, "larder.db"), { readonly: true });
  const count = database.query<{ count: number }, []>("SELECT count(*) AS count FROM opened_files");
  await eventually("the opening is stored", () => count.get()?.count === 1);
  database.close();
  const recent = await recentFiles(account.client);
  expect(summary(recent)).toEqual(["a.txt opened", "c.txt added", "b.txt added"]);
  return { account, first, recent };
}

test("a backup has the files that were opened last, with their times", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { account, recent } = await openedFile(server);
    const base = await folder();
    const backup = await runInProcess(["backup", join(base, "backup"), "--data", server.dataDir]);
    expect(backup.code).toBe(0);
    const restored = await runInProcess(["restore", join(base, "backup"), "--data", join(base, "data")]);
    expect({ code: restored.code, stderr: restored.stderr }).toEqual({ code: 0, stderr: "" });
    await withServer({ dataDir: join(base, "data") }, async (copy) => {
      expect(await recentFiles(await signIn(copy, account))).toEqual(recent);
    });
  });
});

test("after a rebuild and an import, changes count first, until files are opened again", async () => {
  await withServer({}, async (server) => {
    const { account, first } = await openedFile(server);
    const exported = join(await folder(), "export");
    const run = (...args: string[]) => runInProcess([...args, "--data", server.dataDir]);
    expect((await run("export", "--user", account.email, "--to", exported, "--metadata")).code).toBe(0);
    await server.stop();
    for (const name of await readdir(server.dataDir)) {
      if (/^(larder\.(db|state)|snapshots$)/.test(name)) await rm(join(server.dataDir, name), { recursive: true });
    }
    expect((await run("rebuild")).code).toBe(0);
    const set = ["user", "set", account.email, "--password-stdin"];
    expect((await server.larder(set, { stdin: `${account.password}\n` })).code).toBe(0);
    await server.start();
    const client = await signIn(server, account);
    expect(summary(await recentFiles(client))).toEqual(["c.txt changed", "b.txt changed", "a.txt changed"]);
    expectStatus(await client.post(`/api/files/${first}/opened`, {}), 200);
    expect(summary(await recentFiles(client))).toEqual(["a.txt opened", "c.txt changed", "b.txt changed"]);

    const other = await server.signUp();
    expect((await run("import", exported, "--user", other.email)).code).toBe(0);
    const imported = summary(await recentFiles(other.client));
    expect(imported.toSorted()).toEqual(["a.txt added", "b.txt added", "c.txt added"]);
  });
});
