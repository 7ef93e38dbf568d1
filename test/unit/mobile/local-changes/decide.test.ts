import { describe, expect, test } from "bun:test";
import { type Digest, toDigest } from "../../../../src/blobs/digest.ts";
import { AppError } from "../../../../src/errors.ts";
import {
  type Decision,
  decide,
  type KnownFile,
  type ServerState,
} from "../../../../src/features/mobile/local-changes/decide.ts";
import type { LocalChange } from "../../../../src/features/mobile/mass-change/types.ts";
import { say } from "../../../../src/translations/say.ts";

const [A, B, C] = ["a", "b", "c"].map((digit) => toDigest(digit.repeat(64))) as [Digest, Digest, Digest];
const EMPTY = toDigest(new Bun.CryptoHasher("sha256").digest("hex"));

/** The files of the account: one with content A, last changed at 10, and another one. */
const file: KnownFile = { id: 1, publicId: "file_1", name: "a.txt", folder: "/", digest: A, sizeBytes: 3, seq: 10 };
const other: KnownFile = { ...file, id: 2, publicId: "file_2", name: "b.txt", digest: B };

interface StateOptions {
  hasContent?: boolean;
  isDamaged?: boolean;
  wasDeleted?: boolean;
  isChanged?: boolean;
  hasFolder?: boolean;
  sizeMax?: number;
  free?: number;
}

function serverState(options: StateOptions): ServerState {
  const files = [file, other];
  return {
    findFile: (id) => files.find(({ publicId }) => publicId === id),
    wasFile: (id) => id === "file_gone",
    findFileNamed: (folder, name) => files.find((one) => one.folder === folder && one.name === name),
    hasFolder: () => options.hasFolder ?? false,
    findFileWithContent: () => (options.hasContent === true ? "file_9" : undefined),
    isDamaged: () => options.isDamaged ?? false,
    wasDeleted: () => options.wasDeleted ?? false,
    isChangedByOthers: (known, since) => known.seq > since && (options.isChanged ?? false),
    rejectionOf: (size, isNew) => {
      if (size > (options.sizeMax ?? 100)) return new AppError("file_too_large", say``);
      return isNew && size > (options.free ?? 100) ? new AppError("quota_exceeded", say``) : undefined;
    },
  };
}

/** A decision as a short text. */
function describeDecision(decision: Decision): string {
  switch (decision.do) {
    case "nothing":
      return `${decision.status} ${decision.fileId}`;
    case "request_content":
      return `request_content ${decision.fileId ?? "new"}`;
    case "create":
      return `create ${decision.folder} ${decision.name}`;
    case "move":
      return `move ${decision.file.publicId} ${decision.folder} ${decision.name}`;
    case "replace":
    case "delete":
      return `${decision.do} ${decision.file.publicId}`;
    case "conflict":
      return `conflict ${decision.type} ${decision.fileId} ${decision.remoteFileId}`;
    case "reject":
      return `reject ${decision.error.reason}`;
  }
}

type Case = readonly [what: string, change: Partial<LocalChange>, options: StateOptions, decision: string];

const upload: Partial<LocalChange> = { action: "upload", name: "new.txt", digest: C, sizeBytes: 3 };
const update: Partial<LocalChange> = { action: "update", fileId: "file_1", digest: C, sizeBytes: 3 };
const rename: Partial<LocalChange> = { action: "rename", fileId: "file_1", name: "c.txt" };
const move: Partial<LocalChange> = { action: "move", fileId: "file_1", folder: "/x" };
const deletion: Partial<LocalChange> = { action: "delete", fileId: "file_1" };

