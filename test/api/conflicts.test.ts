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

/** An account, a phone, and a file on which both sides differ. */
interface Quarrel {
  account: Account;
  device: TestDevice;
  fileId: string;
  conflictId: string;
}

const mine = "what the phone wrote";
const theirs = "what the server has";

/** A conflict over an update from an older content. */
async function quarrel(change: object = {}): Promise<Quarrel> {
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

/** Sends a file as phones do: init, its bytes, complete. */
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

/** The update of {@link quarrel} once more. */
async function sendAgain(device: TestDevice, fileId: string): Promise<ApiResponse> {
  const change = { action: "update", localId: "l1", fileId, name: "a.txt", folder: "/", size: mine.length };
  const digests = { checksum: checksumOf(mine), baseChecksum: checksumOf("the beginning") };
  const response = await device.client.post("/api/mobile/sync/files", { localChanges: [{ ...change, ...digests }] });
  expectStatus(response, 200);
  return response;
}

/** Ids of the conflicts that a device still has. */
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

describe("a conflict that is decided on the web", () => {
  const decide = ({ account }: Quarrel, conflictId: string, resolution: string) =>
    account.client.post(`/api/users/conflicts/${conflictId}`, { resolution });

  test("is the one that the device sees, and ends for both", async () => {
    const here = await quarrel();
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

  test("for the device's side waits for its content", async () => {
    const here = await quarrel();
    const { account, device, conflictId, fileId } = here;
    expect((await decide(here, conflictId, "keep_local")).at("data.status")).toBe("upload_required");
    expect((await account.client.get("/api/users/conflicts")).at("data.conflicts.0.awaitsContent")).toBe(true);
    const file = { name: "a.txt", folder: "/", size: mine.length, mimeType: "text/plain", checksum: checksumOf(mine) };
    await uploadAs(device, { ...file, localId: "l1", fileId, baseChecksum: checksumOf(theirs) });
    expect((await account.client.get("/api/users/conflicts")).at("data.conflicts")).toEqual([]);
    expect(await versionsOf(account, fileId)).toEqual([3, checksumOf(mine)]);
  });

  test("is one's own, and has two sides", async () => {
    const here = await quarrel();
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
  test("drops the device's change, and says so again when asked again", async () => {
    const { account, device, fileId, conflictId } = await quarrel();
    const request = { conflictId, resolution: "keep_remote", fileId };
    for (let times = 0; times < 2; times++) {
      expect(await resolved(device, request)).toEqual({ conflictId, status: "resolved", fileId });
    }
    expect(await openOf(device)).toEqual([]);
    expect(await versionsOf(account, fileId)).toEqual([2, checksumOf(theirs)]);
  });

  test("is what the same change is told when it is sent again", async () => {
    const { device, fileId, conflictId } = await quarrel();
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

  test("can't be taken back", async () => {
    const { device, conflictId } = await quarrel();
    await resolve(device, { conflictId, resolution: "keep_remote" });
    const refused = await resolved(device, { conflictId, resolution: "keep_local" });
    expect([refused.status, refused.error?.details.reason]).toEqual(["rejected", "version_conflict"]);
  });
});

describe("keep_local of a changed file", () => {
  test("makes the held content the next version; the other side stays as one", async () => {
    const { account, device, fileId, conflictId } = await quarrel();
    await account.client.stored(mine, { name: "elsewhere.txt" });
    const result = await resolved(device, { conflictId, resolution: "keep_local" });
    expect(result).toEqual({ conflictId, status: "resolved", fileId });
    expect(await versionsOf(account, fileId)).toEqual([3, checksumOf(mine)]);
    expect(await openOf(device)).toEqual([]);
    expect(await resolved(device, { conflictId, resolution: "keep_local" })).toEqual(result);
    expect(await versionsOf(account, fileId)).toEqual([3, checksumOf(mine)]);
  });

  test("asks for the content where it is not held, and ends when the device sends it", async () => {
    const { account, device, fileId, conflictId } = await quarrel();
    const request = {
      conflictId,
      resolution: "keep_local",
      localData: { name: "a.txt", modifiedAt: "2026-01-02T03:04:05Z" },
    };
    for (let times = 0; times < 2; times++) {
      expect(await resolved(device, request)).toEqual({ conflictId, status: "upload_required", fileId });
      expect(await openOf(device)).toEqual([conflictId]);
    }
    // What others send ends nothing.
    expectStatus(await account.client.putContent(fileId, "yet another"), 200);
    expect(await openOf(device)).toEqual([conflictId]);
    expectStatus(await device.client.putContent(fileId, mine), 200);
    expect(await openOf(device)).toEqual([]);
    expect(await versionsOf(account, fileId)).toEqual([4, checksumOf(mine)]);
    expect(await resolved(device, request)).toEqual({ conflictId, status: "resolved", fileId });
  });

  test("ends by an upload in chunks that names the file and its base", async () => {
    const { account, device, fileId, conflictId } = await quarrel();
    const needed = await resolved(device, { conflictId, resolution: "keep_local" });
    const file = { name: "a.txt", folder: "/", size: mine.length, checksum: checksumOf(mine), mimeType: "text/plain" };
    await uploadAs(device, { ...file, localId: "l1", fileId: needed.fileId, baseChecksum: checksumOf(theirs) });
    expect(await openOf(device)).toEqual([]);
    expect(await versionsOf(account, fileId)).toEqual([3, checksumOf(mine)]);
  });

  test("does not end by the same bytes in another file: the file itself has them not yet", async () => {
    // It ended, and the change sent again was told applied with the other file's id.
    const { account, device, fileId, conflictId } = await quarrel();
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

  test("is what the same change meets when it is sent again before its content", async () => {
    // It became an open conflict again, as if nothing had been decided.
    const { account, device, fileId, conflictId } = await quarrel();
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

  test("that was zero bytes asks for them like for any others", async () => {
    const { device, fileId, conflictId } = await quarrel({ size: 0, checksum: checksumOf("") });
    expect(await resolved(device, { conflictId, resolution: "keep_local" })).toMatchObject({
      status: "upload_required",
      fileId,
    });
  });

  test("renames or moves it as the device wanted", async () => {
    const { account, device, fileId, conflictId } = await quarrel({ action: "rename", name: "b.txt" });
    expect((await resolved(device, { conflictId, resolution: "keep_local" })).status).toBe("resolved");
    expect((await account.client.get(`/api/files/${fileId}`)).at("data.name")).toBe("b.txt");
    const moved = await quarrel({ action: "move", folder: "/there" });
    await resolve(moved.device, { conflictId: moved.conflictId, resolution: "keep_local" });
    const record = await moved.account.client.get(`/api/files/${moved.fileId}`);
    expect([record.at("data.folder"), record.at("data.checksum")]).toEqual(["/there", checksumOf(theirs)]);
  });

  test("deletes it where the device had deleted it; keep_remote leaves it", async () => {
    const kept = await quarrel({ action: "delete" });
    await resolve(kept.device, { conflictId: kept.conflictId, resolution: "keep_remote" });
    expectStatus(await kept.account.client.get(`/api/files/${kept.fileId}`), 200);
    const gone = await quarrel({ action: "delete" });
    const result = await resolved(gone.device, { conflictId: gone.conflictId, resolution: "keep_local" });
    expect(result).toEqual({ conflictId: gone.conflictId, status: "resolved", fileId: gone.fileId });
    expectError(await gone.account.client.get(`/api/files/${gone.fileId}`), 404);
  });

  test("does not delete a content that came after the conflict was found, unless told so again", async () => {
    // Nobody who chose to delete had seen it, and no version of a deleted file is left.
    const { account, device, fileId, conflictId } = await quarrel({ action: "delete" });
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
  async function deleted(): Promise<Quarrel> {
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

  test("makes it again from a held content", async () => {
    const { account, device, fileId, conflictId } = await deleted();
    await account.client.stored(mine, { name: "elsewhere.txt" });
    const result = await resolved(device, { conflictId, resolution: "keep_local" });
    expect(result).toEqual({ conflictId, status: "resolved", fileId: expect.any(String) });
    expect(result.fileId).not.toBe(fileId);
    const record = await account.client.get(`/api/files/${result.fileId}`);
    expect([record.at("data.folder"), record.at("data.name")]).toEqual(["/docs", "a.txt"]);
  });

  test("asks for the content else, and ends when the device has uploaded it", async () => {
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

  test("is made once, though it was both renamed and edited", async () => {
    // Each of the two resolutions made a file of its own, "b.txt" and "b (1).txt" with the same bytes.
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

  test("shows a remote side whose fields are null", async () => {
    // It was null itself, and clients that read remote.checksum fell over it.
    const { device, fileId } = await deleted();
    const response = await device.client.get("/api/mobile/sync/status");
    const nothing = { name: null, folder: null, size: null, checksum: null, modifiedAt: null, deviceId: null };
    expect(response.at("data.conflicts.0")).toMatchObject({ type: "deleted", remote: { fileId, ...nothing } });
  });

  test("that was only changed when it was found keeps the name it had", async () => {
    // Sent again after the deletion, the change lost name and folder, and the file was made anew as "file".
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
  async function clash(): Promise<Quarrel> {
    const account = await server().signUp();
    const device = await registerDevice(server(), account);
    const fileId = await account.client.storedId(theirs, { name: "a.txt" });
    await account.client.stored(mine, { name: "held.txt", fields: { folder: "/aside" } });
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
    const { account, device, fileId, conflictId } = await clash();
    const result = await resolved(device, { conflictId, resolution: "keep_local", localData: { name: "a.txt" } });
    expect(result).toEqual({ conflictId, status: "resolved", fileId });
    expect(await versionsOf(account, fileId)).toEqual([2, checksumOf(mine)]);
  });

  test("keep_local under another name keeps both", async () => {
    const { account, device, fileId, conflictId } = await clash();
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

  test("is dropped by keep_remote for as long as the other file is there", async () => {
    // A photo that was nowhere on the server any more was refused for a month.
    const { account, device, fileId, conflictId } = await clash();
    await resolve(device, { conflictId, resolution: "keep_remote" });
    const change = { action: "upload", localId: "l1", name: "a.txt", folder: "/" };
    const body = { localChanges: [{ ...change, size: mine.length, checksum: checksumOf(mine) }] };
    const refused = await device.client.post("/api/mobile/sync/files", body);
    expect(refused.at("data.results.0")).toMatchObject({ status: "rejected", conflictId });
    expectStatus(await account.client.delete(`/api/files/${fileId}`), 200);
    const taken = await device.client.post("/api/mobile/sync/files", body);
    expect(taken.at("data.results.0")).toMatchObject({ status: "applied" });
  });

  test("by two local files is a conflict of each", async () => {
    // The second took the place of the first, whose local file was never resolved.
    const { account, device, fileId, conflictId } = await clash();
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
    await device.client.stored("other", { name: "held too.txt" });
    await resolve(device, { conflictId: second, resolution: "keep_local", localData: { name: "a (two).txt" } });
    expect((await account.client.names()).sort()).toEqual(
      ["a (phone).txt", "a (two).txt", "a.txt", "aside", "held too.txt"].sort(),
    );
    expect(await versionsOf(account, fileId)).toEqual([1, checksumOf(theirs)]);
  });

  test("stays to be resolved where the device deletes the other file in the same call", async () => {
    // The deletion ended it, and the phone was told that its new file was safe, which was stored nowhere.
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

  test("met by a rename is numbered", async () => {
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

  test("that became free is no conflict any more when the change is sent again", async () => {
    const { account, device, fileId } = await clash();
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
  test("does each by itself, and knows no conflicts but the device's own", async () => {
    const { account, device, fileId, conflictId } = await quarrel();
    const other = await registerDevice(server(), account);
    const foreign = await quarrel();
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

  test("a later change of the same file takes the place of the earlier one", async () => {
    const { device, fileId, conflictId } = await quarrel();
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

  test("a conflict ends when the device does the like after all", async () => {
    const { account, device, fileId, conflictId } = await quarrel({ action: "delete" });
    const response = await device.client.post("/api/mobile/sync/files", {
      localChanges: [{ action: "delete", localId: "l1", fileId, baseChecksum: checksumOf(theirs) }],
    });
    expect(response.at("data.results.0.status")).toBe("applied");
    expect(response.list("data.conflicts")).toEqual([]);
    expectError(await account.client.get(`/api/files/${fileId}`), 404);
    expect(await resolved(device, { conflictId, resolution: "keep_local" })).toMatchObject({ status: "resolved" });
  });

  test("go with their device when it is removed", async () => {
    // An app that was set up anew was shown conflicts about files of which it knew nothing.
    const { account, device } = await quarrel();
    expectStatus(await account.client.delete(`/api/mobile/devices/${device.deviceId}`), 401);
    const other = await registerDevice(server(), account);
    expectStatus(await other.client.delete(`/api/mobile/devices/${device.deviceId}`), 200);
    expect(await openOf(await registerDevice(server(), account, device.deviceId))).toEqual([]);
  });

  test("is shown by sync/status until it is resolved", async () => {
    const { device, conflictId } = await quarrel();
    const status = await device.client.get("/api/mobile/sync/status");
    expect(status.strings("data.conflicts", "conflictId")).toEqual([conflictId]);
    await resolve(device, { conflictId, resolution: "keep_remote" });
    expect((await device.client.get("/api/mobile/sync/status")).list("data.conflicts")).toEqual([]);
  });

  test("is for devices of accounts that may write, and refuses what makes no sense", async () => {
    const { account, device, conflictId } = await quarrel();
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
