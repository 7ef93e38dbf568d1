import { describe, expect, test } from "bun:test";
import type { ShareRecord } from "../../../src/client/api/types.ts";
import { toShareBody, toDraft, EMPTY_DRAFT, findProblems } from "../../../src/client/entries/sharing/draft.ts";

const SHARE: ShareRecord = {
  id: "shr_1",
  kind: "link",
  permissions: "read",
  url: "https://larder.example/s/x",
  token: "x",
  label: null,
  expiresAt: null,
  hasPassword: false,
  maxDownloads: null,
  downloads: 0,
  views: 0,
  lastAccessedAt: null,
  createdAt: "2026-01-01T00:00:00.000Z",
  pinned: false,
  pinnedVersion: null,
  hideLocation: false,
  maxUploadBytes: null,
  maxUploadsPerAddress: null,
  uploads: 0,
  uploadedBytes: 0,
  user: null,
  person: null,
  group: null,
  versions: null,
  file: { id: "file_1", name: "a.txt", type: "file" },
};

describe("the form of a share", () => {
  test("sends the settings of a link, and nothing that its kind does not have", () => {
    expect(toShareBody(EMPTY_DRAFT, "file")).toEqual({ maxDownloads: null, hideLocation: false, pinned: false });
    expect(toShareBody(EMPTY_DRAFT, "folder")).toEqual({ maxDownloads: null, hideLocation: false });
    expect(
      toShareBody({ ...EMPTY_DRAFT, expiry: "7", hasPassword: true, password: "sesame", label: " Ana " }, "folder"),
    ).toEqual({
      label: "Ana",
      expiresIn: "7d",
      password: "sesame",
      maxDownloads: null,
      hideLocation: false,
    });
    const forDropBox = { ...EMPTY_DRAFT, kind: "upload", limitsUploads: true, uploadMegabytes: "1.5" } as const;
    const dropBox = { permissions: "upload", maxUploadBytes: 1_572_864, maxUploadsPerAddress: 20 } as const;
    expect(toShareBody(forDropBox, "folder")).toEqual(dropBox);
    expect(toShareBody({ ...forDropBox, uploadsPerAddress: "200" }, "folder")).toEqual({
      ...dropBox,
      maxUploadsPerAddress: 200,
    });
    const forPerson = { ...EMPTY_DRAFT, kind: "account", typed: " ana@example.org ", canWrite: true } as const;
    expect(toShareBody({ ...forPerson, hasPassword: true, password: "left over" }, "file")).toEqual({
      users: ["ana@example.org"],
      groups: [],
      permissions: "write",
      versions: false,
    });
    const given: ShareRecord = {
      ...SHARE,
      kind: "account",
      permissions: "read",
      user: "ana@example.org",
      versions: true,
    };
    expect(toShareBody(toDraft(given), "file", given)).toMatchObject({ permissions: "read", versions: true });
  });

  test("keeps unchanged settings of a share, and clears removed ones", () => {
    const share = {
      ...SHARE,
      label: "Before",
      hasPassword: true,
      maxDownloads: 3,
      expiresAt: "2030-01-01T00:00:00.000Z",
    };
    const draft = toDraft(share);
    expect(toShareBody(draft, "file", share)).toEqual({
      label: "Before",
      maxDownloads: 3,
      hideLocation: false,
    });
    const cleared = { ...draft, label: " ", hasPassword: false, limitsDownloads: false, expiry: "never" } as const;
    expect(toShareBody(cleared, "file", share)).toEqual({
      label: null,
      password: null,
      maxDownloads: null,
      expiresAt: null,
      hideLocation: false,
    });
  });

  // Sending `pinned` again for a pinned link would pin the current version.
  test("does not send an unchanged pinned version, because the server would pin the current one", () => {
    const share = { ...SHARE, pinned: true, pinnedVersion: 2 };
    expect(toShareBody({ ...toDraft(share), label: "After" }, "file", share)).not.toContainKey("pinned");
    expect(toShareBody({ ...toDraft(share), isPinned: false }, "file", share)).toMatchObject({ pinned: false });
    expect(toShareBody({ ...toDraft(SHARE), isPinned: true }, "file", SHARE)).toMatchObject({ pinned: true });
  });

  test.each([
    [{ kind: "account" }, "recipients"],
    [{ expiry: "date" }, "date"],
    [{ expiry: "date", date: "2001-01-01T00:00" }, "date"],
    [{ hasPassword: true, password: "abc" }, "password"],
    [{ limitsDownloads: true, downloads: "0" }, "downloads"],
    [{ limitsDownloads: true, downloads: "many" }, "downloads"],
    [{ kind: "upload", limitsUploads: true, uploadMegabytes: "-1" }, "uploadMegabytes"],
    // As JSON they would be null, which means no limit.
    [{ kind: "upload", limitsUploads: true, uploadMegabytes: "1e400" }, "uploadMegabytes"],
    [{ kind: "upload", limitsUploads: true, uploadMegabytes: "1e-9" }, "uploadMegabytes"],
  ] as const)("says what is wrong with %p", (change, field) => {
    expect(Object.keys(findProblems({ ...EMPTY_DRAFT, ...change }))).toEqual([field]);
  });

  test("accepts an unchanged password", () => {
    const share = { ...SHARE, hasPassword: true };
    expect(findProblems(toDraft(share), share)).toEqual({});
    expect(findProblems(EMPTY_DRAFT)).toEqual({});
  });
});
