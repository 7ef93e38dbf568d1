import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../src/config/load.ts";
import { changeSettings } from "../../../src/features/accounts/users/settings.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { openServices, type Services } from "../../../src/server/composition/services.ts";
import { timetable } from "../../../src/server/composition/timetable.ts";
import { blobOf, GivenClock } from "../tree/support.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

let directory: string;
let services: Services;
let clock: GivenClock;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "larder-timetable-"));
  clock = new GivenClock();
  const loaded = loadConfig({ flags: { data: join(directory, "data") }, environment: {} });
  services = await openServices(loaded, silentLog, clock);
});
afterEach(async () => {
  await services.close();
  rmSync(directory, { recursive: true });
});

/** Runs a job to its end. @returns its result text */
async function run(name: string): Promise<string> {
  const job = timetable(services).find((entry) => entry.name === name);
  if (job === undefined) throw new Error(`There is no job named ${name}.`);
  const { signal } = new AbortController();
  return job.run({ signal, cursor: null, setCursor: async () => {}, arguments: undefined });
}

/** A new account with a file of `count` versions, each a second newer than the one before. */
async function accountWithVersions(email: string, count: number) {
  const { users, writer, treeWriter } = services;
  const { id } = await users.add({ email, name: "A", password: "correct horse battery", plan: "free", role: "user" });
  const content = (index: number) => ({ blob: blobOf(`${email} ${index}`), mediaType: "text/plain", createdBy: id });
  const file = await writer.run(
    (tx) =>
      treeWriter.createFile(tx, {
        ...content(0),
        accountId: id,
        folderPath: "/",
        name: "a",
        tags: [],
        metadata: {},
        isPublic: false,
        onConflict: "error",
        quotaBytes: null,
      }).file,
  );
  for (let index = 1; index <= count; index++) {
    clock.advance(1000);
    await writer.run((tx) => treeWriter.replaceContent(tx, { ...content(index), file, quotaBytes: null }));
  }
  const versions = () =>
    services.db.sqlite
      .query<{ version: number }, [number]>("SELECT version FROM versions WHERE node_id = ? ORDER BY version")
      .all(file.id)
      .map((row) => row.version);
  return { id, versions };
}

test("old-versions retains as many versions as each account's settings allow", async () => {
  // Once the setting was stored and shown, but every account kept ten versions.
  const few = await accountWithVersions("few@example.com", 12);
  const preset = await accountWithVersions("preset@example.com", 12);
  const many = await accountWithVersions("many@example.com", 12);
  await services.users.changeSettings(few.id, (json) => changeSettings(json, { versioning: { keep: 2 } }));
  await services.users.changeSettings(many.id, (json) => changeSettings(json, { versioning: { keep: 50 } }));
  expect(await run("old-versions")).toStartWith("0 ");
  clock.advance(31 * DAY_MS);
  expect(await run("old-versions")).toStartWith("12 ");
  expect(few.versions()).toEqual([11, 12]);
  expect(preset.versions()).toHaveLength(10);
  expect(many.versions()).toHaveLength(12);
});

test("every job has a unique name and is in the list", () => {
  const names = timetable(services).map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.slice(0, 3)).toEqual(["gc", "snapshot", "leftovers"]);
  expect(names.at(-1)).toBe("recount");
});
