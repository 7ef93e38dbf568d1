import { describe, expect, test } from "bun:test";
import { type Account, type ApiResponse, checksumOf } from "../support/client.ts";
import { expectError, expectStatus, waitForNextMillisecond } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice, type TestDevice } from "../support/mobile.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

interface Resolved {
  conflictId: string;
  status: string;
  fileId?: string;
  error?: { details: { reason: string; field?: string } };
}

/** An account, a phone, and a conflict about a file. */
interface ConflictSetup {
  account: Account;
  device: TestDevice;
  fileId: string;
  conflictId: string;
}

const mine = "what the phone wrote";
const theirs = "what the server has";

/** A conflict about an update that is based on older content. */
async function updateConflict(change: object = {}): Promise<ConflictSetup> {
  const account = await server().signUp();
  const device = await registerDevice(server(), account);
  const fileId = await account.client.storedId("the beginning", { name: "a.txt" });
  expectStatus(await account.client.putContent(fileId, theirs), 200);
  const conflictId = await conflictOf(device, {
    action: "update",
    localId: "l1",
    fileId,
    name: "a.txt",
    folder: "/",
    size: mine.length,
    checksum: checksumOf(mine),
    baseChecksum: checksumOf("the beginning"),
    ...change,
  });
  return { account, device, fileId, conflictId };
}

async function conflictOf(device: TestDevice, change: object): Promise<string> {
  const response = await device.client.post("/api/mobile/sync/files", { localChanges: [change] });
  expectStatus(response, 200);
  return response.string("data.results.0.conflictId");
}

async function resolve(device: TestDevice, ...conflicts: object[]): Promise<ApiResponse> {
  const response = await device.client.post("/api/mobile/conflicts/resolve", { conflicts });
  expectStatus(response, 200);
  return response;
}

async function resolved(device: TestDevice, conflict: object): Promise<Resolved> {
  const [result] = (await resolve(device, conflict)).list("data.results") as Resolved[];
  if (result === undefined) throw new Error("no result");
  return result;
}

/** Uploads a file like a phone: init, one chunk, complete. */
async function uploadAs(device: TestDevice, file: object): Promise<void> {
  const init = await device.client.post("/api/mobile/upload/init", { files: [file] });
  expectStatus(init, 200);
  const [plan] = init.list("data.files") as { uploadId: string; uploadUrl: string }[];
  const { pathname, search } = new URL(plan?.uploadUrl ?? "");
  const sent = await device.client.request("PUT", pathname + search, {
    body: mine,
    headers: { "content-type": "application/octet-stream" },
  });
  expectStatus(sent, 200);
  expectStatus(await device.client.post("/api/mobile/upload/complete", { uploadId: plan?.uploadId }), 200);
}

/** Repeats the update of {@link updateConflict}. */
async function sendAgain(device: TestDevice, fileId: string): Promise<ApiResponse> {
  const change = { action: "update", localId: "l1", fileId, name: "a.txt", folder: "/", size: mine.length };
  const digests = { checksum: checksumOf(mine), baseChecksum: checksumOf("the beginning") };
  const response = await device.client.post("/api/mobile/sync/files", { localChanges: [{ ...change, ...digests }] });
  expectStatus(response, 200);
  return response;
}

/** The ids of the device's open conflicts. */
async function openOf(device: TestDevice): Promise<string[]> {
  return (await device.client.post("/api/mobile/sync/files", { localChanges: [] })).strings(
    "data.conflicts",
    "conflictId",
  );
}

async function versionsOf(account: Account, fileId: string): Promise<[unknown, unknown]> {
  const record = await account.client.get(`/api/files/${fileId}`);
  return [record.at("data.version"), record.at("data.checksum")];
}

