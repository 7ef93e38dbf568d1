// A server that is killed while it extracts an archive: nothing of it is visible, counted, or left.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { expect, test } from "bun:test";
import type { Client } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { type TestServer, withServer } from "../support/server.ts";
import { makeZip } from "../support/zip-files.ts";

const FILES = 1_000;
/** Extractions that may end before the server could be stopped in the middle of one. */
const TRIES = 10;

test("an extraction that was killed leaves nothing, and the archive can be extracted again", async () => {
  await withServer({ hasAccounts: true, env: { LARDER_RATE_LIMITS: "off" } }, async (server) => {
    const admin = await server.addUser(["--admin"]);
    const { client } = await server.signUp();
    const entries = Array.from({ length: FILES }, (_, n) => ({ name: `${n % 20}/${n}.txt`, content: `file ${n}` }));
    const id = await client.storedId(makeZip(entries), { name: "many.zip", type: "application/zip" });
    const before = (await client.get("/api/users/usage")).at("data.storage");
    const begun = await stopInTheMiddle(server, admin.client, client, id);
    await server.kill9();
    await server.start();
    expect(await client.names()).toEqual(["many.zip"]);
    expect((await client.get("/api/users/usage")).at("data.storage")).toEqual(before);
    expect((await client.get(`/api/files/extractions/${begun}`)).status).toBe(404);
    await runJob(admin.client, "reap-deleted");
    expect(unattachedFiles(server)).toBe(0);
    expect(await extract(client, id)).toBe("done");
    expect(await client.names()).toEqual(["many", "many.zip"]);
    const listed = await client.get("/api/files?recursive=true&type=file&limit=1");
    expect(listed.at("data.pagination.total")).toBe(FILES + 1);
  });
});

/**
 * Begins an extraction, and stops the server's process when rows of some files are stored, but the folder is not visible.
 * A stopped process changes nothing more, however slow this test is. @returns the id of the extraction
 */
async function stopInTheMiddle(server: TestServer, admin: Client, client: Client, archive: string): Promise<string> {
  for (let tries = 0; tries < TRIES; tries++) {
    const begun = await client.post(`/api/files/${archive}/extract`, {});
    expectStatus(begun, 202);
    const id = begun.string("data.id");
    for (let isEnded = false; !isEnded; ) {
      server.signal("SIGSTOP");
      const files = unattachedFiles(server);
      if (files > 0 && files < FILES) return id;
      server.signal("SIGCONT");
      const state = (await client.get(`/api/files/extractions/${id}`)).string("data.state");
      isEnded = state !== "waiting" && state !== "running";
    }
    const folder = (await client.get("/api/files")).string("data.files.0.id");
    expectStatus(await client.delete(`/api/files/folders/${folder}?recursive=true`), 200);
    await runJob(admin, "reap-deleted");
  }
  throw new Error(`${TRIES} extractions of ${FILES} files ended before the server could be stopped`);
}

/** Rows of files in folders that an extraction has not made visible. */
function unattachedFiles({ dataDir }: TestServer): number {
  const database = new Database(join(dataDir, "larder.db"), { readonly: true });
  try {
    const count = database.query<{ count: number }, []>(
      `SELECT count(*) AS count FROM nodes f JOIN nodes top ON f.created_seq = -top.id
       WHERE top.parent_id IS NULL AND f.size_bytes IS NOT NULL`,
    );
    return count.get()?.count ?? 0;
  } finally {
    database.close();
  }
}

async function extract(client: Client, archive: string): Promise<string> {
  const begun = await client.post(`/api/files/${archive}/extract`, {});
  expectStatus(begun, 202);
  let state = "waiting";
  await eventually("the extraction has ended", async () => {
    state = (await client.get(`/api/files/extractions/${begun.string("data.id")}`)).string("data.state");
    return !["waiting", "running"].includes(state);
  });
  return state;
}
