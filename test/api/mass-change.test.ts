import { describe, expect, test } from "bun:test";
import { type Account, type ApiResponse, checksumOf } from "../support/client.ts";
import { eventually, expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice, type TestDevice } from "../support/mobile.ts";
import { sharedServer } from "../support/server.ts";

/** Five files, or a quarter of all, can be deleted; a further deletion is held. */
const server = sharedServer({
  hasAccounts: true,
  env: { LARDER_MASS_CHANGE_FILES: "5", LARDER_MASS_CHANGE_PERCENT: "25" },
});

interface Result {
  status: string;
  fileId?: string;
  error?: { details: { reason: string; holdId: string; declined?: boolean } };
}

interface AccountWithFiles {
  account: Account;
  device: TestDevice;
  ids: string[];
}

/** An account with some files and a phone. */
async function accountWithFiles(files: number): Promise<AccountWithFiles> {
  const account = await server().signUp();
  const device = await registerDevice(server(), account);
  const ids: string[] = [];
  for (let at = 0; at < files; at++) ids.push(await account.client.storedId(`content ${at}`, { name: `f${at}.txt` }));
  return { account, device, ids };
}

const remove = (fileId: string | undefined) => ({ action: "delete", localId: `l-${fileId}`, fileId });

async function send(device: TestDevice, localChanges: unknown[]): Promise<Result[]> {
  const response = await device.client.post("/api/mobile/sync/files", { localChanges });
  expectStatus(response, 200);
  return response.list("data.results") as Result[];
}

const reasons = (results: Result[]) => results.map(({ status, error }) => error?.details.reason ?? status);

function holdOf(results: Result[]): string {
  const result = results.find(({ error }) => error !== undefined);
  if (result?.error === undefined) throw new Error("no change was held");
  return result.error.details.holdId;
}

async function holds(setup: AccountWithFiles): Promise<unknown[]> {
  const { account, device } = setup;
  const [byDevice, byWeb] = await Promise.all([
    device.client.get(`/api/mobile/devices/${device.deviceId}/holds`),
    account.client.get("/api/users/holds"),
  ]);
  expectStatus(byDevice, 200);
  expect(byWeb.list("data.holds")).toEqual(byDevice.list("data.holds"));
  return byDevice.list("data.holds");
}

async function decide({ account }: AccountWithFiles, holdId: string, accept: boolean): Promise<ApiResponse> {
  return account.client.post(`/api/users/holds/${holdId}`, { accept });
}