describe("a conflict that is resolved in the browser", () => {
  const decide = ({ account }: ConflictSetup, conflictId: string, resolution: string) =>
    account.client.post(`/api/users/conflicts/${conflictId}`, { resolution });

  test("is the one of the device, and ends for both", async () => {
    const here = await updateConflict();
    const listed = await here.account.client.get("/api/users/conflicts");
    expectStatus(listed, 200);
    expect(listed.strings("data.conflicts", "conflictId")).toEqual([here.conflictId]);
    const { conflictId, fileId } = here;
    const response = await decide(here, conflictId, "keep_remote");
    expectStatus(response, 200);
    expect(response.at("data")).toEqual({ conflictId, status: "resolved", fileId });
    expect(await openOf(here.device)).toEqual([]);
    expect((await here.account.client.get("/api/users/conflicts")).at("data.conflicts")).toEqual([]);
    expect(await versionsOf(here.account, fileId)).toEqual([2, checksumOf(theirs)]);
    expectError(await decide(here, conflictId, "keep_remote"), 404, "not_found");
  });

  test("with keep_local waits for the content of the device", async () => {
    const here = await updateConflict();
    const { account, device, conflictId, fileId } = here;
    expect((await decide(here, conflictId, "keep_local")).at("data.status")).toBe("upload_required");
    expect((await account.client.get("/api/users/conflicts")).at("data.conflicts.0.awaitsContent")).toBe(true);
    const file = { name: "a.txt", folder: "/", size: mine.length, mimeType: "text/plain", checksum: checksumOf(mine) };
    await uploadAs(device, { ...file, localId: "l1", fileId, baseChecksum: checksumOf(theirs) });
    expect((await account.client.get("/api/users/conflicts")).at("data.conflicts")).toEqual([]);
    expect(await versionsOf(account, fileId)).toEqual([3, checksumOf(mine)]);
  });

  test("is visible only to its account, and has two resolutions", async () => {
    const here = await updateConflict();
    const { client } = await server().signUp();
    expect((await client.get("/api/users/conflicts")).at("data.conflicts")).toEqual([]);
    expectError(
      await client.post(`/api/users/conflicts/${here.conflictId}`, { resolution: "keep_remote" }),
      404,
      "not_found",
    );
    expectError(await decide(here, here.conflictId, "keep_both"), 400, "invalid_field");
    expect(await openOf(here.device)).toEqual([here.conflictId]);
  });
});

describe("keep_remote", () => {
  test("drops the device's change, with the same response when it is repeated", async () => {
    const { account, device, fileId, conflictId } = await updateConflict();
    const request = { conflictId, resolution: "keep_remote", fileId };
    for (let times = 0; times < 2; times++) {
      expect(await resolved(device, request)).toEqual({ conflictId, status: "resolved", fileId });
    }
    expect(await openOf(device)).toEqual([]);
    expect(await versionsOf(account, fileId)).toEqual([2, checksumOf(theirs)]);
  });

  test("rejects the same change when it is repeated", async () => {
    const { device, fileId, conflictId } = await updateConflict();
    await resolve(device, { conflictId, resolution: "keep_remote" });
    const response = await device.client.post("/api/mobile/sync/files", {
      localChanges: [
        {
          action: "update",
          localId: "l1",
          fileId,
          name: "a.txt",
          folder: "/",
          size: mine.length,
          checksum: checksumOf(mine),
          baseChecksum: checksumOf("the beginning"),
        },
      ],
    });
    expect(response.at("data.results.0")).toMatchObject({ status: "rejected", fileId, conflictId });
    expect(response.at("data.results.0.error.details")).toMatchObject({ resolution: "keep_remote" });
    expect(await openOf(device)).toEqual([]);
  });

  test("can't be undone", async () => {
    const { device, conflictId } = await updateConflict();
    await resolve(device, { conflictId, resolution: "keep_remote" });
    const rejected = await resolved(device, { conflictId, resolution: "keep_local" });
    expect([rejected.status, rejected.error?.details.reason]).toEqual(["rejected", "version_conflict"]);
  });
});

