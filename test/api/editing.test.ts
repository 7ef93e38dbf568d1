import { describe, expect, test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import type { Account } from "../support/client.ts";
import { tryLock } from "../support/dav-locks.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";
import { connectDav } from "../support/webdav.ts";

const server = sharedServer({ hasAccounts: true, env: { LARDER_RATE_LIMITS: "off" } });

const read = (as: Account, id: string) => as.client.get(`/api/files/${id}/editing`);

async function stateFor(as: Account, id: string) {
  const response = await read(as, id);
  expectStatus(response, 200);
  const lock = response.at("data.lock");
  return {
    canWrite: response.at("data.canWrite"),
    lock: lock === null ? null : { program: response.at("data.lock.program"), person: response.at("data.lock.person") },
  };
}

describe("GET /api/files/{id}/editing", () => {
  test("says who may write, and hides files of others", async () => {
    const [owner, writer, reader, stranger] = [
      await server().signUp(),
      await server().signUp(),
      await server().signUp(),
      await server().signUp(),
    ];
    const id = await owner.client.storedId("text", { name: "a.txt" });
    await shareWith(owner.client, id, writer, { permissions: "write" });
    await shareWith(owner.client, id, reader, { permissions: "read" });
    expect(await stateFor(owner, id)).toEqual({ canWrite: true, lock: null });
    expect(await stateFor(writer, id)).toEqual({ canWrite: true, lock: null });
    expect(await stateFor(reader, id)).toEqual({ canWrite: false, lock: null });
    expectError(await read(stranger, id), 404, "not_found");
    expectError(await read(owner, "file_unknown"), 404, "not_found");
  });

  test("names the person who locked a file only to those who may know", async () => {
    const [owner, writer, other] = [
      await server().signUp({ name: "Ada" }),
      await server().signUp({ name: "Ben" }),
      await server().signUp({ name: "Cem" }),
    ];
    const id = await owner.client.storedId("text", { name: "a.txt" });
    await shareWith(owner.client, id, writer, { permissions: "write" });
    await shareWith(owner.client, id, other, { permissions: "write" });
    const dav = await connectDav(owner, { name: "Writer" });
    expectStatus(await tryLock(dav, "a.txt", { depth: "0", timeout: "Second-600" }), 200);
    expect(await stateFor(owner, id)).toEqual({ canWrite: true, lock: { program: "Writer", person: "Ada" } });
    // The name of the program may be that of the owner's device.
    for (const as of [writer, other]) {
      expect(await stateFor(as, id)).toEqual({ canWrite: true, lock: { program: null, person: "Ada" } });
    }
  });

  test("hides a recipient's device from the owner, and a recipient from the others", async () => {
    const [owner, writer, other] = [
      await server().signUp({ name: "Ada" }),
      await server().signUp({ name: "Ben" }),
      await server().signUp({ name: "Cem" }),
    ];
    await owner.client.storedId("text", { name: "a.txt", fields: { folder: "/team" } });
    const id = (await owner.client.get("/api/files?folder=/team")).string("data.files.0.id");
    const folder = (await owner.client.get("/api/files")).string("data.files.0.id");
    for (const as of [writer, other]) await shareWith(owner.client, folder, as, { permissions: "write" });
    const dav = await connectDav(writer, { name: "Ben's laptop" });
    expectStatus(await tryLock(dav, "Shared%20with%20me/team/a.txt", { depth: "0", timeout: "Second-600" }), 200);
    expect((await stateFor(writer, id)).lock).toEqual({ program: "Ben's laptop", person: "Ben" });
    expect((await stateFor(owner, id)).lock).toEqual({ program: null, person: "Ben" });
    expect((await stateFor(other, id)).lock).toEqual({ program: null, person: null });
  });
});

testAllResponses(server);
