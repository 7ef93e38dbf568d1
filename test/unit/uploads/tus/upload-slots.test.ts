import { expect, test } from "bun:test";
import { pickEvictable } from "../../../../src/features/uploads/tus/upload-slots.ts";
import type { TusUpload } from "../../../../src/features/uploads/tus/types.ts";
import { SESSION_MS } from "../../../../src/features/uploads/chunked/store.ts";
import { NO_DEVICE } from "../../../../src/features/uploads/chunked/types.ts";

const MINUTE = 60_000;
const nowMs = Date.UTC(2026, 0, 1);

/** An upload that was created, or received its last bytes, this long ago. */
function upload(id: number, idleMs: number, offsetBytes: number): TusUpload {
  return {
    upload: {
      id,
      publicId: `tus_${id}`,
      sessionId: id,
      accountId: 1,
      deviceId: NO_DEVICE,
      localId: "shr_box 203.0.113.1",
      name: "file",
      folderPath: "/box",
      mediaType: undefined,
      digest: undefined,
      status: "uploading",
      sizeBytes: 9,
      chunkSizeBytes: 0,
      totalChunks: 0,
      reservedBytes: 0,
      onConflict: "rename",
      targetId: undefined,
      baseDigest: undefined,
      nonce: new Uint8Array(16),
      isAutomatic: false,
      expiresAtMs: nowMs - idleMs + SESSION_MS,
      fileId: undefined,
    },
    senderId: undefined,
    shareId: "shr_box",
    kind: "whole",
    parts: [],
    offsetBytes,
    lengthBytes: 9,
    metadata: "",
  };
}

const firstOf = (...uploads: TusUpload[]) => pickEvictable(uploads, nowMs, 5 * MINUTE)?.upload.id;

test("none is evicted if all were just created or received bytes recently", () => {
  expect(firstOf()).toBeUndefined();
  expect(firstOf(upload(1, MINUTE - 1, 0), upload(2, 5 * MINUTE - 1, 1))).toBeUndefined();
});

test("the one idle longest is evicted, in any order of creation", () => {
  expect(firstOf(upload(1, 6 * MINUTE, 1), upload(2, 7 * MINUTE, 8), upload(3, 5 * MINUTE, 1))).toBe(2);
  expect(firstOf(upload(1, MINUTE, 0), upload(2, 2 * MINUTE, 0))).toBe(2);
});

test("one without bytes is evicted before those with bytes, which would be lost", () => {
  expect(firstOf(upload(1, 60 * MINUTE, 1), upload(2, MINUTE, 0))).toBe(2);
  expect(firstOf(upload(1, 60 * MINUTE, 1), upload(2, MINUTE - 1, 0))).toBe(1);
});

test("with bytes protected, only those without bytes are evicted", () => {
  const stored = upload(1, 20 * 60 * MINUTE, 1);
  expect(pickEvictable([stored], nowMs, Number.POSITIVE_INFINITY)).toBeUndefined();
  expect(pickEvictable([stored, upload(2, MINUTE, 0)], nowMs, Number.POSITIVE_INFINITY)?.upload.id).toBe(2);
});
