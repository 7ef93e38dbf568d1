// The administration describes jobs and the audit log in words.
import { join } from "node:path";
import { Glob } from "bun";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { setTranslation } from "../../../src/client/base/text.ts";
import { describeResult } from "../../../src/client/features/admin/sections/job-results.ts";
import { ACTION_GROUPS, describeEntry } from "../../../src/client/features/admin/sections/audit-text.ts";
import {
  type EditableSetting,
  formatInUnit,
  nameOfUnit,
  numberOf,
  toDraft,
} from "../../../src/client/features/admin/settings/draft.ts";
import type { AuditEntry } from "../../../src/client/features/admin/types.ts";
import { AUDIT_ACTIONS } from "../../../src/features/accounts/routing/audit-rule.ts";

const ROOT = join(import.meta.dir, "../../..");

const before = Reflect.getOwnPropertyDescriptor(globalThis, "document");
beforeAll(() => {
  const value = { documentElement: { lang: "en" }, querySelector: () => ({ dataset: { basePath: "/" } }) };
  Object.defineProperty(globalThis, "document", { value, configurable: true });
});
afterAll(() => {
  if (before === undefined) Reflect.deleteProperty(globalThis, "document");
  else Object.defineProperty(globalThis, "document", before);
});

/** An entry of the log with these parts. */
function entry(parts: Partial<AuditEntry>): AuditEntry {
  const anna = { id: "usr_1", email: "anna@example.org" };
  const base = {
    id: "1",
    at: "2026-01-01T00:00:00Z",
    user: anna,
    account: anna,
    outcome: "done",
    times: 1,
    details: {},
  };
  const rest = { target: null, reason: null, userAgent: null, clientAddress: null, via: { kind: "web", name: null } };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a test needs only what it describes
  return { ...base, ...rest, ...parts } as AuditEntry;
}

const nameOf = (person: AuditEntry["user"]) => (person === null ? undefined : "Anna");

describe("jobs", () => {
  test.each([
    ["snapshot", "larder-2026-11-24T21-07-29-217Z-scheduled.db, 1.4 MB", "Snapshot of 1.4 MB saved."],
    ["scrub", "318 blobs read, 7.4 MB; 0 new findings", "318 files checked (7.4 MB), no damage found."],
    ["scrub", "1 blobs read, 7 bytes; 0 new findings", "1 file checked (7 bytes), no damage found."],
    ["scrub", "3 blobs read, 7.4 MB; 2 new findings", "3 files checked (7.4 MB), 2 new problems."],
    [
      "scrub",
      "9 blobs read, 1 KB; 0 new findings; the next run continues",
      "9 files checked (1 KB), no damage found, the next run continues.",
    ],
    ["scrub", "turned off (scrub.rate)", "Turned off (scrub.rate)."],
    ["mail", "0 emails dropped or removed, 1 password reset links removed", "1 password reset link removed."],
    [
      "recount",
      "2 counters differ, 0 sort keys corrected; see the log",
      "2 wrong counts corrected, details are in the server log.",
    ],
    ["recount", "0 counters differ, 0 sort keys corrected; see the log", "Nothing to do."],
    ["blob-places", '{"moved":1,"movedBytes":2048,"failed":2,"removed":0}', "1 file moved (2 KB), 2 failed."],
    ["blob-places", "waits: The bucket does not respond.", "Waiting: The bucket does not respond."],
    ["daily-sample", "7 files, 1.5 MB in the store", "7 files (1.5 MB)."],
    [
      "thumbnails",
      "3 files with new thumbnails; waiting for free disk space",
      "3 files with new thumbnails, waiting for free disk space.",
    ],
    ["thumbnails", "the image library is not available", "The image library is not available."],
    ["new-job", "3 pigeons released", "3 pigeons released."],
    ["journal", "7 steps", "Done."],
    ["leftovers", "0 blobs moved to quarantine", "Nothing to do."],
    ["gc", '{"setAside":0,"removed":2,"freedBytes":1024}', "Removed 2 unused files, 1 KB freed."],
  ])("the result of %s is %p in words", (job, result, words) => {
    expect(describeResult(job, result)).toBe(words);
  });
});

/** Phrases of results that have a sentence as a whole. */
const IN_SENTENCES = ["blobs read", "new findings", "steps", "files", "in the store"];

