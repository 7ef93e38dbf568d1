/** Imports on the page: the archives by their names, and the list of what was not imported. */
import { expect, test } from "bun:test";
import { progressOf } from "../../../src/client/entries/imports/states.ts";
import { isArchive, isTakeout, missingParts } from "../../../src/client/features/settings/imports/archives.ts";
import { toCsv } from "../../../src/client/features/settings/imports/problem-file.ts";

test("archives of Google Takeout are recognized by their names", () => {
  const names = ["takeout-20260101T000000Z-001.zip", "Takeout-20260101T000000Z-2-001.TGZ", "takeout-1.tar.gz"];
  for (const name of names) expect(isTakeout(name)).toBe(true);
  for (const name of ["takeout-notes.txt", "my takeout.zip"]) expect(isTakeout(name)).toBe(false);
  expect(isArchive("my takeout.zip")).toBe(true);
});

test("parts that are missing are named, for each export", () => {
  expect(missingParts(["takeout-20260101T000000Z-001.zip", "takeout-20260101T000000Z-002 (1).zip"])).toEqual([]);
  expect(missingParts(["takeout-a-001.zip", "takeout-a-004.zip", "takeout-b-002.tgz", "other.zip"])).toEqual([
    "takeout-a-002.zip",
    "takeout-a-003.zip",
    "takeout-b-001.tgz",
  ]);
  expect(missingParts(["takeout-a-999999999.zip"])).toHaveLength(20);
});

test("the list is a table in which no name is a formula", () => {
  const problems = [
    { name: 'say "hi", twice.jpg', reason: "unreadable", message: "Damaged.\nDownload it again." },
    { name: "=1+1.jpg", reason: "from_a_newer_server", message: "" },
  ];
  expect(toCsv(problems)).toBe(
    '"Name","Reason","Message"\r\n' +
      '"say ""hi"", twice.jpg","Can’t be read","Damaged.\nDownload it again."\r\n' +
      '"\'=1+1.jpg","from_a_newer_server",""\r\n',
  );
});

test("the progress is that of the bytes, else that of the files, and unknown at first", () => {
  const counts = { found: 0, total: null, foundBytes: 0, totalBytes: null };
  const run = { state: "running", ...counts } as Parameters<typeof progressOf>[0];
  expect(progressOf(run)).toBeUndefined();
  expect(progressOf({ ...run, found: 1, total: 4 })).toBe(0.25);
  expect(progressOf({ ...run, found: 1, total: 4, foundBytes: 3, totalBytes: 4 })).toBe(0.75);
  expect(progressOf({ ...run, state: "completed", total: 0 })).toBe(1);
});
