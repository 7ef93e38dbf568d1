import { describe, expect, test } from "bun:test";
import { toDigest } from "../../../../src/blobs/digest.ts";
import { planNode } from "../../../../src/features/mobile/rewind/plan.ts";
import type { UndoEntry } from "../../../../src/features/mobile/rewind/types.ts";
import { type FormerLocation, fingerprint, type Labels, type UndoDetail } from "../../../../src/tree/tables/undo.ts";
import type { FileNode } from "../../../../src/tree/model/types.ts";

const NO_LABELS: Labels = { tags: [], metadata: {}, isPublic: false };
const labelled = (...tags: string[]): Labels => ({ ...NO_LABELS, tags });

/** The current state of a file in the folder 1 at /f. */
function fileNow(name: string, version: number, labels: Labels = NO_LABELS): FileNode {
  return {
    kind: "file",
    id: 7,
    publicId: "file_7",
    accountId: 1,
    parentId: 1,
    name,
    folder: "/f",
    createdAtMs: 0,
    modifiedAtMs: 0,
    contentAtMs: 0,
    contentDeviceId: null,
    sizeBytes: 1,
    mediaType: "text/plain",
    blobId: 1,
    digest: toDigest("0".repeat(64)),
    version,
    originalName: name,
    fileModifiedAt: null,
    capturedAt: null,
    fileAtMs: 0,
    seq: 0,
    ...labels,
  };
}

let seq = 0;
function entry(what: UndoEntry["what"], detail: UndoDetail): UndoEntry {
  return { seq: ++seq, nodeId: 7, publicId: "file_7", isFolder: false, what, isRewound: false, ...detail };
}

const at = (name: string): FormerLocation => ({ parentId: 1, name, folder: "/f" });
const created = (name: string) =>
  entry("create", { placeTo: { parentId: 1, name }, labelsTo: fingerprint(NO_LABELS), contentTo: 1 });
const renamed = (from: string, to: string) =>
  entry("change", { placeFrom: at(from), placeTo: { parentId: 1, name: to } });
const tagged = (from: Labels, to: Labels) => entry("change", { labelsFrom: from, labelsTo: fingerprint(to) });
const replaced = (from: number) => entry("content", { contentFrom: from, contentTo: from + 1 });
const deleted = (name: string, version: number, labels = NO_LABELS) =>
  entry("delete", {
    placeFrom: at(name),
    labelsFrom: labels,
    contentFrom: version,
    file: { createdAtMs: 0, originalName: null, fileModifiedAt: null, capturedAt: null, contents: [] },
  });

describe("a file that the device created", () => {
  test("is removed, also after further changes by the device", () => {
    const entries = [created("a"), renamed("a", "b"), replaced(1), tagged(NO_LABELS, labelled("x"))];
    expect(planNode(entries, fileNow("b", 2, labelled("x")))).toEqual({ kind: "remove" });
  });

  test("stays if someone else changed it", () => {
    const others = [fileNow("b", 1), fileNow("a", 2), fileNow("a", 1, labelled("x"))];
    for (const current of others) {
      expect(planNode([created("a")], current)).toEqual({ kind: "skip", reason: "changed_by_others" });
    }
  });

  test("needs no undo if the device or someone else deleted it", () => {
    expect(planNode([created("a"), deleted("a", 1)], undefined)).toEqual({ kind: "nothing" });
    expect(planNode([created("a")], undefined)).toEqual({ kind: "nothing" });
  });

  test("is restored with the edit if someone else edited it before the device deleted it", () => {
    expect(planNode([created("a"), deleted("a", 2)], undefined)).toMatchObject({ kind: "restore", version: 2 });
  });
});