describe("keep_local of a changed file", () => {
  test("makes existing content the next version, and the other content stays as a version", async () => {
    const { account, device, fileId, conflictId } = await updateConflict();
    await account.client.stored(mine, { name: "elsewhere.txt" });
    const result = await resolved(device, { conflictId, resolution: "keep_local" });
    expect(result).toEqual({ conflictId, status: "resolved", fileId });
    expect(await versionsOf(account, fileId)).toEqual([3, checksumOf(mine)]);
    expect(await openOf(device)).toEqual([]);
    expect(await resolved(device, { conflictId, resolution: "keep_local" })).toEqual(result);
    expect(await versionsOf(account, fileId)).toEqual([3, checksumOf(mine)]);
  });

  test("requires missing content, and ends when the device uploads it", async () => {
    const { account, device, fileId, conflictId } = await updateConflict();
    const request = {
      conflictId,
      resolution: "keep_local",
      localData: { name: "a.txt", modifiedAt: "2026-01-02T03:04:05Z" },
    };
    for (let times = 0; times < 2; times++) {
      expect(await resolved(device, request)).toEqual({ conflictId, status: "upload_required", fileId });
      expect(await openOf(device)).toEqual([conflictId]);
    }
    // Uploads by others do not end it.
    expectStatus(await account.client.putContent(fileId, "yet another"), 200);
    expect(await openOf(device)).toEqual([conflictId]);
    expectStatus(await device.client.putContent(fileId, mine), 200);
    expect(await openOf(device)).toEqual([]);
    expect(await versionsOf(account, fileId)).toEqual([4, checksumOf(mine)]);
    expect(await resolved(device, request)).toEqual({ conflictId, status: "resolved", fileId });
  });

  test("ends with a chunked upload that names the file and its base", async () => {
    const { account, device, fileId, conflictId } = await updateConflict();
    const needed = await resolved(device, { conflictId, resolution: "keep_local" });
    const file = { name: "a.txt", folder: "/", size: mine.length, checksum: checksumOf(mine), mimeType: "text/plain" };
    await uploadAs(device, { ...file, localId: "l1", fileId: needed.fileId, baseChecksum: checksumOf(theirs) });
    expect(await openOf(device)).toEqual([]);
    expect(await versionsOf(account, fileId)).toEqual([3, checksumOf(mine)]);
  });

  test("does not end when another file gets the content", async () => {
    // It ended, and the repeated change was applied with the id of the other file.
    const { account, device, fileId, conflictId } = await updateConflict();
    await resolve(device, { conflictId, resolution: "keep_local" });
    await device.client.stored(mine, { name: "elsewhere.txt" });
    expect(await openOf(device)).toEqual([conflictId]);
    expect((await sendAgain(device, fileId)).at("data.results.0")).toEqual({
      localId: "l1",
      status: "applied",
      fileId,
    });
    expect(await versionsOf(account, fileId)).toEqual([3, checksumOf(mine)]);
    expect(await openOf(device)).toEqual([]);
  });

  test("applies to the same change when it is repeated before the upload", async () => {
    // The change became an open conflict again, as if there were no decision.
    const { account, device, fileId, conflictId } = await updateConflict();
    await resolve(device, { conflictId, resolution: "keep_local" });
    for (let times = 0; times < 2; times++) {
      const response = await sendAgain(device, fileId);
      expect(response.at("data.results.0")).toEqual({ localId: "l1", status: "upload_required", fileId, conflictId });
      expect(response.at("data.conflicts.0")).toMatchObject({ conflictId, awaitsContent: true });
    }
    expectStatus(await device.client.putContent(fileId, mine), 200);
    expect((await sendAgain(device, fileId)).at("data.results.0")).toMatchObject({ status: "applied", fileId });
    expect(await versionsOf(account, fileId)).toEqual([3, checksumOf(mine)]);
  });

  test("requires zero bytes like any other content", async () => {
    const { device, fileId, conflictId } = await updateConflict({ size: 0, checksum: checksumOf("") });
    expect(await resolved(device, { conflictId, resolution: "keep_local" })).toMatchObject({
      status: "upload_required",
      fileId,
    });
  });

  test("renames or moves it like the device", async () => {
    const { account, device, fileId, conflictId } = await updateConflict({ action: "rename", name: "b.txt" });
    expect((await resolved(device, { conflictId, resolution: "keep_local" })).status).toBe("resolved");
    expect((await account.client.get(`/api/files/${fileId}`)).at("data.name")).toBe("b.txt");
    const moved = await updateConflict({ action: "move", folder: "/there" });
    await resolve(moved.device, { conflictId: moved.conflictId, resolution: "keep_local" });
    const record = await moved.account.client.get(`/api/files/${moved.fileId}`);
    expect([record.at("data.folder"), record.at("data.checksum")]).toEqual(["/there", checksumOf(theirs)]);
  });

  test("deletes it if the device deleted it, and keep_remote does not", async () => {
    const retained = await updateConflict({ action: "delete" });
    await resolve(retained.device, { conflictId: retained.conflictId, resolution: "keep_remote" });
    expectStatus(await retained.account.client.get(`/api/files/${retained.fileId}`), 200);
    const gone = await updateConflict({ action: "delete" });
    const result = await resolved(gone.device, { conflictId: gone.conflictId, resolution: "keep_local" });
    expect(result).toEqual({ conflictId: gone.conflictId, status: "resolved", fileId: gone.fileId });
    expectError(await gone.account.client.get(`/api/files/${gone.fileId}`), 404);
  });

  test("deletes newer content only after a second decision", async () => {
    // The user had not seen that content, and a deleted file has no versions.
    const { account, device, fileId, conflictId } = await updateConflict({ action: "delete" });
    await waitForNextMillisecond();
    expectStatus(await account.client.putContent(fileId, "even newer"), 200);
    const request = { conflictId, resolution: "keep_local" };
    const response = await resolve(device, request);
    expect(response.at("data.results.0")).toMatchObject({
      status: "rejected",
      error: { details: { reason: "version_conflict" } },
    });
    expect(response.at("data.conflicts.0")).toMatchObject({ remote: { checksum: checksumOf("even newer") } });
    expectStatus(await account.client.get(`/api/files/${fileId}`), 200);
    expect(await resolved(device, request)).toEqual({ conflictId, status: "resolved", fileId });
    expectError(await account.client.get(`/api/files/${fileId}`), 404);
  });
});

