import { expect, test } from "bun:test";
import { PasswordGrants } from "../../../../src/features/sharing/shares/password-grants.ts";
import type { Share } from "../../../../src/features/sharing/shares/types.ts";

const share: Share = {
  id: 1,
  publicId: "shr_1",
  accountId: 1,
  nodeId: 1,
  albumId: null,
  kind: "link",
  nonce: new Uint8Array(32),
  createdAtMs: 0,
  label: null,
  showsVersions: null,
  expiresAtMs: null,
  passwordHash: "x",
  grantEpoch: 0,
  maxDownloads: null,
  downloads: 0,
  views: 0,
  lastAccessedAtMs: null,
  downloadedAtMs: null,
  pinnedVersion: null,
  hidesLocation: false,
  maxUploadBytes: null,
  maxUploadsPerAddress: null,
  uploads: 0,
  uploadedBytes: 0,
  canWrite: false,
  recipientEmailKey: null,
  recipientId: null,
  groupId: null,
  recipientPublicId: null,
  recipientName: null,
};
const grants = new PasswordGrants(new Uint8Array(32).fill(1));
const NOW = 1_800_000_000_000;

test("a grant is valid for an hour, but not after the share expires", () => {
  const { grant, expiresAtMs } = grants.issue(share, NOW);
  expect(expiresAtMs).toBe(NOW + 3_600_000);
  expect(grants.isValid(share, grant, NOW)).toBe(true);
  expect(grants.isValid(share, grant, NOW + 3_599_999)).toBe(true);
  expect(grants.isValid(share, grant, NOW + 3_600_000)).toBe(false);
  expect(grants.issue({ ...share, expiresAtMs: NOW + 5 }, NOW).expiresAtMs).toBe(NOW + 5);
});

test("it is not valid for another share, after a change of the share, or on another server", () => {
  const { grant } = grants.issue(share, NOW);
  expect(grants.isValid({ ...share, publicId: "shr_2" }, grant, NOW)).toBe(false);
  expect(grants.isValid({ ...share, grantEpoch: 1 }, grant, NOW)).toBe(false);
  expect(new PasswordGrants(new Uint8Array(32).fill(2)).isValid(share, grant, NOW)).toBe(false);
});

test("forged grants are not valid", () => {
  const { grant } = grants.issue(share, NOW);
  const [expiry = "", signature = ""] = grant.split(".");
  const later = (Number.parseInt(expiry, 36) + 1).toString(36);
  for (const forged of [
    undefined,
    "",
    ".",
    expiry,
    signature,
    `${later}.${signature}`,
    `${expiry}.${signature.slice(0, -1)}`,
    `${expiry}.${signature}A`,
    `${expiry}.${"A".repeat(43)}`,
    `zzzzzzzzzzz.${signature}`,
    `-1.${signature}`,
    ` ${grant}`,
  ])
    expect(grants.isValid(share, forged, NOW)).toBe(false);
});
