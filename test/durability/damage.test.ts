import { expect, test } from "bun:test";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { randomContent } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { registerDevice } from "../support/mobile.ts";
import { withServer } from "../support/server.ts";
import { complete, planUpload, sendChunks } from "../support/uploads.ts";

test("folders of work that vanish while the server runs are made again; what was in them is asked for again", async () => {
  await withServer({}, async (server) => {
    const admin = await server.addUser(["--admin"]);
    const phone = await registerDevice(server, admin);
    const content = randomContent(4_096);
    const begun = await planUpload(phone.client, content);
    await sendChunks(phone.client, begun, content, [0, 1]);
    for (const folder of ["uploads", "snapshots", "thumbs"])
      await rm(join(server.dataDir, folder), { recursive: true, force: true });

    // What was taken is not there any more: the upload says so, or can be sent whole again; it never makes half a file.
    const ended = await complete(phone.client, begun.uploadId);
    expect(ended.status).toBeGreaterThanOrEqual(400);
    expect(ended.status).toBeLessThan(500);
    await sendChunks(phone.client, begun, content);
    expectStatus(await complete(phone.client, begun.uploadId), 200);
    const next = await planUpload(phone.client, content, { name: "next.bin" });
    await sendChunks(phone.client, next, content);
    expectStatus(await complete(phone.client, next.uploadId), 200);
    await admin.client.stored("x");
    await runJob(admin.client, "snapshot");
    expect((await readdir(join(server.dataDir, "snapshots"))).length).toBeGreaterThan(0);
  });
});