describe("keep_local of a deleted file", () => {
  async function deleted(): Promise<ConflictSetup> {
    const account = await server().signUp();
    const device = await registerDevice(server(), account);
    const fileId = await account.client.storedId("the beginning", { name: "a.txt", fields: { folder: "/docs" } });
    await account.client.delete(`/api/files/${fileId}`);
    const conflictId = await conflictOf(device, {
      action: "update",
      localId: "l1",
      fileId,
      name: "a.txt",
      folder: "/docs",
      size: mine.length,
      checksum: checksumOf(mine),
      baseChecksum: checksumOf("the beginning"),
    });
    return { account, device, fileId, conflictId };
  }

  test("creates it again from existing content", async () => {
    const { account, device, fileId, conflictId } = await deleted();
    await account.client.stored(mine, { name: "elsewhere.txt" });
    const result = await resolved(device, { conflictId, resolution: "keep_local" });
    expect(result).toEqual({ conflictId, status: "resolved", fileId: expect.any(String) });
    expect(result.fileId).not.toBe(fileId);
    const record = await account.client.get(`/api/files/${result.fileId}`);
    expect([record.at("data.folder"), record.at("data.name")]).toEqual(["/docs", "a.txt"]);
  });

  test("requires missing content, and ends when the device has uploaded it", async () => {
    const { device, conflictId } = await deleted();
    expect(await resolved(device, { conflictId, resolution: "keep_local" })).toEqual({
      conflictId,
      status: "upload_required",
    });
    await device.client.stored("something else", { name: "b.txt" });
    expect(await openOf(device)).toEqual([conflictId]);
    const fileId = await device.client.storedId(mine, { name: "a.txt", fields: { folder: "/docs" } });
    expect(await openOf(device)).toEqual([]);
    expect(await resolved(device, { conflictId, resolution: "keep_local" })).toEqual({
      conflictId,
      status: "resolved",
      fileId,
    });
  });

  test("creates it once, although it was both renamed and edited", async () => {
    // Each of the two resolutions created a file: "b.txt" and "b (1).txt" with the same content.
    const account = await server().signUp();
    const device = await registerDevice(server(), account);
    const fileId = await account.client.storedId("the beginning", { name: "a.txt" });
    await account.client.storedId(mine, { name: "copy.txt", fields: { folder: "/elsewhere" } });
    expectStatus(await account.client.delete(`/api/files/${fileId}`), 200);
    const file = { localId: "l", fileId, name: "b.txt", folder: "/", size: mine.length };
    const digests = { checksum: checksumOf(mine), baseChecksum: checksumOf("the beginning") };
    const conflicts = [
      await conflictOf(device, { action: "rename", ...file, ...digests }),
      await conflictOf(device, { action: "update", ...file, ...digests }),
    ];
    await resolve(device, ...conflicts.map((conflictId) => ({ conflictId, resolution: "keep_local" })));
    expect(await account.client.names("/", "&type=file")).toEqual(["b.txt"]);
  });

  test("has a remote side whose fields are null", async () => {
    // It was null itself, and clients that read remote.checksum failed.
    const { device, fileId } = await deleted();
    const response = await device.client.get("/api/mobile/sync/status");
    const nothing = { name: null, folder: null, size: null, checksum: null, modifiedAt: null, deviceId: null };
    expect(response.at("data.conflicts.0")).toMatchObject({ type: "deleted", remote: { fileId, ...nothing } });
  });

  test("uses the name of the file, even if it was deleted after the conflict was detected", async () => {
    // When it was repeated after the deletion, the change lost its name and folder, and the new file was called "file".
    const account = await server().signUp();
    const device = await registerDevice(server(), account);
    const fileId = await account.client.storedId("the beginning", { name: "a.txt", fields: { folder: "/docs" } });
    expectStatus(await account.client.putContent(fileId, theirs), 200);
    await account.client.stored(mine, { name: "elsewhere.txt" });
    const digests = { checksum: checksumOf(mine), baseChecksum: checksumOf("the beginning") };
    const change = { action: "update", localId: "l1", fileId, size: mine.length, ...digests };
    const conflictId = await conflictOf(device, change);
    expectStatus(await account.client.delete(`/api/files/${fileId}`), 200);
    const status = await device.client.get("/api/mobile/sync/status");
    expect(status.at("data.conflicts.0")).toMatchObject({ conflictId, type: "deleted", remote: { checksum: null } });
    expect(await conflictOf(device, change)).toBe(conflictId);
    const local = { name: "a.txt", folder: "/docs" };
    expect((await device.client.get("/api/mobile/sync/status")).at("data.conflicts.0")).toMatchObject({ local });
    expect((await resolved(device, { conflictId, resolution: "keep_local" })).status).toBe("resolved");
    expect(await account.client.names("/docs")).toEqual(["a.txt"]);
  });

  test("is dropped by keep_remote", async () => {
    const { account, device, conflictId } = await deleted();
    expect(await resolved(device, { conflictId, resolution: "keep_remote" })).toEqual({
      conflictId,
      status: "resolved",
    });
    expect(await account.client.names("/docs")).toEqual([]);
  });
});

