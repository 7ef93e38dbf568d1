import { describe, expect, test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import { type ApiResponse, checksumOf, type Client, toBytes } from "../support/client.ts";
import { lock, lockInfo, unlock } from "../support/dav-locks.ts";
import { eventually, expectError, expectStatus, timestampPattern, waitForNextMillisecond } from "../support/expect.ts";
import { registerDevice } from "../support/mobile.ts";
import { field, file, form, formType } from "../support/multipart.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";
import { appendTus, createTus, headTus } from "../support/tus.ts";
import { completeUpload, getUploadState, planUpload, sendChunks } from "../support/uploads.ts";
import { connectDav } from "../support/webdav.ts";

const server = sharedServer({ hasAccounts: true, env: { LARDER_MASS_CHANGE_FILES: "1000000" } });

/** An account with `/f/a.txt`, which has two versions, `/f/sub/b.txt` and `/o.txt`, and a WebDAV client. */
async function open() {
  const account = await server().signUp();
  const { client } = account;
  const ids = {
    a: await client.storedId("one", { name: "a.txt", fields: { folder: "/f" } }),
    b: await client.storedId("b", { name: "b.txt", fields: { folder: "/f/sub" } }),
    o: await client.storedId("o", { name: "o.txt" }),
    f: "",
  };
  expectStatus(await client.putContent(ids.a, "two"), 200);
  ids.f = (await client.get("/api/files?folder=/")).string("data.files.0.id");
  const dav = await connectDav(account, { name: "Writer" });
  return { account, client, dav, ids };
}

type Ids = Awaited<ReturnType<typeof open>>["ids"];

/** All files and folders with what a lock protects, to see that nothing changed. */
async function snapshot(client: Client): Promise<unknown> {
  const list = async (folder: string) => {
    const response = await client.get(`/api/files?folder=${encodeURIComponent(folder)}`);
    return response.status === 200 ? response.at("data.files") : response.status;
  };
  const usage = (await client.get("/api/users/usage")).at("data.storage");
  return [await list("/"), await list("/f"), await list("/f/sub"), usage];
}

/** Changes of one item. `locked` names the item whose id the error has. */
const changes: Record<string, { run: (client: Client, ids: Ids) => Promise<ApiResponse>; locked: keyof Ids }> = {
  "new content": { run: (client, { a }) => client.putContent(a, "three"), locked: "a" },
  "a version by upload": {
    run: (client) => client.upload("three", { name: "a.txt", fields: { folder: "/f", onConflict: "version" } }),
    locked: "a",
  },
  "an earlier version": { run: (client, { a }) => client.post(`/api/files/${a}/versions/1/restore`), locked: "a" },
  "a new name": { run: (client, { a }) => client.put(`/api/files/${a}`, { name: "c.txt" }), locked: "a" },
  "another folder": { run: (client, { a }) => client.put(`/api/files/${a}`, { folder: "/" }), locked: "a" },
  description: { run: (client, { a }) => client.put(`/api/files/${a}`, { description: "d" }), locked: "a" },
  tags: { run: (client, { a }) => client.put(`/api/files/${a}`, { tags: ["t"] }), locked: "a" },
  publishing: { run: (client, { a }) => client.put(`/api/files/${a}`, { isPublic: true }), locked: "a" },
  deleting: { run: (client, { a }) => client.delete(`/api/files/${a}`), locked: "a" },
  "moving with others": {
    run: (client, { a }) => client.post("/api/files/move", { fileIds: [a], destinationFolder: "/" }),
    locked: "a",
  },
  "tags of several": {
    run: (client, { a }) => client.post("/api/files/tags", { fileIds: [a], add: ["t"] }),
    locked: "a",
  },
  trashing: { run: (client, { a }) => client.post("/api/files/trash", { fileIds: [a] }), locked: "a" },
  "renaming the folder": { run: (client, { f }) => client.put(`/api/files/folders/${f}`, { name: "g" }), locked: "a" },
  "deleting the folder": {
    run: (client, { f }) => client.delete(`/api/files/folders/${f}?recursive=true`),
    locked: "a",
  },
  "trashing the folder": { run: (client, { f }) => client.post("/api/files/trash", { fileIds: [f] }), locked: "a" },
};

/** Changes of the members of `/f`. */
const additions: Record<string, (client: Client, ids: Ids) => Promise<ApiResponse>> = {
  "an upload": (client) => client.upload("x", { name: "x.txt", fields: { folder: "/f" } }),
  "a folder": (client) => client.post("/api/files/folders", { name: "new", path: "/f" }),
  "moving into it": (client, { o }) => client.post("/api/files/move", { fileIds: [o], destinationFolder: "/f" }),
  "a copy": (client, { o }) => client.post("/api/files/copy", { fileIds: [o], destinationFolder: "/f" }),
  "taking a file away": (client, { a }) => client.put(`/api/files/${a}`, { folder: "/" }),
};

describe("what a WebDAV client has locked is 409 locked for every other API", () => {
  for (const [name, { run, locked }] of Object.entries(changes)) {
    test(`${name}; nothing changes until the owner ends the lock`, async () => {
      const { client, dav, ids } = await open();
      await lock(dav, "f/a.txt");
      const before = await snapshot(client);
      const response = await run(client, ids);
      expectError(response, 409, "locked");
      const expiresAt = (await client.get("/api/users/locks")).string("data.locks.0.expiresAt");
      expect(response.at("error.details")).toMatchObject({ nodeId: ids[locked], expiresAt });
      expect(await snapshot(client)).toEqual(before);
      const lockId = (await client.get("/api/users/locks")).string("data.locks.0.id");
      expectStatus(await client.delete(`/api/users/locks/${lockId}`), 200);
      expect((await run(client, ids)).status).toBeLessThan(300);
    });
  }

  for (const [name, run] of Object.entries(additions)) {
    test(`${name} in a locked folder`, async () => {
      const { client, dav, ids } = await open();
      const token = await lock(dav, "f", { depth: "0" });
      const before = await snapshot(client);
      expectError(await run(client, ids), 409, "locked");
      expect(await snapshot(client)).toEqual(before);
      expectStatus(await client.putContent(ids.a, "three"), 200);
      expectStatus(await unlock(dav, "f", token), 204);
      expect((await run(client, ids)).status).toBeLessThan(300);
    });
  }
});

test("locks are listed for the owner of the files, and for nobody else", async () => {
  const { client, dav, ids } = await open();
  await lock(dav, "f/a.txt", { depth: "0", timeout: "Second-60" });
  await lock(dav, "f/sub", {}, lockInfo("shared"));
  const listed = await client.get("/api/users/locks");
  expectStatus(listed, 200);
  const times = {
    createdAt: expect.stringMatching(timestampPattern),
    expiresAt: expect.stringMatching(timestampPattern),
  };
  const [own, folder] = listed.list("data.locks");
  expect(own).toEqual({
    id: expect.stringMatching(/^lck_/),
    fileId: ids.a,
    name: "a.txt",
    path: "/f/a.txt",
    program: "Writer",
    ...times,
  });
  expect(folder).toMatchObject({ name: "sub", path: "/f/sub", folderId: expect.stringMatching(/^fold_/), ...times });
  const lasts = (index: number) =>
    Date.parse(listed.string(`data.locks.${index}.expiresAt`)) -
    Date.parse(listed.string(`data.locks.${index}.createdAt`));
  expect([lasts(0), lasts(1)]).toEqual([60_000, 3_600_000]);
  const other = await server().signUp();
  expect((await other.client.get("/api/users/locks")).at("data.locks")).toEqual([]);
  expectError(await other.client.delete(`/api/users/locks/${listed.string("data.locks.0.id")}`), 404, "not_found");
  expectError(await server().visitor.get("/api/users/locks"), 401, "missing_token");
});

test("the lock of a published file does not keep it public", async () => {
  const { client, dav, ids } = await open();
  expectStatus(await client.put(`/api/files/${ids.a}`, { isPublic: true }), 200);
  await lock(dav, "f/a.txt");
  expectStatus(await client.put(`/api/files/${ids.a}`, { isPublic: false }), 200);
});

test("restoring from the trash into a locked folder is rejected, and possible later", async () => {
  const { client, dav, ids } = await open();
  expectStatus(await client.post("/api/files/trash", { fileIds: [ids.a] }), 200);
  const token = await lock(dav, "f");
  expectError(await client.post("/api/files/trash/restore", { fileIds: [ids.a] }), 409, "locked");
  expectStatus(await unlock(dav, "f", token), 204);
  expectStatus(await client.post("/api/files/trash/restore", { fileIds: [ids.a] }), 200);
});

test("restoring a folder to an earlier moment skips what is locked and restores the rest", async () => {
  const { client, dav, ids } = await open();
  await waitForNextMillisecond();
  const at = new Date().toISOString();
  await waitForNextMillisecond();
  for (const id of [ids.a, ids.b]) expectStatus(await client.putContent(id, "encrypted"), 200);
  const added = await client.storedId("new", { name: "new.txt", fields: { folder: "/f" } });
  const tokens = [await lock(dav, "f/a.txt"), await lock(dav, "f/new.txt")];
  const body = { folder: "/f", at, removeNew: true };
  for (const dryRun of [true, false]) {
    const response = await client.post("/api/files/restore", { ...body, dryRun });
    expectStatus(response, 200);
    const skipped = response.list("data.skipped") as { id: string; reason: string }[];
    expect(new Map(skipped.map(({ id, reason }) => [id, reason]))).toEqual(
      new Map([
        [ids.a, "locked"],
        [added, "locked"],
      ]),
    );
    expect(response.strings("data.changes", "id")).toEqual([ids.b]);
  }
  expect((await client.get(`/api/files/${ids.a}/download`)).text).toBe("encrypted");
  for (const [index, path] of ["f/a.txt", "f/new.txt"].entries())
    expectStatus(await unlock(dav, path, tokens[index] ?? ""), 204);
  expectStatus(await client.post("/api/files/restore", body), 200);
  expect((await client.get(`/api/files/${ids.a}/download`)).text).toBe("two");
  expectError(await client.get(`/api/files/${added}`), 404);
});

describe("phones", () => {
  test("sync/files rejects changes of locked files, a move as a whole", async () => {
    const { account, client, dav, ids } = await open();
    const { client: device } = await registerDevice(server(), account);
    await lock(dav, "f/a.txt");
    const before = await snapshot(client);
    const localChanges = [
      { localId: "1", action: "rename", fileId: ids.a, name: "renamed.txt" },
      { localId: "2", action: "delete", fileId: ids.a, baseChecksum: checksumOf("two") },
    ];
    for (const change of localChanges) {
      const response = await device.post("/api/mobile/sync/files", { localChanges: [change] });
      expectStatus(response, 200);
      expect(response.at("data.results.0")).toMatchObject({
        status: "rejected",
        error: { details: { reason: "locked" } },
      });
    }
    const move = await device.post("/api/mobile/sync/files", {
      localChanges: [
        { localId: "new", action: "upload", name: "moved.txt", folder: "/", size: 3, checksum: checksumOf("two") },
        { localId: "old", action: "delete", fileId: ids.a, baseChecksum: checksumOf("two") },
      ],
    });
    expect(move.strings("data.results", "status")).toEqual(["rejected", "rejected"]);
    expect(await snapshot(client)).toEqual(before);
  });

  test("the offline queue fails a deletion at once", async () => {
    const { account, dav, ids } = await open();
    const { client: device } = await registerDevice(server(), account);
    await lock(dav, "f/a.txt");
    const operation = { id: "1", type: "delete", priority: "high", createdAt: new Date().toISOString(), fileId: ids.a };
    expectStatus(await device.post("/api/mobile/queue/add", { operations: [operation] }), 200);
    const state = async () => (await device.get("/api/mobile/queue")).at("data.operations.0");
    await eventually("the operation fails", async () => ((await state()) as { status: string }).status === "failed");
    expect(await state()).toMatchObject({ error: { details: { reason: "locked" } } });
  });

  test("an upload in chunks stays as it was, and is completed later", async () => {
    const { account, client, dav, ids } = await open();
    const { client: device } = await registerDevice(server(), account);
    const content = toBytes("three");
    const plan = await planUpload(device, content, { fileId: ids.a, baseChecksum: checksumOf("two") });
    await sendChunks(device, plan, content);
    const token = await lock(dav, "f/a.txt");
    const before = await snapshot(client);
    expectError(await completeUpload(device, plan.uploadId), 409, "locked");
    expect(await snapshot(client)).toEqual(before);
    expect((await getUploadState(device, plan.uploadId)).at("data.missingChunks")).toEqual([]);
    expectStatus(await unlock(dav, "f/a.txt", token), 204);
    expectStatus(await completeUpload(device, plan.uploadId), 200);
    expect((await client.get(`/api/files/${ids.a}/download`)).text).toBe("three");
  });

  test("a conflict stays open while the file is locked", async () => {
    const { account, client, dav, ids } = await open();
    const { client: device } = await registerDevice(server(), account);
    const change = { localId: "1", action: "delete", fileId: ids.a, baseChecksum: checksumOf("one") };
    const found = await device.post("/api/mobile/sync/files", { localChanges: [change] });
    const conflictId = found.string("data.results.0.conflictId");
    const token = await lock(dav, "f/a.txt");
    const resolve = () =>
      device.post("/api/mobile/conflicts/resolve", { conflicts: [{ conflictId, resolution: "keep_local" }] });
    const rejected = await resolve();
    expect(rejected.at("data.results.0")).toMatchObject({
      status: "rejected",
      error: { details: { reason: "locked" } },
    });
    expectStatus(await client.get(`/api/files/${ids.a}`), 200);
    expectStatus(await unlock(dav, "f/a.txt", token), 204);
    expect((await resolve()).at("data.results.0")).toMatchObject({ status: "resolved" });
    expectError(await client.get(`/api/files/${ids.a}`), 404);
  });

  test("a rewind reports the locked file as failed and undoes the rest", async () => {
    const { account, client, dav, ids } = await open();
    const { client: device, deviceId } = await registerDevice(server(), account);
    await waitForNextMillisecond();
    const since = new Date().toISOString();
    await waitForNextMillisecond();
    for (const [fileId, name] of [
      [ids.a, "A.txt"],
      [ids.b, "B.txt"],
    ]) {
      const localChanges = [{ localId: "1", action: "rename", fileId, name }];
      const response = await device.post("/api/mobile/sync/files", { localChanges });
      expect(response.at("data.results.0")).toMatchObject({ status: "applied" });
    }
    await lock(dav, "f/A.txt");
    const body = { since, currentPassword: account.password };
    for (const dryRun of [true, false]) {
      const response = await device.post(`/api/mobile/devices/${deviceId}/rewind`, { ...body, dryRun });
      expectStatus(response, 200);
      expect(response.at("data.failed")).toMatchObject([{ error: { details: { reason: "locked" } } }]);
    }
    expect(await client.names("/f")).toEqual(["sub", "A.txt"]);
    expect(await client.names("/f/sub")).toEqual(["b.txt"]);
  });
});

test("an upload by tus stays complete, and makes its file when the lock has ended", async () => {
  const { client, dav } = await open();
  const token = await lock(dav, "f");
  const path = await createTus(client, 3, { filename: "new.txt", folder: "/f" });
  expectError(await appendTus(client, path, 0, "new"), 409, "locked");
  expect(await client.names("/f")).toEqual(["sub", "a.txt"]);
  expectStatus(await unlock(dav, "f", token), 204);
  const response = await headTus(client, path);
  expectStatus(response, 200);
  expect(response.header("upload-offset")).toBe("3");
  expect(await client.names("/f")).toContain("new.txt");
});

test("guests of a drop box learn that they have to wait, and no ids", async () => {
  const { client, dav, ids } = await open();
  const created = await client.post(`/api/files/folders/${ids.f}/shares`, { permissions: "upload" });
  const path = `/api/public/${created.string("data.token")}/upload`;
  const send = () =>
    server().visitor.request("POST", path, {
      body: form([file("x.txt", "x"), field("sender", "Ana")]),
      headers: { "content-type": formType },
    });
  const token = await lock(dav, "f");
  const response = await send();
  expectError(response, 409, "locked");
  expect(response.text).not.toContain(ids.f);
  expect(await client.names("/f")).toEqual(["sub", "a.txt"]);
  expectStatus(await unlock(dav, "f", token), 204);
  expectStatus(await send(), 201);
});

test("recipients of a share learn no ids above it", async () => {
  const { account, client, dav, ids } = await open();
  const recipient = await server().signUp();
  const sub = (await client.get("/api/files?folder=/f")).list("data.files") as { id: string; type: string }[];
  const subId = sub.find(({ type }) => type === "folder")?.id ?? "";
  const share = await shareWith(account.client, subId, recipient, { permissions: "write" });
  await lock(dav, "f", { depth: "infinity" });
  const changed = await recipient.client.putContent(ids.b, "by the recipient");
  expectError(changed, 409, "locked");
  expect(changed.at("error.details.nodeId")).toBe(ids.b);
  const added = await recipient.client.upload("x", { name: "x.txt", fields: { share } });
  expectError(added, 409, "locked");
  expect(added.text).not.toContain(ids.f);
});

testAllResponses(server);