test("the result of each job has words", async () => {
  const phrases = new Set<string>();
  const jobs = await Array.fromAsync(new Glob("src/features/*/jobs.ts").scan(ROOT));
  const services = ["storage/remote-store/service", "mobile/offline-queue/service", "media/thumbnails/backfill"].map(
    (name) => `src/features/${name}.ts`,
  );
  for (const path of [...jobs, ...services]) {
    const source = await Bun.file(join(ROOT, path)).text();
    for (const [, phrase = ""] of source.matchAll(/\} ([a-z][a-z -]*[a-z])(?=[,`"])/g)) phrases.add(phrase);
  }
  expect(phrases.size).toBeGreaterThan(25);
  // "4 files" in German would still be English with the phrase of the server.
  setTranslation({ default: {}, transform: (words) => `[${words}]` });
  try {
    for (const phrase of IN_SENTENCES) phrases.delete(phrase);
    expect([...phrases].filter((phrase) => !describeResult("any", `4 ${phrase}`).startsWith("[[4 "))).toEqual([]);
  } finally {
    setTranslation({ default: {} });
  }
});

describe("the audit log", () => {
  test("says which job ran, who was invited, and what was imported", () => {
    const ran = entry({ action: "job.run", target: { type: "job", id: "gc" } });
    expect(describeEntry(ran, nameOf)).toBe("Anna ran the job “Free disk space”");
    const invited = entry({ action: "invite.create", details: { role: "user", email: "oma@example.org" } });
    expect(describeEntry(invited, nameOf)).toBe("Anna invited oma@example.org");
    expect(describeEntry(entry({ action: "invite.create", details: {} }), nameOf)).toBe("Anna invited someone");
    const details = { folder: "/Photos", files: 39, bytes: 100 };
    const imported = entry({ action: "transfer.import", user: null, details });
    expect(describeEntry(imported, nameOf)).toBe("39 files were imported for Anna");
  });

  test.each([
    [{ "trash.keep": "30d → 64d" }, "Anna changed “Keep items in trash”: 30 days → 64 days"],
    [{ defaultPlan: "free → enterprise" }, "Anna changed “Plan of new accounts”: Free → Complete"],
    [{ signup: "invite → open" }, "Anna changed “Who can sign up”: Only invited people → Everyone"],
    [{ "plans.free.quota": "5GB → none" }, "Anna changed “Storage quota (Free)”: 5GB → no limit"],
    [{ "plans.pro.limit.uploads": "10 → 20" }, "Anna changed “Uploads (Pro)”: 10 → 20"],
    [{ signup: "a → b", "mail.host": "a → b" }, "Anna changed “Who can sign up” and “Mail server”"],
    [{ signup: "", "mail.host": "", "mail.port": "", "mail.user": "" }, "Anna changed 4 settings"],
  ])("names the changed settings: %p", (details, words) => {
    expect(describeEntry(entry({ action: "settings.change", details }), nameOf)).toBe(words);
  });

  test("each action has words, and can be found by one of the groups of the filter", () => {
    for (const action of AUDIT_ACTIONS) {
      expect(describeEntry(entry({ action }), nameOf)).not.toContain(action);
      expect(ACTION_GROUPS).toContain(action.split(".")[0] ?? "");
    }
  });
});

test("the units of settings are in the language of the page", () => {
  const units = () => (["megabyte", "gigabyte", "day"] as const).map((name) => nameOfUnit({ name, factor: 1 }));
  expect(units()).toEqual(["MB", "GB", "days"]);
  document.documentElement.lang = "fr";
  expect(units()).toEqual(["Mo", "Go", "jours"]);
  document.documentElement.lang = "en";
});

// "1,000" became 1 GB without a word, and defaults had units in English: "20 gigabyte".
test("the numbers of settings are read and written as in the language of the page", () => {
  const quota = { key: "plans.free.quota", unit: "bytes", value: 1.5 * 1024 ** 3 };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a test needs only what it describes
  const setting = quota as EditableSetting;
  const read = (typed: string) => numberOf(setting, { typed, isNone: false, isReset: false });
  const typed = ["1.5", "1,5", "1.000", "1,000", "1.000,5", ""];
  const sizes = () => typed.map(read).map((bytes) => bytes && bytes / 1024 ** 3);
  const day = { name: "day", factor: 1000 } as const;
  expect(toDraft(setting).typed).toBe("1.5");
  expect(sizes()).toEqual([1.5, 1.5, 1, undefined, undefined, undefined]);
  expect([formatInUnit(1000, day), formatInUnit(30_000, day)]).toEqual(["1 day", "30 days"]);
  document.documentElement.lang = "de";
  expect(toDraft(setting).typed).toBe("1,5");
  expect(sizes()).toEqual([1.5, 1.5, undefined, 1, undefined, undefined]);
  expect([formatInUnit(1000, day), formatInUnit(1234, undefined)]).toEqual(["1 Tag", "1.234"]);
  document.documentElement.lang = "en";
});