describe("a taken name", () => {
  async function nameConflict(): Promise<ConflictSetup> {
    const account = await server().signUp();
    const device = await registerDevice(server(), account);
    const fileId = await account.client.storedId(theirs, { name: "a.txt" });
    await account.client.stored(mine, { name: "stored.txt", fields: { folder: "/aside" } });
    const conflictId = await conflictOf(device, {
      action: "upload",
      localId: "l1",
      name: "a.txt",
      folder: "/",
      size: mine.length,
      checksum: checksumOf(mine),
    });
    return { account, device, fileId, conflictId };
  }

  test("keep_local makes the local file the next version of the other", async () => {
    const { account, device, fileId, conflictId } = await nameConflict();
    const result = await resolved(device, { conflictId, resolution: "keep_local", localData: { name: "a.txt" } });
    expect(result).toEqual({ conflictId, status: "resolved", fileId });
    expect(await versionsOf(account, fileId)).toEqual([2, checksumOf(mine)]);
  });

  test("keep_local with another name keeps both files", async () => {
    const { account, device, fileId, conflictId } = await nameConflict();
    const result = await resolved(device, {
      conflictId,
      resolution: "keep_local",
      localData: { name: "a (phone).txt" },
    });
    expect(result.status).toBe("resolved");
    expect(result.fileId).not.toBe(fileId);
    expect(await account.client.names()).toEqual(["aside", "a (phone).txt", "a.txt"]);
    expect(await versionsOf(account, fileId)).toEqual([1, checksumOf(theirs)]);
  });

  test("keep_remote rejects the upload while the other file exists", async () => {
    // After the other file was deleted, the photo was rejected for another month.
    const { account, device, fileId, conflictId } = await nameConflict();
    await resolve(device, { conflictId, resolution: "keep_remote" });
    const change = { action: "upload", localId: "l1", name: "a.txt", folder: "/" };
    const body = { localChanges: [{ ...change, size: mine.length, checksum: checksumOf(mine) }] };
    const rejected = await device.client.post("/api/mobile/sync/files", body);
    expect(rejected.at("data.results.0")).toMatchObject({ status: "rejected", conflictId });
    expectStatus(await account.client.delete(`/api/files/${fileId}`), 200);
    const accepted = await device.client.post("/api/mobile/sync/files", body);
    expect(accepted.at("data.results.0")).toMatchObject({ status: "applied" });
  });

  test("of two local files is a conflict of each", async () => {
    // The second conflict replaced the first one, whose local file was never stored.
    const { account, device, fileId, conflictId } = await nameConflict();
    const second = await conflictOf(device, {
      action: "upload",
      localId: "l2",
      name: "a.txt",
      folder: "/",
      size: 5,
      checksum: checksumOf("other"),
    });
    expect(second).not.toBe(conflictId);
    expect(await openOf(device)).toEqual([conflictId, second]);
    const localData = { name: "a (phone).txt" };
    await resolve(device, { conflictId, resolution: "keep_local", localData });
    await device.client.stored("other", { name: "stored too.txt" });
    await resolve(device, { conflictId: second, resolution: "keep_local", localData: { name: "a (two).txt" } });
    expect((await account.client.names()).sort()).toEqual(
      ["a (phone).txt", "a (two).txt", "a.txt", "aside", "stored too.txt"].sort(),
    );
    expect(await versionsOf(account, fileId)).toEqual([1, checksumOf(theirs)]);
  });

  test("stays a conflict if the device deletes the other file in the same call", async () => {
    // The deletion ended it, and the phone took its new file for stored, which it was not.
    const account = await server().signUp();
    const device = await registerDevice(server(), account);
    const fileId = await account.client.storedId(theirs, { name: "plan.txt" });
    const upload = { action: "upload", localId: "n", name: "plan.txt", folder: "/", size: mine.length };
    const response = await device.client.post("/api/mobile/sync/files", {
      localChanges: [
        { ...upload, checksum: checksumOf(mine) },
        { action: "delete", localId: "d", fileId, baseChecksum: checksumOf(theirs) },
      ],
    });
    expect(response.strings("data.results", "status")).toEqual(["conflict", "applied"]);
    const conflictId = response.string("data.results.0.conflictId");
    expect(await openOf(device)).toEqual([conflictId]);
    expect(await resolved(device, { conflictId, resolution: "keep_local" })).toEqual({
      conflictId,
      status: "upload_required",
    });
  });

  test("of a rename is numbered by keep_local", async () => {
    const account = await server().signUp();
    const device = await registerDevice(server(), account);
    await account.client.stored("1", { name: "a.txt" });
    const fileId = await account.client.storedId("2", { name: "b.txt" });
    const conflictId = await conflictOf(device, { action: "rename", localId: "l1", fileId, name: "a.txt" });
    expect(await resolved(device, { conflictId, resolution: "keep_local" })).toMatchObject({
      status: "resolved",
      fileId,
    });
    expect(await account.client.names()).toEqual(["a (1).txt", "a.txt"]);
  });

  test("that is free again causes no conflict when the change is repeated", async () => {
    const { account, device, fileId } = await nameConflict();
    await account.client.put(`/api/files/${fileId}`, { name: "z.txt" });
    const response = await device.client.post("/api/mobile/sync/files", {
      localChanges: [
        { action: "upload", localId: "l1", name: "a.txt", folder: "/", size: mine.length, checksum: checksumOf(mine) },
      ],
    });
    expect(response.at("data.results.0.status")).toBe("applied");
    expect(response.list("data.conflicts")).toEqual([]);
  });
});