describe("a file that existed before", () => {
  test("gets its state before the first change, for each aspect separately", () => {
    const entries = [renamed("a", "b"), replaced(3), renamed("b", "c"), replaced(4), tagged(labelled("x"), NO_LABELS)];
    expect(planNode(entries, fileNow("c", 5))).toEqual({
      kind: "change",
      location: at("a"),
      version: 3,
      labels: labelled("x"),
      isPartial: false,
    });
  });

  test("keeps changes by others, later or in between", () => {
    const skip = { kind: "skip", reason: "changed_by_others" } as const;
    expect(planNode([replaced(1)], fileNow("a", 3))).toEqual(skip);
    expect(planNode([replaced(1), replaced(3)], fileNow("a", 4))).toEqual(skip);
    expect(planNode([renamed("a", "b"), renamed("x", "c")], fileNow("c", 1))).toEqual(skip);
    expect(planNode([renamed("a", "b"), replaced(1)], fileNow("mine", 2))).toEqual({
      kind: "change",
      version: 1,
      isPartial: true,
    });
  });

  test("stays unchanged if it has its former state", () => {
    expect(planNode([renamed("a", "b"), renamed("b", "a")], fileNow("a", 1))).toEqual({ kind: "nothing" });
  });

  test("gets its date back, also with a content", () => {
    const dated = (dateFrom: string | null, dateTo: string | null) => entry("change", { dateFrom, dateTo });
    const now = { ...fileNow("a", 1), fileModifiedAt: "new" };
    const change = { kind: "change", isPartial: false } as const;
    expect(planNode([dated("old", "newer"), dated("newer", "new")], now)).toEqual({ ...change, fileModifiedAt: "old" });
    expect(planNode([dated(null, "new")], now)).toEqual({ ...change, fileModifiedAt: null });
    expect(planNode([dated("new", "x"), dated("x", "new")], now)).toEqual({ kind: "nothing" });
    expect(planNode([dated("old", "x")], now)).toEqual({ kind: "skip", reason: "changed_by_others" });
    const content = { ...replaced(1), dateFrom: "new", dateTo: "new" };
    expect(planNode([content], { ...now, version: 2 })).toEqual({ ...change, version: 1, fileModifiedAt: "new" });
    const gone = deleted("a", 1);
    const deletion = { ...gone, ...(gone.file && { file: { ...gone.file, fileModifiedAt: "x" } }) };
    expect(planNode([dated(null, "x"), deletion], undefined)).toMatchObject({ kind: "restore", fileModifiedAt: null });
  });

  test("stays deleted if someone else deleted it", () => {
    expect(planNode([replaced(1)], undefined)).toEqual({ kind: "skip", reason: "deleted_by_others" });
  });

  test("is restored in its former state if the device changed and deleted it", () => {
    const entries = [replaced(1), renamed("a", "a.locked"), tagged(labelled("x"), NO_LABELS), deleted("a.locked", 2)];
    const plan = planNode(entries, undefined);
    expect(plan).toMatchObject({ kind: "restore", location: at("a"), labels: labelled("x"), version: 1 });
  });

  test("keeps the aspects that others changed before the device deleted it", () => {
    const plan = planNode([replaced(1), renamed("a", "b"), deleted("b", 3)], undefined);
    expect(plan).toMatchObject({ kind: "restore", location: at("a"), version: 3 });
  });

  test("is followed under its new id if a rewind created it again", () => {
    const restored = entry("restore", {
      restored: { nodeId: 8, publicId: "file_8" },
      placeTo: { parentId: 1, name: "a" },
      labelsTo: fingerprint(NO_LABELS),
      contentTo: 2,
    });
    const entries = [replaced(1), deleted("a", 2), restored];
    expect(planNode(entries, fileNow("a", 2))).toEqual({ kind: "change", version: 1, isPartial: false });
    expect(planNode(entries, fileNow("a", 3))).toEqual({ kind: "skip", reason: "changed_by_others" });
  });
});

test("the fingerprint of labels ignores the order of keys, and is empty without labels", () => {
  const one = fingerprint({ tags: ["a"], metadata: { x: "1", y: "2" }, isPublic: true });
  expect(fingerprint({ tags: ["a"], metadata: { y: "2", x: "1" }, isPublic: true })).toBe(one);
  expect(fingerprint({ tags: ["a"], metadata: { y: "2", x: "1" }, isPublic: false })).not.toBe(one);
  expect(fingerprint(NO_LABELS)).toBe("");
});
