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

const [A, B, C] = ["a", "b", "c"].map((digit) => toDigest(digit.repeat(64))) as [Digest, Digest, Digest];
const EMPTY = toDigest(new Bun.CryptoHasher("sha256").digest("hex"));

/** What the account holds in all cases: one file of content A, last changed at 10. */
const file: KnownFile = { id: 1, publicId: "file_1", name: "a.txt", folder: "/", digest: A, sizeBytes: 3, seq: 10 };
const other: KnownFile = { ...file, id: 2, publicId: "file_2", name: "b.txt", digest: B };

interface Facts {
  isHeld?: boolean;
  isDamaged?: boolean;
  wasDeleted?: boolean;
  isChanged?: boolean;
  hasFolder?: boolean;
  sizeMax?: number;
  free?: number;
}

function serverState(facts: Facts): ServerState {
  const files = [file, other];
  return {
    findFile: (id) => files.find(({ publicId }) => publicId === id),
    wasFile: (id) => id === "file_gone",
    findFileNamed: (folder, name) => files.find((one) => one.folder === folder && one.name === name),
    hasFolder: () => facts.hasFolder ?? false,
    findFileWithContent: () => (facts.isHeld === true ? "file_9" : undefined),
    isDamaged: () => facts.isDamaged ?? false,
    wasDeleted: () => facts.wasDeleted ?? false,
    isChangedByOthers: (known, since) => known.seq > since && (facts.isChanged ?? false),
    rejectionOf: (size, isNew) => {
      if (size > (facts.sizeMax ?? 100)) return new AppError("file_too_large", "");
      return isNew && size > (facts.free ?? 100) ? new AppError("quota_exceeded", "") : undefined;
    },
  };
}

/** A decision in a few words. */
function say(decision: Decision): string {
  switch (decision.do) {
    case "nothing":
      return `${decision.status} ${decision.fileId}`;
    case "request_content":
      return `ask ${decision.fileId ?? "anew"}`;
    case "create":
      return `create ${decision.folder} ${decision.name}`;
    case "move":
      return `place ${decision.file.publicId} ${decision.folder} ${decision.name}`;
    case "replace":
    case "delete":
      return `${decision.do} ${decision.file.publicId}`;
    case "conflict":
      return `conflict ${decision.type} ${decision.fileId} ${decision.remoteFileId}`;
    case "reject":
      return `reject ${decision.error.reason}`;
  }
}

type Case = readonly [what: string, change: Partial<LocalChange>, facts: Facts, decision: string];

const upload: Partial<LocalChange> = { action: "upload", name: "new.txt", digest: C, sizeBytes: 3 };
const update: Partial<LocalChange> = { action: "update", fileId: "file_1", digest: C, sizeBytes: 3 };
const rename: Partial<LocalChange> = { action: "rename", fileId: "file_1", name: "c.txt" };
const move: Partial<LocalChange> = { action: "move", fileId: "file_1", folder: "/x" };
const deletion: Partial<LocalChange> = { action: "delete", fileId: "file_1" };

