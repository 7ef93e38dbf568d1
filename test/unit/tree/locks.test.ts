/** Write locks: what each of them prevents, and when they end. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { AppError } from "../../../src/errors.ts";
import type { Lock, LockRequest, TreeNode } from "../../../src/tree/model/types.ts";
import { LOCKS_MAX } from "../../../src/tree/tables/locks.ts";
import { blobOf, TestTree } from "./support.ts";

const HOUR_MS = 3_600_000;

let tree: TestTree;
let accountId: number;
beforeEach(() => {
  tree = new TestTree();
  accountId = tree.addAccount();
});
afterEach(() => tree.close());

function lock(node: TreeNode, changes: Partial<LockRequest> = {}): Lock {
  const request = { createdBy: accountId, program: null, ownerXml: null, isExclusive: true, isDeep: false };
  return tree.run(() => tree.write.locks.add(node, { ...request, durationMs: HOUR_MS, ...changes }));
}

function folderAt(path: string) {
  const folder = tree.read.findFolderByPath(accountId, path);
  if (folder === undefined) throw new Error(`no folder ${path}`);
  return folder;
}

function fileAt(folder: string, name: string) {
  const file = tree.read.findFileNamed(accountId, folder, name);
  if (file === undefined) throw new Error(`no file ${name}`);
  return file;
}

/** The error of a change that a lock rejects; undefined if the change succeeds. */
function rejection(change: () => unknown): AppError | undefined {
  try {
    change();
    return undefined;
  } catch (error) {
    if (error instanceof AppError && error.reason === "locked") return error;
    throw error;
  }
}

/** Every kind of change, in a tree with `/f/a.txt`, `/f/sub/b.txt`, `/o.txt` and `/other`. */
const CHANGES = {
  "new content of a.txt": () =>
    tree.run((tx) =>
      tree.write.replaceContent(tx, {
        file: fileAt("/f", "a.txt"),
        blob: blobOf("new"),
        mediaType: "text/plain",
        createdBy: accountId,
        quotaBytes: null,
      }),
    ),
  "a version of a.txt by its name": () => tree.addFile(accountId, "/f", "a.txt", { onConflict: "version" }),
  "tags of a.txt": () => tree.run((tx) => tree.write.updateFile(tx, fileAt("/f", "a.txt"), { tags: ["t"] })),
  "publishing a.txt": () => tree.run((tx) => tree.write.updateFile(tx, fileAt("/f", "a.txt"), { isPublic: true })),
  "properties of a.txt": () =>
    tree.run((tx) =>
      tree.write.changeProperties(tx, fileAt("/f", "a.txt"), [{ namespace: "urn:x", name: "p", value: "1" }]),
    ),
  "renaming a.txt": () => tree.run((tx) => tree.write.updateFile(tx, fileAt("/f", "a.txt"), { name: "c" })),
  "moving a.txt away": () => tree.run((tx) => tree.write.move(tx, fileAt("/f", "a.txt"), "/other")),
  "deleting a.txt": () => tree.run((tx) => tree.write.deleteFile(tx, fileAt("/f", "a.txt"))),
  "trashing a.txt": () => tree.run((tx) => tree.write.trash(tx, fileAt("/f", "a.txt"))),
  "description of /f": () =>
    tree.run((tx) => tree.write.updateFolder(tx, folderAt("/f"), { metadata: { description: "d" } })),
  "renaming /f": () => tree.run((tx) => tree.write.updateFolder(tx, folderAt("/f"), { name: "g" })),
  "moving /f": () => tree.run((tx) => tree.write.move(tx, folderAt("/f"), "/other")),
  "deleting /f": () => tree.run((tx) => tree.write.deleteFolder(tx, folderAt("/f"))),
  "trashing /f": () => tree.run((tx) => tree.write.trash(tx, folderAt("/f"))),
  "a new file in /f": () => tree.addFile(accountId, "/f", "new.txt"),
  "a new folder in /f": () => tree.addFolder(accountId, "/f", "new"),
  "moving into /f": () => tree.run((tx) => tree.write.move(tx, fileAt("/", "o.txt"), "/f")),
  "a copy in /f": () => tree.run((tx) => tree.write.copy(tx, fileAt("/", "o.txt"), "/f", COPY)),
  "a copy of a folder in /f": () => tree.run((tx) => tree.write.copy(tx, folderAt("/other"), "/f", COPY)),
  "a copy of /f elsewhere": () => tree.run((tx) => tree.write.copy(tx, folderAt("/f"), "/other", COPY)),
  "new content of b.txt": () => tree.addFile(accountId, "/f/sub", "b.txt", { onConflict: "version" }),
  "a new file in /f/sub": () => tree.addFile(accountId, "/f/sub", "new.txt"),
  "deleting b.txt": () => tree.run((tx) => tree.write.deleteFile(tx, fileAt("/f/sub", "b.txt"))),
  "a new folder at the top": () => tree.addFolder(accountId, "/", "top"),
} satisfies Record<string, () => unknown>;

type Change = keyof typeof CHANGES;

