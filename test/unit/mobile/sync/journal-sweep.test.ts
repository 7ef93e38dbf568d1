import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../../src/config/load.ts";
import type { SyncRequest } from "../../../../src/features/mobile/sync/service.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { openServices, type Services } from "../../../../src/server/composition/services.ts";
import { timetable } from "../../../../src/server/composition/timetable.ts";
import { blobOf, GivenClock } from "../../tree/support.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

let directory: string;
let services: Services;
let clock: GivenClock;
let accountId: number;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "larder-journal-"));
  clock = new GivenClock();
  const loaded = loadConfig({ flags: { data: join(directory, "data") }, environment: {} });
  services = await openServices(loaded, silentLog, clock);
  const person = { email: "a@example.com", name: "A", password: "correct horse battery" };
  accountId = (await services.users.add({ ...person, plan: "free", role: "user" })).id;
});
afterEach(async () => {
  await services.close();
  rmSync(directory, { recursive: true });
});

async function sweep(): Promise<string | void> {
  const job = timetable(services).find(({ name }) => name === "journal");
  const { signal } = new AbortController();
  return job?.run({ signal, cursor: null, setCursor: async () => {}, arguments: undefined });
}

/** Reads all pages. @returns names and ids in order, and the last token */
async function read(from: Partial<Pick<SyncRequest, "syncToken" | "lastSyncMs">> = {}, limit = 2) {
  const changes: string[] = [];
  for (let request = { syncToken: undefined, lastSyncMs: undefined, ...from }; ; ) {
    const response = await services.sync.changes({ accountId, deviceId: 0, limit, wantsFolders: false, ...request });
    if (response.mustReset) return { changes: "reset", token: response.nextSyncToken };
    for (const entry of response.entries) {
      changes.push(`${entry.change} ${entry.change === "deleted" ? entry.publicId : entry.node.name}`);
    }
    if (!response.hasMore) return { changes: changes.join(", "), token: response.nextSyncToken };
    request = { syncToken: response.nextSyncToken, lastSyncMs: undefined };
  }
}

async function addFile(name: string, text = name): Promise<string> {
  const file = { accountId, createdBy: accountId, folderPath: "/", mediaType: "text/plain", tags: [], metadata: {} };
  const rest = { isPublic: false, onConflict: "version", quotaBytes: null, blob: blobOf(text), name } as const;
  return (await services.writer.run((tx) => services.treeWriter.createFile(tx, { ...file, ...rest }))).file.publicId;
}

async function deleteFile(publicId: string): Promise<void> {
  await services.writer.run((tx) => services.treeWriter.deleteFile(tx, { accountId, publicId }));
}

const count = (table: string) =>
  services.db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n;

test("deletions more than 90 days ago are removed, and a reader from before has to start again", async () => {
  const gone = await addFile("gone");
  await addFile("kept");
  const old = await read();
  await deleteFile(gone);
  const fresh = await read({ syncToken: old.token });
  expect(fresh.changes).toBe(`deleted ${gone}`);
  const lastSyncMs = clock.nowMs();
  clock.advance(90 * DAY_MS);
  await sweep();
  expect((await read({ syncToken: old.token })).changes).toBe(`deleted ${gone}`);
  clock.advance(DAY_MS);
  await sweep();
  expect([services.tree.floorSeq(accountId), count("tombstones")]).toEqual([3, 0]);
  const rejected = await read({ syncToken: old.token });
  expect([rejected.changes, (await read({ lastSyncMs: lastSyncMs })).changes]).toEqual(["reset", "reset"]);
  expect((await read({ syncToken: rejected.token })).changes).toBe("created kept");
  expect((await read()).changes).toBe("created kept");
  expect((await read({ syncToken: fresh.token })).changes).toBe("");
  await addFile("new");
  expect((await read({ syncToken: fresh.token })).changes).toBe("created new");
});

test("superseded rows are removed without an effect on readers", async () => {
  for (let index = 0; index < 20; index++) await addFile(`file ${index % 3}`, `content ${index}`);
  const whole = (await read()).changes;
  expect(count("journal")).toBeGreaterThanOrEqual(20);
  clock.advance(91 * DAY_MS);
  await sweep();
  expect(count("journal")).toBe(3);
  expect((await read()).changes).toBe(whole);
  // No deletion was removed, so no reader has to start again.
  expect(services.tree.floorSeq(accountId)).toBe(0);
});

test("a reader that stopped between two pages has to start again if later deletions were removed", async () => {
  // The check used the head at the beginning of the run, which is after those deletions.
  const gone = await addFile("gone");
  const { token } = await read();
  await addFile("a");
  await addFile("b");
  await deleteFile(gone);
  await addFile("c");
  const request = { accountId, deviceId: 0, lastSyncMs: undefined, limit: 1, wantsFolders: false };
  const page = await services.sync.changes({ ...request, syncToken: token });
  expect([page.hasMore, page.entries.length]).toEqual([true, 1]);
  clock.advance(91 * DAY_MS);
  await sweep();
  expect((await read({ syncToken: page.nextSyncToken })).changes).toBe("reset");
});

test("a reader that began without a token continues if only deletions from before it began were removed", async () => {
  await deleteFile(await addFile("gone"));
  await addFile("a");
  await addFile("b");
  const request = {
    accountId,
    deviceId: 0,
    syncToken: undefined,
    lastSyncMs: undefined,
    limit: 1,
    wantsFolders: false,
  };
  const page = await services.sync.changes(request);
  clock.advance(91 * DAY_MS);
  await sweep();
  expect((await read({ syncToken: page.nextSyncToken })).changes).toBe("created b");
});

test("a large account is swept in steps, to its end", async () => {
  for (let index = 0; index < 1_050; index++) await addFile("same", `content ${index}`);
  clock.advance(91 * DAY_MS);
  expect(await sweep()).toBe("3 steps");
  expect(count("journal")).toBe(1);
}, 120_000);

test("a large copy in progress does not count as a deletion to wait for", async () => {
  // While the copy was in progress, each request waited a second and returned hasMore.
  const { treeWriter, writer, tree } = services;
  const folder = await writer.run((tx) => treeWriter.ensureFolder(tx, accountId, "/from"));
  for (let index = 0; index < 120; index++) {
    const publicId = await addFile(`${index}`);
    await writer.run((tx) => treeWriter.move(tx, { accountId, publicId }, "/from"));
  }
  const options = { onConflict: "rename", preserveMetadata: true, createdBy: accountId, quotaBytes: null } as const;
  const copying = treeWriter.copyLarge(writer, folder, "/to", options);
  const staged = () => count("nodes WHERE parent_id IS NULL AND name <> '/'");
  while (staged() === 0) await writer.run(() => {});
  expect([staged(), tree.isReaping(accountId)]).toEqual([1, false]);
  await copying;
});
