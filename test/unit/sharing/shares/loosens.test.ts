import { expect, test } from "bun:test";
import { loosens } from "../../../../src/features/sharing/shares/loosens.ts";
import type { Share } from "../../../../src/features/sharing/shares/types.ts";

const link: Share = {
  id: 1,
  publicId: "shr_1",
  accountId: 1,
  nodeId: 1,
  albumId: null,
  kind: "link",
  nonce: new Uint8Array(),
  createdAtMs: 0,
  label: null,
  expiresAtMs: 1000,
  passwordHash: "hash",
  grantEpoch: 1,
  maxDownloads: 10,
  downloads: 0,
  views: 0,
  lastAccessedAtMs: null,
  downloadedAtMs: null,
  pinnedVersion: null,
  hidesLocation: false,
  maxUploadBytes: 10,
  maxUploadsPerAddress: null,
  uploads: 0,
  uploadedBytes: 0,
  canWrite: false,
  showsVersions: null,
  recipientEmailKey: null,
  recipientId: null,
  groupId: null,
  recipientPublicId: null,
  recipientName: null,
};

/** A share before and after a change. */
const changes: Record<"stays or tightens" | "loosens", [string, Partial<Share>, Partial<Share>][]> = {
  "stays or tightens": [
    ["nothing", {}, {}],
    ["label", {}, { label: "For Ada" }],
    ["earlier expiry", {}, { expiresAtMs: 999 }],
    ["first expiry", { expiresAtMs: null }, { expiresAtMs: 1000 }],
    ["fewer downloads", {}, { maxDownloads: 9 }],
    ["first limit of downloads", { maxDownloads: null }, { maxDownloads: 10 }],
    ["fewer bytes", {}, { maxUploadBytes: 9 }],
    ["first limit of bytes", { maxUploadBytes: null }, { maxUploadBytes: 10 }],
    ["fewer uploads", {}, { maxUploadsPerAddress: 19 }],
    ["the default of uploads, by its number", {}, { maxUploadsPerAddress: 20 }],
    ["the default of uploads, from more", { maxUploadsPerAddress: 21 }, { maxUploadsPerAddress: null }],
    ["no location", {}, { hidesLocation: true }],
    ["pinned", {}, { pinnedVersion: 3 }],
    ["pinned as before", { pinnedVersion: 3 }, { pinnedVersion: 3 }],
    ["no writing", { canWrite: true }, { canWrite: false }],
    ["no versions", { showsVersions: true }, { showsVersions: false }],
    ["versions as far as it lets write", { canWrite: true }, { showsVersions: true }],
  ],
  loosens: [
    ["later expiry", {}, { expiresAtMs: 1001 }],
    ["no expiry", {}, { expiresAtMs: null }],
    ["more downloads", {}, { maxDownloads: 11 }],
    ["no limit of downloads", {}, { maxDownloads: null }],
    ["more bytes", {}, { maxUploadBytes: 11 }],
    ["no limit of bytes", {}, { maxUploadBytes: null }],
    ["more uploads", {}, { maxUploadsPerAddress: 21 }],
    ["the default of uploads, from fewer", { maxUploadsPerAddress: 5 }, { maxUploadsPerAddress: null }],
    ["location", { hidesLocation: true }, { hidesLocation: false }],
    ["not pinned", { pinnedVersion: 3 }, { pinnedVersion: null }],
    ["pinned to another content", { pinnedVersion: 3 }, { pinnedVersion: 4 }],
    ["writing", {}, { canWrite: true }],
    ["versions", {}, { showsVersions: true }],
    ["versions, of one that lets write", { canWrite: true, showsVersions: false }, { showsVersions: true }],
    ["one of two", {}, { expiresAtMs: 999, maxDownloads: 11 }],
  ],
};

for (const [effect, cases] of Object.entries(changes)) {
  test.each(cases)(`${effect}: %s`, (_what, given, changed) => {
    const before = { ...link, ...given };
    expect(loosens(before, { ...before, ...changed }, undefined)).toBe(effect === "loosens");
  });
}

test.each([
  ["none, as before", null, null, false],
  ["a first one", null, "pass word", false],
  ["another one", "hash", "pass word", false],
  ["the one there is", "hash", undefined, false],
  ["none any more", "hash", null, true],
])("password: %s", (_what, passwordHash, password, isLooser) => {
  const before = { ...link, passwordHash };
  expect(loosens(before, before, password)).toBe(isLooser);
});
