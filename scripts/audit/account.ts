// What the pages about devices, keys, and webhooks show.
import { createAppPassword } from "../../test/support/app-passwords.ts";
import { type Account, checksumOf } from "../../test/support/client.ts";
import { expectStatus } from "../../test/support/expect.ts";
import { registerDevice } from "../../test/support/mobile.ts";
import type { TestServer } from "../../test/support/server.ts";

/** Settings of the server with which {@link fillAccount} leaves deletions that wait for approval. */
export const HOLD_ENV = { LARDER_MASS_CHANGE_FILES: "5", LARDER_MASS_CHANGE_PERCENT: "5" };

/** Adds a key, an app password, a webhook that fails, and a device with a conflict and a hold. */
export async function fillAccount(server: TestServer, account: Account): Promise<void> {
  const { client, password } = account;
  expectStatus(await client.post("/api/users/api-keys", { name: "backup script", currentPassword: password }), 201);
  await createAppPassword(account, { name: "Laptop" });
  const hook = await client.post("/api/webhooks", {
    url: "https://hooks.example.org/larder",
    events: ["file.created"],
  });
  expectStatus(await client.post(`/api/webhooks/${hook.string("data.id")}/test`), 200);
  const device = await registerDevice(server, account);
  const report = async (localChanges: unknown[]) =>
    expectStatus(await device.client.post("/api/mobile/sync/files", { localChanges }), 200);
  const changed = await client.storedId("the beginning", { name: "Plans.txt" });
  expectStatus(await client.putContent(changed, "what the server has"), 200);
  const content = { size: 3, checksum: checksumOf("new"), baseChecksum: checksumOf("the beginning") };
  await report([{ action: "update", folder: "/", localId: changed, fileId: changed, ...content }]);
  const deletions: unknown[] = [];
  for (let number = 1; number <= 8; number++) {
    const fileId = await client.storedId(`content ${number}`, {
      name: `Scan ${number}.txt`,
      fields: { folder: "/Scans" },
    });
    deletions.push({ action: "delete", localId: fileId, fileId });
  }
  await report(deletions);
}