describe("conflicts/resolve", () => {
  test("resolves each conflict separately, and only the device's own ones", async () => {
    const { account, device, fileId, conflictId } = await updateConflict();
    const other = await registerDevice(server(), account);
    const foreign = await updateConflict();
    expect(await openOf(other)).toEqual([]);
    const response = await resolve(
      device,
      { conflictId: "cfl_none", resolution: "keep_remote" },
      { conflictId: foreign.conflictId, resolution: "keep_local" },
      { conflictId, resolution: "keep_local", localData: { name: "no/name" } },
      { conflictId, resolution: "keep_remote", fileId: "file_other" },
      { conflictId, resolution: "keep_remote", fileId },
    );
    const outcomes = response.list("data.results") as Resolved[];
    expect(outcomes.map(({ status, error }) => [status, error?.details.reason])).toEqual([
      ["rejected", "not_found"],
      ["rejected", "not_found"],
      ["rejected", "invalid_path"],
      ["rejected", "invalid_field"],
      ["resolved", undefined],
    ]);
    expect(response.list("data.conflicts")).toEqual([]);
    const byOther = await resolved(other, { conflictId, resolution: "keep_remote" });
    expect(byOther.error?.details.reason).toBe("not_found");
    expect(await openOf(foreign.device)).toEqual([foreign.conflictId]);
  });

  test("keeps one conflict of a file, with its latest change", async () => {
    const { device, fileId, conflictId } = await updateConflict();
    const later = await conflictOf(device, {
      action: "update",
      localId: "l1",
      fileId,
      size: 5,
      checksum: checksumOf("later"),
      baseChecksum: checksumOf("the beginning"),
    });
    expect(later).toBe(conflictId);
    const response = await device.client.post("/api/mobile/sync/files", { localChanges: [] });
    expect(response.list("data.conflicts")).toHaveLength(1);
    expect(response.at("data.conflicts.0.local.checksum")).toBe(checksumOf("later"));
  });

  test("is not needed after the device has made the same change successfully", async () => {
    const { account, device, fileId, conflictId } = await updateConflict({ action: "delete" });
    const response = await device.client.post("/api/mobile/sync/files", {
      localChanges: [{ action: "delete", localId: "l1", fileId, baseChecksum: checksumOf(theirs) }],
    });
    expect(response.at("data.results.0.status")).toBe("applied");
    expect(response.list("data.conflicts")).toEqual([]);
    expectError(await account.client.get(`/api/files/${fileId}`), 404);
    expect(await resolved(device, { conflictId, resolution: "keep_local" })).toMatchObject({ status: "resolved" });
  });

  test("finds no conflicts of a removed device", async () => {
    // A newly installed app listed conflicts about unknown files.
    const { account, device } = await updateConflict();
    expectStatus(await account.client.delete(`/api/mobile/devices/${device.deviceId}`), 401);
    const other = await registerDevice(server(), account);
    expectStatus(await other.client.delete(`/api/mobile/devices/${device.deviceId}`), 200);
    expect(await openOf(await registerDevice(server(), account, device.deviceId))).toEqual([]);
  });

  test("removes the conflict from sync/status", async () => {
    const { device, conflictId } = await updateConflict();
    const status = await device.client.get("/api/mobile/sync/status");
    expect(status.strings("data.conflicts", "conflictId")).toEqual([conflictId]);
    await resolve(device, { conflictId, resolution: "keep_remote" });
    expect((await device.client.get("/api/mobile/sync/status")).list("data.conflicts")).toEqual([]);
  });

  test("is only for devices of accounts that can write, and rejects invalid requests", async () => {
    const { account, device, conflictId } = await updateConflict();
    const path = "/api/mobile/conflicts/resolve";
    const body = { conflicts: [{ conflictId, resolution: "keep_remote" }] };
    expectError(await server().visitor.post(path, body), 401, "missing_token");
    expectError(await account.client.post(path, body), 401);
    const viewer = await registerDevice(server(), await server().addUser(["--role", "viewer"]));
    expectError(await viewer.client.post(path, body), 403, "role");
    for (const bad of [
      {},
      { conflicts: [] },
      { conflicts: [{ conflictId }] },
      { conflicts: [{ conflictId, resolution: "both" }] },
    ]) {
      expectError(await device.client.post(path, bad), 400, "invalid_field");
    }
    const many = { conflicts: Array(1001).fill(body.conflicts[0]) };
    expectError(await device.client.post(path, many), 400, "invalid_field");
    expect(await openOf(device)).toEqual([conflictId]);
  });
});

testAllResponses(server);
