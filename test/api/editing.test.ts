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
    for (const as of [owner, writer, other]) {
      const { canWrite, lock } = await stateFor(as, id);
      expect({ canWrite, person: lock?.person }).toEqual({ canWrite: true, person: "Ada" });
    }
  });
});

testAllResponses(server);