describe("a device that deletes far more than usual", () => {
  test("is stopped, and its changes wait", async () => {
    const here = await accountWithFiles(10);
    const changes = here.ids.map(remove);
    const first = await send(here.device, changes);
    // Deletions up to the number used to be applied before the hold, and could not be declined any more.
    expect(reasons(first)).toEqual(Array(10).fill("confirmation_required"));
    const holdId = holdOf(first);
    expect(holdId).toMatch(/^hold_/);
    expect(new Set(first.map(({ error }) => error?.details.holdId))).toEqual(new Set([holdId]));
    expect(await holds(here)).toEqual([
      {
        holdId,
        deviceId: here.device.deviceId,
        changes: 10,
        since: expect.stringMatching(timestampPattern),
        expiresAt: expect.stringMatching(timestampPattern),
      },
    ]);
    expect(await send(here.device, changes)).toEqual(first);
    expect(((await holds(here))[0] as { changes: number }).changes).toBe(10);
    expect(await here.account.client.names()).toHaveLength(10);
  });

  test("is stopped for replacements too, but can add new files", async () => {
    const here = await accountWithFiles(8);
    await here.account.client.stored("stored first", { name: "source.txt", fields: { folder: "/s" } });
    const update = (fileId: string) => ({
      action: "update",
      localId: `l-${fileId}`,
      fileId,
      size: 12,
      checksum: checksumOf("stored first"),
    });
    const outcome = await send(here.device, [...here.ids.slice(0, 4).map(update), ...here.ids.slice(4).map(remove)]);
    expect(reasons(outcome)).toEqual(Array(8).fill("confirmation_required"));
    const [upload] = await send(here.device, [
      {
        action: "upload",
        localId: "n",
        name: "new.txt",
        folder: "/",
        size: 12,
        checksum: checksumOf("stored first"),
      },
    ]);
    expect(upload?.status).toBe("applied");
    expectStatus(await here.device.client.upload("entirely new", { name: "new2.txt" }), 201);
    expect(
      (await send(here.device, [{ action: "rename", localId: "r", fileId: here.ids[7], name: "r.txt" }]))[0]?.status,
    ).toBe("applied");
  });

  test("is not stopped below the percentage, nor because of changes by others", async () => {
    const here = await accountWithFiles(30);
    const other = await registerDevice(server(), here.account);
    expect(reasons(await send(here.device, here.ids.slice(0, 7).map(remove)))).toEqual(Array(7).fill("applied"));
    expect(reasons(await send(here.device, here.ids.slice(7, 8).map(remove)))).toEqual(["confirmation_required"]);
    expect(reasons(await send(other, here.ids.slice(8, 12).map(remove)))).toEqual(Array(4).fill("applied"));
    expectStatus(await here.account.client.delete(`/api/files/${here.ids[12]}`), 200);
  });

  test("stays stopped after a restart", async () => {
    const here = await accountWithFiles(8);
    expect(reasons(await send(here.device, here.ids.slice(0, 5).map(remove)))).toEqual(Array(5).fill("applied"));
    await server().restart();
    const results = await send(here.device, here.ids.slice(5).map(remove));
    expect(reasons(results)).toEqual(Array(3).fill("confirmation_required"));
    await server().restart();
    expect(await holds(here)).toHaveLength(1);
    expect(holdOf(await send(here.device, here.ids.slice(5).map(remove)))).toBe(holdOf(results));
  });

  test("causes one notification for each hold", async () => {
    const here = await accountWithFiles(9);
    const holdId = holdOf(await send(here.device, here.ids.map(remove)));
    await send(here.device, here.ids.map(remove));
    const inbox = await here.device.client.get("/api/mobile/notifications");
    const about = inbox.list("data.notifications").filter((message) => JSON.stringify(message).includes(holdId));
    expect(about).toHaveLength(1);
    expect(about[0]).toMatchObject({ category: "security" });
  });

  test("is stopped when it resolves its conflicts, too", async () => {
    // A device that chose its own side of every conflict bypassed the guard.
    const here = await accountWithFiles(10);
    for (const id of here.ids) expectStatus(await here.account.client.putContent(id ?? "", `newer ${id}`), 200);
    const stale = here.ids.map((id, at) => ({ ...remove(id), baseChecksum: checksumOf(`content ${at}`) }));
    expect(reasons(await send(here.device, stale))).toEqual(Array(10).fill("conflict"));
    const resolveAll = async (): Promise<ApiResponse> => {
      const open = (await here.device.client.get("/api/mobile/sync/status")).strings("data.conflicts", "conflictId");
      const conflicts = open.map((conflictId) => ({ conflictId, resolution: "keep_local" }));
      return here.device.client.post("/api/mobile/conflicts/resolve", { conflicts });
    };
    const outcomes = (await resolveAll()).list("data.results") as Result[];
    expect(reasons(outcomes)).toEqual([...Array(5).fill("resolved"), ...Array(5).fill("confirmation_required")]);
    expect(await here.account.client.names()).toHaveLength(5);
    expectStatus(await decide(here, holdOf(outcomes), true), 200);
    expect(await here.account.client.names()).toHaveLength(0);
    expect((await here.device.client.get("/api/mobile/sync/status")).list("data.conflicts")).toEqual([]);
  });

  test("has no holds after its removal", async () => {
    // The changes of a stolen phone could still be accepted long after its removal.
    const here = await accountWithFiles(8);
    const holdId = holdOf(await send(here.device, here.ids.map(remove)));
    const other = await registerDevice(server(), here.account);
    expectStatus(await other.client.delete(`/api/mobile/devices/${here.device.deviceId}`), 200);
    expect((await here.account.client.get("/api/users/holds")).list("data.holds")).toEqual([]);
    expectError(await decide(here, holdId, true), 404);
    expect(await here.account.client.names()).toHaveLength(8);
  });

  test("is stopped in its offline queue and its uploads, too", async () => {
    const here = await accountWithFiles(10);
    expect(reasons(await send(here.device, here.ids.slice(0, 5).map(remove)))).toEqual(Array(5).fill("applied"));
    const operation = { id: "q1", type: "delete", priority: "high", createdAt: "2026-01-02T03:04:05.678Z" };
    expectStatus(
      await here.device.client.post("/api/mobile/queue/add", { operations: [{ ...operation, fileId: here.ids[5] }] }),
      200,
    );
    // One request at a time: two concurrent responses may differ.
    await eventually("the deletion is held", async () => {
      const response = await here.account.client.get("/api/users/holds");
      return response.list("data.holds").length === 1;
    });
    const entry = { name: "f6.txt", size: 3, checksum: checksumOf("new"), folder: "/" };
    const files = [
      { ...entry, localId: "u1", fileId: here.ids[6], baseChecksum: checksumOf("content 6") },
      { ...entry, localId: "u2", name: "entirely-new.txt" },
    ];
    const init = await here.device.client.post("/api/mobile/upload/init", { files });
    expectStatus(init, 200);
    expect(init.text).toContain("confirmation_required");
    expect(init.text).toContain(holdOf(await send(here.device, [remove(here.ids[7])])));
    expectStatus(await here.account.client.get(`/api/files/${here.ids[5]}`), 200);
    const [hold] = (await holds(here)) as { holdId: string }[];
    expectStatus(await decide(here, hold?.holdId ?? "", true), 200);
    for (const at of [5, 7]) expectError(await here.account.client.get(`/api/files/${here.ids[at]}`), 404);
    expectStatus(await here.account.client.get(`/api/files/${here.ids[6]}`), 200);
  });
});