const COPY = { onConflict: "rename", preserveMetadata: false, createdBy: 0, quotaBytes: null } as const;

const STATE_OF_A: Change[] = [
  "new content of a.txt",
  "a version of a.txt by its name",
  "tags of a.txt",
  "properties of a.txt",
  "publishing a.txt",
];
const LOCATION_OF_A: Change[] = ["renaming a.txt", "moving a.txt away", "deleting a.txt", "trashing a.txt"];
const LOCATION_OF_F: Change[] = ["renaming /f", "moving /f", "deleting /f", "trashing /f"];
const MEMBERS_OF_F: Change[] = [
  "a new file in /f",
  "a new folder in /f",
  "moving into /f",
  "a copy in /f",
  "a copy of a folder in /f",
];
const BELOW_SUB: Change[] = ["new content of b.txt", "a new file in /f/sub", "deleting b.txt"];

describe("a lock prevents exactly what it covers", () => {
  const cases: [string, () => Lock, Change[]][] = [
    ["of a file", () => lock(fileAt("/f", "a.txt")), [...STATE_OF_A, ...LOCATION_OF_A, ...LOCATION_OF_F]],
    [
      "of a file further down",
      () => lock(fileAt("/f/sub", "b.txt")),
      ["new content of b.txt", "deleting b.txt", ...LOCATION_OF_F],
    ],
    [
      "of a folder alone",
      () => lock(folderAt("/f")),
      [...LOCATION_OF_A, "description of /f", ...LOCATION_OF_F, ...MEMBERS_OF_F],
    ],
    [
      "of a folder with all below it",
      () => lock(folderAt("/f"), { isDeep: true }),
      [...STATE_OF_A, ...LOCATION_OF_A, "description of /f", ...LOCATION_OF_F, ...MEMBERS_OF_F, ...BELOW_SUB],
    ],
    ["of the root", () => lock(folderAt("/")), [...LOCATION_OF_F, "moving into /f", "a new folder at the top"]],
  ];
  for (const [which, make, prevented] of cases) {
    test(`the lock ${which}, until its token is named`, () => {
      for (const change of Object.keys(CHANGES) as Change[]) {
        tree.close();
        tree = new TestTree();
        accountId = tree.addAccount();
        tree.addFile(accountId, "/f", "a.txt");
        tree.addFile(accountId, "/f/sub", "b.txt");
        tree.addFile(accountId, "/", "o.txt");
        tree.addFolder(accountId, "/", "other");
        const { token } = make();
        const before = tree.read.headOf(accountId);
        const error = rejection(CHANGES[change]);
        expect([change, error !== undefined]).toEqual([change, prevented.includes(change)]);
        if (error === undefined) continue;
        expect(tree.read.headOf(accountId)).toBe(before);
        const other = tree.write.withLockTokens(["urn:uuid:other"], () => rejection(CHANGES[change]));
        expect([change, other?.reason]).toEqual([change, "locked"]);
        expect(tree.write.withLockTokens([token], () => rejection(CHANGES[change]))).toBeUndefined();
      }
    });
  }
});

test("a rejection names the locked item that it found, and when the lock ends", () => {
  const file = tree.addFile(accountId, "/f/sub", "b.txt");
  lock(folderAt("/f"), { isDeep: true });
  const expiresAt = new Date(tree.clock.nowMs() + HOUR_MS).toISOString();
  const change = () => tree.run((tx) => tree.write.updateFile(tx, file, { tags: ["t"] }));
  expect(rejection(change)?.details).toEqual({ nodeId: file.publicId, expiresAt });
  expect(rejection(() => tree.run((tx) => tree.write.deleteFolder(tx, folderAt("/f"))))?.details).toEqual({
    nodeId: folderAt("/f").publicId,
    expiresAt,
  });
});

test("an expired lock prevents nothing and is listed nowhere", () => {
  const file = tree.addFile(accountId, "/", "a.txt");
  const { token } = lock(file, { durationMs: 1000 });
  tree.clock.advance(999);
  tree.run(() => tree.write.locks.extend(token, 1000));
  tree.clock.advance(999);
  expect(rejection(() => tree.run((tx) => tree.write.deleteFile(tx, file)))).toBeDefined();
  tree.clock.advance(1);
  expect([tree.read.locks.find(token), tree.read.locks.list(accountId)]).toEqual([undefined, []]);
  expect(tree.read.locks.on([file]).size).toBe(0);
  expect(tree.run(() => tree.write.locks.sweep(10))).toBe(1);
  tree.run((tx) => tree.write.deleteFile(tx, file));
});

