// A server that is killed while it extracts an archive: nothing of it is visible, counted, or left.
import { expect, test } from "bun:test";
import { eventually, expectStatus } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { withServer } from "../support/server.ts";
import { makeZip } from "../support/zip-files.ts";

const FILES = 3_000;

test("an extraction that was killed leaves nothing, and the archive can be extracted again", async () => {
  await withServer({ hasAccounts: true, env: { LARDER_RATE_LIMITS: "off" } }, async (server) => {
    const admin = await server.addUser(["--admin"]);
    const { client } = await server.signUp();
    const entries = Array.from({ length: FILES }, (_, n) => ({ name: `${n % 20}/${n}.txt`, content: `file ${n}` }));
    const id = await client.storedId(makeZip(entries), { name: "many.zip", type: "application/zip" });
    const before = (await client.get("/api/users/usage")).at("data.storage");
    const begun = await client.post(`/api/files/${id}/extract`, {});
    expectStatus(begun, 202);
    await eventually("files are stored, and not all", async () => {
      const progress = await client.get(`/api/files/extractions/${begun.string("data.id")}`);
      return Number(progress.at("data.filesDone")) > 200 || progress.at("data.state") === "done";
    });
    await server.kill9();
    await server.start();
    expect(await client.names()).toEqual(["many.zip"]);
    expect((await client.get("/api/users/usage")).at("data.storage")).toEqual(before);
    expect((await client.get(`/api/files/extractions/${begun.string("data.id")}`)).status).toBe(404);
    await runJob(admin.client, "reap-deleted");
    const again = await client.post(`/api/files/${id}/extract`, {});
    await eventually("the second extraction is done", async () => {
      const progress = await client.get(`/api/files/extractions/${again.string("data.id")}`);
      return progress.at("data.state") === "done";
    });
    expect(await client.names()).toEqual(["many", "many.zip"]);
    const listed = await client.get("/api/files?recursive=true&type=file&limit=1");
    expect(listed.at("data.pagination.total")).toBe(FILES + 1);
  });
});