const cases: Record<string, readonly Case[]> = {
  upload: [
    ["new content", upload, {}, "ask anew"],
    ["no checksum", { ...upload, digest: undefined }, {}, "ask anew"],
    ["that very file is there", { ...upload, name: "a.txt", digest: A }, {}, "already_stored file_1"],
    [
      "that very file is there, the account full",
      { ...upload, name: "a.txt", digest: A },
      { free: 0 },
      "already_stored file_1",
    ],
    ["the content is elsewhere", { ...upload, digest: A }, { isHeld: true }, "create / new.txt"],
    [
      "the content is elsewhere, in a folder",
      { ...upload, digest: A, folder: "/x" },
      { isHeld: true },
      "create /x new.txt",
    ],
    ["the name is another's", { ...upload, name: "a.txt" }, {}, "conflict name file_1 file_1"],
    [
      "the name is another's, the content elsewhere",
      { ...upload, name: "a.txt", digest: B },
      { isHeld: true },
      "conflict name file_1 file_1",
    ],
    ["the name is another's, offered by a backup", { ...upload, name: "a.txt", isAutomatic: true }, {}, "ask anew"],
    [
      "so, and the content elsewhere",
      { ...upload, name: "a.txt", isAutomatic: true },
      { isHeld: true },
      "already_stored file_9",
    ],
    ["so, and deleted", { ...upload, name: "a.txt", isAutomatic: true }, { wasDeleted: true }, "reject deleted_by_you"],
    ["the name is a folder's", upload, { hasFolder: true }, "reject name_taken"],
    ["the name is the file's that it knows", { ...upload, name: "a.txt", fileId: "file_1" }, {}, "ask file_1"],
    ["it came from what is there", { ...upload, name: "a.txt", baseDigest: A }, {}, "ask file_1"],
    ["so, and held", { ...upload, name: "a.txt", baseDigest: A }, { isHeld: true }, "replace file_1"],
    ["it came from another", { ...upload, name: "a.txt", baseDigest: B }, {}, "conflict modified file_1 file_1"],
    [
      "it came from another, and of another file",
      { ...upload, name: "a.txt", baseDigest: B, fileId: "file_2" },
      {},
      "conflict name file_1 file_1",
    ],
    ["that very file is damaged", { ...upload, name: "a.txt", digest: A }, { isDamaged: true }, "ask file_1"],
    ["no name", { ...upload, name: undefined }, {}, "reject invalid_field"],
    ["deleted, offered by a backup", { ...upload, isAutomatic: true }, { wasDeleted: true }, "reject deleted_by_you"],
    ["deleted, offered by a person", upload, { wasDeleted: true }, "ask anew"],
    [
      "deleted once, held again",
      { ...upload, isAutomatic: true },
      { wasDeleted: true, isHeld: true },
      "already_stored file_9",
    ],
    ["too large", upload, { sizeMax: 2 }, "reject file_too_large"],
    ["no room", upload, { free: 2 }, "reject quota_exceeded"],
  ],
  update: [
    [
      "equal bytes, whatever others did",
      { ...update, digest: A, baseDigest: B },
      { isChanged: true },
      "already_stored file_1",
    ],
    ["equal bytes, damaged", { ...update, digest: A }, { isDamaged: true }, "ask file_1"],
    ["from the present content", { ...update, baseDigest: A }, {}, "ask file_1"],
    ["from the present content, held", { ...update, baseDigest: A }, { isHeld: true }, "replace file_1"],
    ["from another content", { ...update, baseDigest: B }, { isHeld: true }, "conflict modified file_1 file_1"],
    ["the base decides, not the journal", { ...update, baseDigest: A, sinceSeq: 5 }, { isChanged: true }, "ask file_1"],
    ["no base, changed by others", { ...update, sinceSeq: 5 }, { isChanged: true }, "conflict modified file_1 file_1"],
    ["no base, changed by itself", { ...update, sinceSeq: 5 }, {}, "ask file_1"],
    ["no base, seen", { ...update, sinceSeq: 10 }, { isChanged: true }, "ask file_1"],
    ["neither base nor token", update, { isChanged: true }, "ask file_1"],
    ["gone", { ...update, fileId: "file_gone" }, {}, "conflict deleted file_gone file_gone"],
    ["never there", { ...update, fileId: "file_none" }, {}, "reject not_found"],
    ["no file", { ...update, fileId: undefined }, {}, "reject invalid_field"],
    [
      "zero bytes",
      { ...update, baseDigest: A, sizeBytes: 0, digest: EMPTY },
      { isHeld: true },
      "conflict modified file_1 file_1",
    ],
    [
      "zero bytes by size alone",
      { ...update, baseDigest: A, sizeBytes: 0, digest: undefined },
      {},
      "conflict modified file_1 file_1",
    ],
    [
      "zero bytes by digest alone",
      { ...update, baseDigest: A, sizeBytes: undefined, digest: EMPTY },
      {},
      "conflict modified file_1 file_1",
    ],
    ["too large", { ...update, baseDigest: A }, { sizeMax: 2 }, "reject file_too_large"],
    ["no room", { ...update, baseDigest: A }, { free: 2 }, "reject quota_exceeded"],
  ],
  rename: [
    ["free", rename, {}, "place file_1 / c.txt"],
    ["so already", { ...rename, name: "a.txt", baseDigest: B }, { isChanged: true }, "applied file_1"],
    ["taken", { ...rename, name: "b.txt" }, {}, "conflict name file_1 file_2"],
    ["taken by a folder", rename, { hasFolder: true }, "reject name_taken"],
    ["from another content", { ...rename, baseDigest: B }, {}, "conflict modified file_1 file_1"],
    ["changed by others", { ...rename, sinceSeq: 5 }, { isChanged: true }, "conflict modified file_1 file_1"],
    ["gone", { ...rename, fileId: "file_gone" }, {}, "conflict deleted file_gone file_gone"],
    ["never there", { ...rename, fileId: "file_none" }, {}, "reject not_found"],
    ["no name", { ...rename, name: undefined }, {}, "reject invalid_field"],
  ],
  move: [
    ["free", move, {}, "place file_1 /x a.txt"],
    ["a name along with it says nothing", { ...move, name: "z.txt" }, {}, "place file_1 /x a.txt"],
    ["so already", { ...move, folder: "/" }, {}, "applied file_1"],
    ["changed by others", { ...move, sinceSeq: 5 }, { isChanged: true }, "conflict modified file_1 file_1"],
    ["gone", { ...move, fileId: "file_gone" }, {}, "conflict deleted file_gone file_gone"],
    ["no folder", { ...move, folder: undefined }, {}, "reject invalid_field"],
  ],
  delete: [
    ["there", deletion, {}, "delete file_1"],
    ["from the present content", { ...deletion, baseDigest: A }, {}, "delete file_1"],
    ["from another content", { ...deletion, baseDigest: B }, {}, "conflict modified file_1 file_1"],
    ["changed by others", { ...deletion, sinceSeq: 5 }, { isChanged: true }, "conflict modified file_1 file_1"],
    ["gone", { ...deletion, fileId: "file_gone" }, {}, "applied file_gone"],
    ["never there", { ...deletion, fileId: "file_none" }, {}, "reject not_found"],
    ["no file", { ...deletion, fileId: undefined }, {}, "reject invalid_field"],
  ],
};

for (const [action, ofAction] of Object.entries(cases)) {
  describe(action, () => {
    for (const [what, change, facts, decision] of ofAction) {
      test(`${what}: ${decision}`, () => {
        expect(say(decide({ action: "upload", localId: "l", ...change }, serverState(facts)))).toBe(decision);
      });
    }
  });
}
