import { expect, test } from "bun:test";
import { type Digest, toDigest } from "../../../../src/blobs/digest.ts";
import { pairMoves } from "../../../../src/features/mobile/local-changes/pair-moves.ts";
import type { LocalChange } from "../../../../src/features/mobile/mass-change/types.ts";

const [A, B] = ["a", "b"].map((digit) => toDigest(digit.repeat(64))) as [Digest, Digest];
const digests: Record<string, Digest> = { file_1: A, file_2: A, file_3: B };

function pair(changes: (LocalChange | undefined)[], stored: readonly string[] = []) {
  return pairMoves(changes, {
    digestOf: (fileId) => digests[fileId],
    isStoredElsewhere: ({ localId }) => stored.includes(localId),
  });
}

const upload = (localId: string, digest: Digest | undefined): LocalChange => ({ action: "upload", localId, digest });
const remove = (fileId: string): LocalChange => ({ action: "delete", localId: fileId, fileId });

test("a deletion and an upload of the same content are one move, in either order", () => {
  expect(pair([remove("file_1"), upload("u", A)])).toEqual([{ kind: "move", upload: 1, deletion: 0 }]);
  expect(pair([upload("u", A), remove("file_1")])).toEqual([{ kind: "move", upload: 0, deletion: 1 }]);
});

test("other changes keep their order", () => {
  expect(pair([upload("x", B), remove("file_1"), remove("file_3"), upload("u", A)])).toEqual([
    { kind: "move", upload: 0, deletion: 2 },
    { kind: "move", upload: 3, deletion: 1 },
  ]);
  expect(pair([remove("file_1"), upload("x", undefined), upload("u", A)])).toEqual([
    { kind: "move", upload: 2, deletion: 0 },
    { kind: "single", index: 1 },
  ]);
});

test("each deletion and upload belongs to at most one move", () => {
  expect(pair([upload("u", A), upload("v", A), remove("file_1")])).toEqual([
    { kind: "move", upload: 0, deletion: 2 },
    { kind: "single", index: 1 },
  ]);
  expect(pair([remove("file_1"), remove("file_2"), upload("u", A)])).toEqual([
    { kind: "move", upload: 2, deletion: 0 },
    { kind: "single", index: 1 },
  ]);
});

test("a file that is stored at the path already is not moved there", () => {
  const apart = [
    { kind: "single", index: 0 },
    { kind: "single", index: 1 },
  ];
  expect(pair([upload("u", A), remove("file_1")], ["u"])).toEqual(apart as ReturnType<typeof pair>);
});

test("unknown files, other content and invalid changes stay single", () => {
  expect(pair([remove("file_none"), upload("u", A), remove("file_3"), undefined])).toEqual(
    [0, 1, 2, 3].map((index) => ({ kind: "single" as const, index })),
  );
});
