import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { checksumOf } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { type TestServer, withServer } from "../support/server.ts";

/** Another program that locks the database for writing until it is stopped. */
function holdDatabase(server: TestServer): () => void {
  const other = new Database(join(server.dataDir, "larder.db"), { readwrite: true });
  other.run("PRAGMA busy_timeout=5000");
  other.run("BEGIN EXCLUSIVE");
  return () => {
    other.run("ROLLBACK");
    other.close();
  };
}

test.concurrent("while another program locks the database for a moment, writing waits and reading continues", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { client } = await server.signUp();
    const first = await client.storedId("before", { name: "before" });
    const release = holdDatabase(server);
    const waiting = ["a", "b", "c"].map((name) => client.upload(name, { name }));
    // These requests get a response while the uploads wait.
    expect((await client.get(`/api/files/${first}/download`)).text).toBe("before");
    expect(await client.names()).toEqual(["before"]);
    release();
    for (const response of await Promise.all(waiting)) expectStatus(response, 201);
    expect(await client.names()).toEqual(["a", "b", "before", "c"]);
  });
});

test.concurrent("while another program locks the database for long, writing is rejected completely; later it works again automatically", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const account = await server.signUp();
    const { client } = account;
    const id = await client.storedId("old", { name: "kept" });
    const release = holdDatabase(server);
    const refused = await Promise.all([
      client.upload("new", { name: "refused" }),
      client.putContent(id, "newer"),
      client.post("/api/files/trash", { fileIds: [id] }),
      client.delete(`/api/files/${id}`),
      client.post("/api/files/folders", { name: "refused" }),
    ]);
    for (const response of refused) expectError(response, 503, "database_busy");
    expect(checksumOf((await client.get(`/api/files/${id}/download`)).bytes)).toBe(checksumOf("old"));
    expectStatus(await server.visitor.get("/health/live"), 200);
    release();
    expect(await client.names()).toEqual(["kept"]);
    expectStatus(await client.upload("new", { name: "taken" }), 201);
    expectStatus(await client.putContent(id, "newer"), 200);
    const { email, password } = account;
    expectStatus(await server.visitor.post("/api/auth/signin", { email, password }), 200);
    expect(await server.stop()).toBe(0);
  });
});

test.concurrent("a server that starts while another program locks the database reports that, and starts when it is unlocked", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { client } = await server.signUp();
    const id = await client.storedId("kept");
    await server.kill9();
    const other = new Database(join(server.dataDir, "larder.db"), { readwrite: true });
    other.run("PRAGMA locking_mode=EXCLUSIVE");
    other.run("BEGIN EXCLUSIVE");
    const started = server.start();
    const ended = await started.then(
      () => "started",
      (error: unknown) => String(error),
    );
    expect(ended).toMatch(/database is busy|locked/i);
    expect(ended).not.toMatch(/\n\s+at .+:\d+:\d+/);
    other.run("ROLLBACK");
    other.close();
    await server.start();
    expect((await client.get(`/api/files/${id}/download`)).text).toBe("kept");
  });
});