const cases: Record<string, readonly Case[]> = {
  upload: [
    ["new content", upload, {}, "request_content new"],
    ["no checksum", { ...upload, digest: undefined }, {}, "request_content new"],
    ["the same file exists", { ...upload, name: "a.txt", digest: A }, {}, "already_stored file_1"],
    [
      "the same file exists, the quota is used up",
      { ...upload, name: "a.txt", digest: A },
      { free: 0 },
      "already_stored file_1",
    ],
    ["another file has the content", { ...upload, digest: A }, { hasContent: true }, "create / new.txt"],
    [
      "another file has the content, upload to a folder",
      { ...upload, digest: A, folder: "/x" },
      { hasContent: true },
      "create /x new.txt",
    ],
    ["the name is taken", { ...upload, name: "a.txt" }, {}, "conflict name file_1 file_1"],
    [
      "the name is taken, another file has the content",
      { ...upload, name: "a.txt", digest: B },
      { hasContent: true },
      "conflict name file_1 file_1",
    ],
    ["the name is taken, sent by a backup", { ...upload, name: "a.txt", isAutomatic: true }, {}, "request_content new"],
    [
      "the name is taken, sent by a backup, another file has the content",
      { ...upload, name: "a.txt", isAutomatic: true },
      { hasContent: true },
      "already_stored file_9",
    ],
    [
      "the name is taken, sent by a backup, deleted",
      { ...upload, name: "a.txt", isAutomatic: true },
      { wasDeleted: true },
      "reject deleted_by_you",
    ],
    ["a folder has the name", upload, { hasFolder: true }, "reject name_taken"],
    [
      "the name is that of the given file",
      { ...upload, name: "a.txt", fileId: "file_1" },
      {},
      "request_content file_1",
    ],
    ["based on the current content", { ...upload, name: "a.txt", baseDigest: A }, {}, "request_content file_1"],
    [
      "based on the current content, another file has the content",
      { ...upload, name: "a.txt", baseDigest: A },
      { hasContent: true },
      "replace file_1",
    ],
    ["based on other content", { ...upload, name: "a.txt", baseDigest: B }, {}, "conflict modified file_1 file_1"],
    [
      "based on other content, with the id of another file",
      { ...upload, name: "a.txt", baseDigest: B, fileId: "file_2" },
      {},
      "conflict name file_1 file_1",
    ],
    [
      "the same file is damaged",
      { ...upload, name: "a.txt", digest: A },
      { isDamaged: true },
      "request_content file_1",
    ],
    ["no name", { ...upload, name: undefined }, {}, "reject invalid_field"],
    ["deleted, sent by a backup", { ...upload, isAutomatic: true }, { wasDeleted: true }, "reject deleted_by_you"],
    ["deleted, sent by a person", upload, { wasDeleted: true }, "request_content new"],
    [
      "deleted, but another file has the content",
      { ...upload, isAutomatic: true },
      { wasDeleted: true, hasContent: true },
      "already_stored file_9",
    ],
    ["too large", upload, { sizeMax: 2 }, "reject file_too_large"],
    ["quota exceeded", upload, { free: 2 }, "reject quota_exceeded"],
  ],
  update: [
    [
      "equal content, changed by others",
      { ...update, digest: A, baseDigest: B },
      { isChanged: true },
      "already_stored file_1",
    ],
    ["equal content, damaged", { ...update, digest: A }, { isDamaged: true }, "request_content file_1"],
    ["based on the current content", { ...update, baseDigest: A }, {}, "request_content file_1"],
    [
      "based on the current content, another file has the new content",
      { ...update, baseDigest: A },
      { hasContent: true },
      "replace file_1",
    ],
    ["based on other content", { ...update, baseDigest: B }, { hasContent: true }, "conflict modified file_1 file_1"],
    [
      "the base decides, not the journal",
      { ...update, baseDigest: A, sinceSeq: 5 },
      { isChanged: true },
      "request_content file_1",
    ],
    ["no base, changed by others", { ...update, sinceSeq: 5 }, { isChanged: true }, "conflict modified file_1 file_1"],
    ["no base, changed by the device", { ...update, sinceSeq: 5 }, {}, "request_content file_1"],
    [
      "no base, the device has seen the change",
      { ...update, sinceSeq: 10 },
      { isChanged: true },
      "request_content file_1",
    ],
    ["neither base nor token", update, { isChanged: true }, "request_content file_1"],
    ["deleted", { ...update, fileId: "file_gone" }, {}, "conflict deleted file_gone file_gone"],
    ["never existed", { ...update, fileId: "file_none" }, {}, "reject not_found"],
    ["no file id", { ...update, fileId: undefined }, {}, "reject invalid_field"],
    [
      "zero bytes",
      { ...update, baseDigest: A, sizeBytes: 0, digest: EMPTY },
      { hasContent: true },
      "conflict modified file_1 file_1",
    ],
    [
      "zero bytes, only the size given",
      { ...update, baseDigest: A, sizeBytes: 0, digest: undefined },
      {},
      "conflict modified file_1 file_1",
    ],
    [
      "zero bytes, only the digest given",
      { ...update, baseDigest: A, sizeBytes: undefined, digest: EMPTY },
      {},
      "conflict modified file_1 file_1",
    ],
    ["too large", { ...update, baseDigest: A }, { sizeMax: 2 }, "reject file_too_large"],
    ["quota exceeded", { ...update, baseDigest: A }, { free: 2 }, "reject quota_exceeded"],
  ],
  rename: [
    ["free", rename, {}, "move file_1 / c.txt"],
    ["has the name already", { ...rename, name: "a.txt", baseDigest: B }, { isChanged: true }, "applied file_1"],
    ["taken", { ...rename, name: "b.txt" }, {}, "conflict name file_1 file_2"],
    ["taken by a folder", rename, { hasFolder: true }, "reject name_taken"],
    ["based on other content", { ...rename, baseDigest: B }, {}, "conflict modified file_1 file_1"],
    ["changed by others", { ...rename, sinceSeq: 5 }, { isChanged: true }, "conflict modified file_1 file_1"],
    ["deleted", { ...rename, fileId: "file_gone" }, {}, "conflict deleted file_gone file_gone"],
    ["never existed", { ...rename, fileId: "file_none" }, {}, "reject not_found"],
    ["no name", { ...rename, name: undefined }, {}, "reject invalid_field"],
  ],
  move: [
    ["free", move, {}, "move file_1 /x a.txt"],
    ["a name is ignored", { ...move, name: "z.txt" }, {}, "move file_1 /x a.txt"],
    ["is in the folder already", { ...move, folder: "/" }, {}, "applied file_1"],
    ["changed by others", { ...move, sinceSeq: 5 }, { isChanged: true }, "conflict modified file_1 file_1"],
    ["deleted", { ...move, fileId: "file_gone" }, {}, "conflict deleted file_gone file_gone"],
    ["no folder", { ...move, folder: undefined }, {}, "reject invalid_field"],
  ],
  delete: [
    ["exists", deletion, {}, "delete file_1"],
    ["based on the current content", { ...deletion, baseDigest: A }, {}, "delete file_1"],
    ["based on other content", { ...deletion, baseDigest: B }, {}, "conflict modified file_1 file_1"],
    ["changed by others", { ...deletion, sinceSeq: 5 }, { isChanged: true }, "conflict modified file_1 file_1"],
    ["deleted", { ...deletion, fileId: "file_gone" }, {}, "applied file_gone"],
    ["never existed", { ...deletion, fileId: "file_none" }, {}, "reject not_found"],
    ["no file id", { ...deletion, fileId: undefined }, {}, "reject invalid_field"],
  ],
};

for (const [action, ofAction] of Object.entries(cases)) {
  describe(action, () => {
    for (const [what, change, options, decision] of ofAction) {
      test(`${what}: ${decision}`, () => {
        expect(describeDecision(decide({ action: "upload", localId: "l", ...change }, serverState(options)))).toBe(
          decision,
        );
      });
    }
  });
}