test("a lock ends when its item is moved, renamed, trashed or deleted, or a folder above it is", () => {
  const leave: ((file: ReturnType<typeof fileAt>) => unknown)[] = [
    (file) => tree.run((tx) => tree.write.move(tx, file, "/other")),
    (file) => tree.run((tx) => tree.write.updateFile(tx, file, { name: "z" })),
    (file) => tree.run((tx) => tree.write.trash(tx, file)),
    (file) => tree.run((tx) => tree.write.deleteFile(tx, file)),
    () => tree.run((tx) => tree.write.updateFolder(tx, folderAt("/f"), { name: "g" })),
    () => tree.run((tx) => tree.write.trash(tx, folderAt("/g"))),
  ];
  for (const [index, change] of leave.entries()) {
    const file = tree.addFile(accountId, index === 5 ? "/g/sub" : "/f/sub", `${index}.txt`);
    const { token } = lock(file);
    tree.write.withLockTokens([token], () => change(file));
    expect([index, tree.read.locks.find(token)]).toEqual([index, undefined]);
  }
  const stays = tree.addFile(accountId, "/h", "stays.txt");
  const { token } = lock(stays);
  tree.write.withLockTokens([token], () => tree.addFile(accountId, "/h", "stays.txt", { onConflict: "version" }));
  expect(tree.read.locks.find(token)).toMatchObject({ nodeId: stays.id });
});

test("shared locks go with each other and not with exclusive ones; the token of one is enough", () => {
  const file = tree.addFile(accountId, "/f", "a.txt");
  const one = lock(file, { isExclusive: false });
  const two = lock(file, { isExclusive: false });
  expect(rejection(() => lock(file))).toBeDefined();
  expect(rejection(() => lock(folderAt("/f"), { isDeep: true }))?.details["nodeId"]).toBe(file.publicId);
  lock(folderAt("/f"), { isDeep: true, isExclusive: false });
  expect(tree.read.locks.on([file]).get(file.id)).toHaveLength(3);
  expect(rejection(() => tree.run((tx) => tree.write.updateFile(tx, file, { tags: ["t"] })))).toBeDefined();
  for (const { token } of [one, two])
    tree.write.withLockTokens([token], () =>
      tree.run((tx) => tree.write.updateFile(tx, file, { tags: [token.slice(-4)] })),
    );
});

test("a lock conflicts with deep locks above it and, if it is deep, with locks below it", () => {
  const file = tree.addFile(accountId, "/f/sub", "b.txt");
  const deep = lock(folderAt("/f"), { isDeep: true });
  expect(rejection(() => lock(file))?.details["nodeId"]).toBe(file.publicId);
  tree.run(() => tree.write.locks.end(deep.token));
  lock(folderAt("/f"));
  lock(file);
  expect(rejection(() => lock(folderAt("/f/sub"), { isDeep: true }))?.details["nodeId"]).toBe(file.publicId);
  lock(folderAt("/f/sub"));
  expect(tree.read.locks.list(accountId)).toHaveLength(3);
});

test("locks in a folder are found for all its members at once", () => {
  const [a, b] = [tree.addFile(accountId, "/f", "a"), tree.addFile(accountId, "/f", "b")];
  const other = tree.addFile(accountId, "/other", "c");
  const deep = lock(folderAt("/f"), { isDeep: true, isExclusive: false });
  const own = lock(b, { isExclusive: false });
  const found = tree.read.locks.on([folderAt("/"), folderAt("/f"), a, b, other]);
  expect([...found].map(([id, locks]) => [id, locks.map(({ token }) => token)])).toEqual([
    [folderAt("/f").id, [deep.token]],
    [a.id, [deep.token]],
    [b.id, [own.token, deep.token]],
  ]);
});

test("the root can't be locked with everything, and an account has a bounded number of locks", () => {
  expect(() => lock(folderAt("/"), { isDeep: true })).toThrow("You can't lock all files");
  const file = tree.addFile(accountId, "/", "a.txt");
  for (let count = 0; count < LOCKS_MAX; count++) lock(file, { isExclusive: false });
  expect(() => lock(file, { isExclusive: false })).toThrow("at most 1000 locks");
});

test("a lock never keeps a file public", () => {
  const file = tree.addFile(accountId, "/", "a.txt", { isPublic: true });
  lock(file);
  tree.run((tx) => tree.write.updateFile(tx, file, { isPublic: false }));
  expect(fileAt("/", "a.txt").isPublic).toBe(false);
});

test("a large copy needs the token of a locked destination", async () => {
  tree.addFile(accountId, "/from", "a.txt");
  const destination = tree.addFolder(accountId, "/", "to");
  const { token } = lock(destination);
  const options = { ...COPY, createdBy: accountId };
  const copying = tree.write.copyLarge(tree.writer, folderAt("/from"), "/to", options);
  expect(await copying.catch((error: unknown) => error)).toMatchObject({ reason: "locked" });
  await tree.write.copyLarge(tree.writer, folderAt("/from"), "/to", { ...options, lockTokens: [token] });
  expect(fileAt("/to/from", "a.txt")).toBeDefined();
});

test("an erased account has no locks, neither in its tree nor elsewhere", () => {
  const other = tree.addAccount();
  const mine = tree.addFile(accountId, "/", "a.txt");
  const theirs = tree.addFile(other, "/", "b.txt");
  lock(mine, { createdBy: other });
  const byMe = lock(theirs, { createdBy: accountId });
  tree.run((tx) => tree.write.detachRoot(tx, accountId));
  expect([tree.read.locks.list(accountId), tree.read.locks.find(byMe.token)]).toEqual([[], undefined]);
});