describe("a hold", () => {
  test("that is accepted is applied, and the device can continue", async () => {
    const here = await accountWithFiles(12);
    const results = await send(here.device, here.ids.slice(0, 8).map(remove));
    const holdId = holdOf(results);
    for (let times = 0; times < 2; times++) {
      const response = await decide(here, holdId, true);
      expectStatus(response, 200);
      expect([response.at("data.decision"), response.at("data.changes")]).toEqual(["accepted", 8]);
    }
    expect(await here.account.client.names()).toHaveLength(4);
    expect(await holds(here)).toEqual([]);
    expect(reasons(await send(here.device, here.ids.map(remove)))).toEqual(Array(12).fill("applied"));
    expect(await here.account.client.names()).toEqual([]);
    expectError(await decide(here, holdId, false), 409, "version_conflict");
  });

  test("that is accepted causes conflicts with later changes by others", async () => {
    const here = await accountWithFiles(8);
    const changes = here.ids.map((fileId, at) => ({ ...remove(fileId), baseChecksum: checksumOf(`content ${at}`) }));
    const results = await send(here.device, changes);
    expectStatus(await here.account.client.putContent(here.ids[6] ?? "", "changed since then"), 200);
    expectStatus(await decide(here, holdOf(results), true), 200);
    expect(await here.account.client.names()).toEqual(["f6.txt"]);
    const response = await here.device.client.post("/api/mobile/sync/files", { localChanges: [] });
    expect(response.strings("data.conflicts", "fileId")).toEqual([here.ids[6] ?? ""]);
  });

  test("that is declined is dropped, and the same changes are rejected again", async () => {
    const here = await accountWithFiles(8);
    const changes = here.ids.map(remove);
    const holdId = holdOf(await send(here.device, changes));
    const response = await here.device.client.post(`/api/mobile/devices/${here.device.deviceId}/holds/${holdId}`, {
      accept: false,
    });
    expect(response.at("data.decision")).toBe("declined");
    const again = await send(here.device, changes);
    expect(reasons(again)).toEqual(Array(8).fill("confirmation_required"));
    expect(again[7]?.error?.details).toMatchObject({ holdId, declined: true });
    expect(await here.account.client.names()).toHaveLength(8);
    expect(await holds(here)).toEqual([]);
  });

  test("that is declined applies to the same changes with other local ids", async () => {
    // Apps that use new local ids for each request created a new hold each time, and never got the decision.
    const here = await accountWithFiles(8);
    const holdId = holdOf(await send(here.device, here.ids.map(remove)));
    expectStatus(await decide(here, holdId, false), 200);
    const again = await send(
      here.device,
      here.ids.map((fileId, at) => ({ ...remove(fileId), localId: `other-${at}` })),
    );
    const declined = { reason: "confirmation_required", holdId, declined: true };
    expect(again.map(({ error }) => error?.details)).toEqual(again.map(() => declined));
    expect(await holds(here)).toEqual([]);
  });

  test("can be decided on any device of the account, and by nobody else", async () => {
    const here = await accountWithFiles(7);
    const holdId = holdOf(await send(here.device, here.ids.map(remove)));
    const other = await registerDevice(server(), here.account);
    const stranger = await accountWithFiles(0);
    const path = `/api/mobile/devices/${here.device.deviceId}/holds`;
    expectError(await stranger.device.client.get(path), 404, "not_found");
    expectError(await stranger.device.client.post(`${path}/${holdId}`, { accept: true }), 404, "not_found");
    expectError(await decide(stranger, holdId, true), 404, "not_found");
    expectError(await decide(here, "hold_none", true), 404, "not_found");
    expectError(
      await other.client.post(`/api/mobile/devices/${other.deviceId}/holds/${holdId}`, { accept: true }),
      404,
    );
    expectError(await here.account.client.get(path), 401);
    expectError(await server().visitor.get("/api/users/holds"), 401, "missing_token");
    const viewer = await server().addUser(["--role", "viewer"]);
    const viewing = await registerDevice(server(), viewer);
    expectError(await viewer.client.get("/api/users/holds"), 403, "role");
    expectError(await viewing.client.get(`/api/mobile/devices/${viewing.deviceId}/holds`), 403, "role");
    for (const body of [{}, { accept: "yes" }]) {
      expectError(await here.account.client.post(`/api/users/holds/${holdId}`, body), 400, "invalid_field");
    }
    expectStatus(await other.client.post(`${path}/${holdId}`, { accept: true }), 200);
    expect(await here.account.client.names()).toEqual([]);
  });
});

testAllResponses(server);
